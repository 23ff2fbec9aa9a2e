//! From a schema to fields, in the schema's order. References are followed; how many fields that may make is bounded.

use serde_json::Value;

use super::{Choice, Field, FieldKind, Format, Limits};
use crate::domain::{nouns::ordered_json::OrderedJson, wire::patch::tokens};

/// Longer texts get a field of several lines.
const LINE_MAX: u64 = 120;
/// Fields of one form: a schema of a few lines can name itself over and over.
const FIELDS_MAX: usize = 200;

/// The form of a value that fits this schema.
pub fn of(schema: &OrderedJson) -> Field {
    let mut build = Build {
        root: schema,
        left: FIELDS_MAX,
        within: Vec::new(),
    };
    let form = build.field("", schema, true);
    let titled = schema.get("title").is_some();
    Field {
        title: if titled { form.title } else { "Answer".into() },
        ..form
    }
}

/// The form of a gate that offers choices.
pub fn choices(all: &[Value]) -> Field {
    let choice = |value: &Value| Choice {
        title: shown(value),
        value: value.clone(),
    };
    let kind = FieldKind::Choice(all.iter().map(choice).collect());
    let choose = plain("choice", "Choose", kind);
    plain("", "Answer", FieldKind::Group(vec![choose]))
}

fn plain(name: &str, title: &str, kind: FieldKind) -> Field {
    Field {
        name: name.into(),
        title: title.into(),
        hint: None,
        required: true,
        nullable: false,
        limits: Limits::default(),
        kind,
        first: None,
    }
}

/// A value as a choice shows it.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

struct Build<'a> {
    root: &'a OrderedJson,
    left: usize,
    /// References that are being followed.
    within: Vec<&'a str>,
}

/// What a schema says about a value.
struct Says {
    kind: FieldKind,
    limits: Limits,
    nullable: bool,
}

impl From<FieldKind> for Says {
    fn from(kind: FieldKind) -> Self {
        Self {
            kind,
            limits: Limits::default(),
            nullable: false,
        }
    }
}

impl<'a> Build<'a> {
    fn field(&mut self, name: &str, schema: &'a OrderedJson, required: bool) -> Field {
        let followed = self.within.len();
        let mut about = vec![schema];
        let says = match self.followed(schema, &mut about) {
            Ok(schema) => self.says(schema, required),
            Err(why) => FieldKind::Json(why).into(),
        };
        self.within.truncate(followed);
        // What stands beside a reference says more than what it names.
        let said = |key: &str| about.iter().find_map(|it| it.get(key));
        let text = |key: &str| said(key).and_then(OrderedJson::text).map(str::to_owned);
        let spoken = || match name {
            "" => "Item".to_owned(),
            name => name.replace('_', " "),
        };
        Field {
            name: name.to_owned(),
            title: text("title").unwrap_or_else(spoken),
            hint: text("description"),
            required,
            nullable: says.nullable,
            limits: says.limits,
            kind: says.kind,
            first: said("default")
                .map(OrderedJson::value)
                .filter(|it| !it.is_null()),
        }
    }

    /// The schema that is meant, and all on the way to it.
    fn followed(
        &mut self,
        mut schema: &'a OrderedJson,
        about: &mut Vec<&'a OrderedJson>,
    ) -> Result<&'a OrderedJson, &'static str> {
        loop {
            let only = schema.get("allOf").map(OrderedJson::items);
            if let Some(reference) = schema.get("$ref").and_then(OrderedJson::text) {
                if !only_describes(schema, "$ref") {
                    return Err(SEVERAL);
                }
                if self.within.contains(&reference) {
                    return Err("it contains itself");
                }
                self.within.push(reference);
                let pointer = reference.strip_prefix('#');
                let path = pointer.and_then(|it| tokens(it).ok());
                let target = path.and_then(|path| self.root.at(&path));
                schema = target.ok_or("it refers to something that is not found")?;
            } else if let Some([one]) = only
                && only_describes(schema, "allOf")
            {
                schema = one;
            } else {
                return Ok(schema);
            }
            about.push(schema);
        }
    }

    fn says(&mut self, schema: &'a OrderedJson, required: bool) -> Says {
        if schema.get("allOf").is_some() {
            return FieldKind::Json(SEVERAL).into();
        }
        if let Some(all) = schema.get("enum") {
            let choice = |it: &OrderedJson| Choice {
                title: shown(&it.value()),
                value: it.value(),
            };
            return FieldKind::Choice(all.items().iter().map(choice).collect()).into();
        }
        if let Some(only) = schema.get("const") {
            return fixed(only.value(), required);
        }
        let several = schema.get("oneOf").or_else(|| schema.get("anyOf"));
        match several.map(OrderedJson::items) {
            Some(forms) if forms.iter().all(only_requires) => {}
            Some(_) if schema.get("properties").is_some() => {
                return FieldKind::Json("it has members and several forms").into();
            }
            Some(forms) => return self.one_of(forms, required),
            None => {}
        }
        self.by_type(schema, required)
    }

    /// One of several forms; the form `null` only says that it may be left empty.
    fn one_of(&mut self, forms: &'a [OrderedJson], required: bool) -> Says {
        let empty = |it: &&OrderedJson| it.get("type").and_then(OrderedJson::text) == Some("null");
        let nullable = forms.iter().any(|it| empty(&it));
        let forms: Vec<_> = forms.iter().filter(|it| !empty(it)).collect();
        if let [one] = forms.as_slice() {
            let Field { kind, limits, .. } = self.field("", one, required);
            return Says {
                kind,
                limits,
                nullable,
            };
        }
        let choices: Option<Vec<_>> = forms.iter().map(|it| titled(it)).collect();
        let kind = match choices {
            Some(choices) => FieldKind::Choice(choices),
            None if forms.len() > self.left => FieldKind::Json(TOO_MANY),
            None => {
                self.left -= forms.len();
                let form = |(n, schema): (usize, &&'a OrderedJson)| {
                    let mut field = self.field("", schema, true);
                    if field.title == "Item" {
                        field.title = called(&field.kind, n);
                    }
                    field
                };
                FieldKind::Either(forms.iter().enumerate().map(form).collect())
            }
        };
        Says {
            nullable,
            ..kind.into()
        }
    }

    fn by_type(&mut self, schema: &'a OrderedJson, required: bool) -> Says {
        let named = schema.get("type");
        let types: Vec<&str> = match named {
            Some(OrderedJson::List(all)) => all.iter().filter_map(OrderedJson::text).collect(),
            Some(one) => one.text().into_iter().collect(),
            None if schema.get("properties").is_some() => vec!["object"],
            None if schema.get("items").is_some() => vec!["array"],
            None => return FieldKind::Json("it may be anything").into(),
        };
        let nullable = types.len() > 1 && types.contains(&"null");
        let types: Vec<_> = types
            .into_iter()
            .filter(|it| !nullable || *it != "null")
            .collect();
        let [one] = types.as_slice() else {
            return FieldKind::Json("it may be of several types").into();
        };
        let (kind, limits) = match *one {
            "string" => text(schema),
            "number" | "integer" => {
                let integer = *one == "integer";
                (FieldKind::Number { integer }, Limits::of_number(schema))
            }
            "boolean" => (FieldKind::Flag, Limits::default()),
            "null" => return fixed(Value::Null, required),
            "object" => (self.group(schema), Limits::default()),
            "array" => (self.list(schema), Limits::of_list(schema)),
            _ => (FieldKind::Json("its type is not known"), Limits::default()),
        };
        Says {
            kind,
            limits,
            nullable,
        }
    }

    fn group(&mut self, schema: &'a OrderedJson) -> FieldKind {
        let members = schema
            .get("properties")
            .map_or(&[][..], OrderedJson::members);
        let required = schema.get("required").map_or(&[][..], OrderedJson::items);
        let required: Vec<_> = required.iter().filter_map(OrderedJson::text).collect();
        let described = |name: &&&str| !members.iter().any(|(it, _)| it == **name);
        let bare: Vec<_> = required.iter().filter(described).collect();
        let count = members.len() + bare.len();
        if count == 0 {
            return FieldKind::Json("its members are not described");
        }
        if count > self.left {
            return FieldKind::Json(TOO_MANY);
        }
        self.left -= count;
        let member = |(name, schema): &'a (String, OrderedJson)| {
            self.field(name, schema, required.contains(&name.as_str()))
        };
        let mut fields: Vec<_> = members.iter().map(member).collect();
        let bare = bare.into_iter().map(|name| {
            let kind = FieldKind::Json("it is not described");
            plain(name, &name.replace('_', " "), kind)
        });
        fields.extend(bare);
        FieldKind::Group(fields)
    }

    fn list(&mut self, schema: &'a OrderedJson) -> FieldKind {
        match schema.get("items") {
            Some(_) if self.left == 0 => FieldKind::Json(TOO_MANY),
            Some(item @ OrderedJson::Object(_)) if schema.get("prefixItems").is_none() => {
                self.left -= 1;
                FieldKind::List(Box::new(self.field("", item, true)))
            }
            _ => FieldKind::Json("its items are not described by one schema"),
        }
    }
}

const TOO_MANY: &str = "it has too many fields for a form";
const SEVERAL: &str = "it combines several schemas";

/// Whether what stands beside this keyword only describes the value, and does not limit it.
fn only_describes(schema: &OrderedJson, but: &str) -> bool {
    const DESCRIBES: &[&str] = &[
        "$schema",
        "$id",
        "$comment",
        "$defs",
        "definitions",
        "title",
        "description",
        "default",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
    ];
    let describes = |(it, _): &(String, _)| it == but || DESCRIBES.contains(&it.as_str());
    schema.members().iter().all(describes)
}

/// A value that is always the same needs no choice; one that may be left out does.
fn fixed(value: Value, required: bool) -> Says {
    match required {
        true => FieldKind::Fixed(value).into(),
        false => {
            let title = shown(&value);
            FieldKind::Choice(vec![Choice { title, value }]).into()
        }
    }
}

/// A form that only says which members there must be: the server checks that.
fn only_requires(form: &OrderedJson) -> bool {
    let names = ["required", "title", "description", "not"];
    let members = form.members();
    !members.is_empty() && members.iter().all(|(it, _)| names.contains(&it.as_str()))
}

/// A form that is a single value.
fn titled(form: &OrderedJson) -> Option<Choice> {
    let value = match (form.get("const"), form.get("enum").map(OrderedJson::items)) {
        (Some(value), _) => value.value(),
        (None, Some([value])) => value.value(),
        _ => return None,
    };
    let title = form.get("title").and_then(OrderedJson::text);
    Some(Choice {
        title: title.map_or_else(|| shown(&value), str::to_owned),
        value,
    })
}

/// What a form without a title is called.
fn called(kind: &FieldKind, n: usize) -> String {
    match kind {
        FieldKind::Group(members) => {
            let mark = members.iter().find_map(|it| match &it.kind {
                FieldKind::Fixed(value) => Some(shown(value)),
                _ => None,
            });
            let names = || members.iter().map(|it| it.title.as_str());
            mark.unwrap_or_else(|| names().collect::<Vec<_>>().join(", "))
        }
        FieldKind::Line(_) | FieldKind::Text => "Text".into(),
        FieldKind::Number { .. } => "Number".into(),
        FieldKind::Flag => "Yes or no".into(),
        FieldKind::List(_) => "List".into(),
        _ => format!("Form {}", n + 1),
    }
}

fn text(schema: &OrderedJson) -> (FieldKind, Limits) {
    let limits = Limits::of_text(schema);
    let kind = match schema.get("format").and_then(OrderedJson::text) {
        Some("email" | "idn-email") => FieldKind::Line(Format::Email),
        Some("date") => FieldKind::Line(Format::Date),
        Some("date-time") => FieldKind::Line(Format::DateTime),
        // Names of other things are short.
        Some(_) => FieldKind::Line(Format::Plain),
        None if limits.most().is_none_or(|n| n > LINE_MAX) => FieldKind::Text,
        None => FieldKind::Line(Format::Plain),
    };
    (kind, limits)
}

#[cfg(test)]
mod tests;
