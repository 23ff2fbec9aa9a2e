//! A form made from a JSON Schema: fields that a person can fill in, and the value that they stand for. The server
//! checks the value by the whole schema; here is only what a form can show.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Longer texts get a field of several lines.
const LINE_MAX: u64 = 120;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// The property; empty if the value has no properties and the field is all of it.
    pub name: String,
    pub title: String,
    pub hint: Option<String>,
    pub required: bool,
    pub kind: FieldKind,
    /// What stands in it at first.
    pub first: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FieldKind {
    Line,
    Text,
    Number {
        integer: bool,
    },
    Flag,
    /// One of these; each is shown as a text and stands for a value.
    OneOf(Vec<Value>),
    /// Anything else: typed as JSON.
    Json,
}

/// What is typed or chosen, by field.
pub type Filled = BTreeMap<String, String>;

/// The fields of a value that fits this schema.
pub fn fields(schema: &Value) -> Vec<Field> {
    let properties = schema["properties"].as_object();
    let object = properties.filter(|it| !it.is_empty());
    let Some(properties) = object else {
        return vec![field("", schema, true)];
    };
    let required = |name: &str| {
        let names = schema["required"].as_array();
        names.is_some_and(|names| names.iter().any(|it| it == name))
    };
    let mut fields: Vec<_> = properties
        .iter()
        .map(|(name, schema)| field(name, schema, required(name)))
        .collect();
    // What must be filled in comes first; the schema's own order is not kept by all parsers.
    fields.sort_by_key(|field| !field.required);
    fields
}

fn field(name: &str, schema: &Value, required: bool) -> Field {
    let text = |key: &str| schema[key].as_str().map(str::to_owned);
    let kind = kind(schema);
    let first = match (&schema["default"], &kind) {
        (Value::Null, FieldKind::Flag) => "false".into(),
        (Value::Null, _) => String::new(),
        (Value::String(text), kind) if *kind != FieldKind::Json => text.clone(),
        (value, _) => value.to_string(),
    };
    let spoken = || match name {
        "" => "Answer".to_owned(),
        name => name.replace('_', " "),
    };
    Field {
        title: text("title").unwrap_or_else(spoken),
        hint: text("description"),
        name: name.to_owned(),
        required,
        kind,
        first,
    }
}

fn kind(schema: &Value) -> FieldKind {
    if let Some(all) = schema["enum"].as_array() {
        return FieldKind::OneOf(all.clone());
    }
    if let Some(one) = schema.get("const") {
        return FieldKind::OneOf(vec![one.clone()]);
    }
    match schema["type"].as_str() {
        Some("string") if schema["maxLength"].as_u64().is_none_or(|n| n > LINE_MAX) => {
            FieldKind::Text
        }
        Some("string") => FieldKind::Line,
        Some("number") => FieldKind::Number { integer: false },
        Some("integer") => FieldKind::Number { integer: true },
        Some("boolean") => FieldKind::Flag,
        _ => FieldKind::Json,
    }
}

/// A value as a choice shows it.
pub fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// The value that the filled-in fields stand for, or the first field that holds none, and why.
pub fn value(fields: &[Field], filled: &Filled) -> Result<Value, (String, String)> {
    let mut map = Map::new();
    for field in fields {
        let text = filled.get(&field.name).unwrap_or(&field.first);
        let value = one(field, text).map_err(|why| (field.name.clone(), why))?;
        match (value, field.name.as_str()) {
            (Some(value), "") => return Ok(value),
            (Some(value), name) => {
                map.insert(name.to_owned(), value);
            }
            (None, "") => return Ok(Value::Null),
            (None, _) => {}
        }
    }
    Ok(Value::Object(map))
}

fn one(field: &Field, text: &str) -> Result<Option<Value>, String> {
    if text.is_empty() && !matches!(field.kind, FieldKind::Flag) {
        return match field.required {
            true => Err(format!("{} is missing", field.title)),
            false => Ok(None),
        };
    }
    let value = match &field.kind {
        FieldKind::Line | FieldKind::Text => Value::from(text),
        FieldKind::Flag => Value::from(text == "true" || text == "on"),
        FieldKind::Number { integer: true } => {
            let n: i64 = text
                .trim()
                .parse()
                .map_err(|_| format!("{} must be a whole number", field.title))?;
            Value::from(n)
        }
        FieldKind::Number { integer: false } => {
            let n: f64 = text
                .trim()
                .parse()
                .map_err(|_| format!("{} must be a number", field.title))?;
            Value::from(n)
        }
        FieldKind::OneOf(all) => all
            .iter()
            .find(|it| shown(it) == text)
            .cloned()
            .ok_or_else(|| format!("{} must be one of those offered", field.title))?,
        FieldKind::Json => super::typed_json::parse(text)
            .map_err(|wrong| format!("{}, line {}: {}", field.title, wrong.line, wrong.what))?,
    };
    Ok(Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_schema_becomes_fields_and_what_is_filled_in_a_value() {
        let schema = json!({
            "type": "object",
            "required": ["choice", "cents"],
            "properties": {
                "choice": { "enum": ["Refund €120.00", "Decline"] },
                "note": { "type": "string", "maxLength": 500 },
                "cents": { "type": "integer", "title": "Amount in cents" },
                "notify": { "type": "boolean", "default": true },
                "lines": { "type": "array" },
            },
        });
        let fields = fields(&schema);
        let required: Vec<_> = fields.iter().map(|it| it.required).collect();
        assert_eq!(required, [true, true, false, false, false]);
        let mut filled = Filled::new();
        assert_eq!(
            value(&fields, &filled).unwrap_err().1,
            "Amount in cents is missing"
        );
        filled.insert("cents".into(), "12000".into());
        filled.insert("choice".into(), "Refund €120.00".into());
        filled.insert("lines".into(), "[1, 2]".into());
        let made = value(&fields, &filled).unwrap();
        let wanted =
            json!({ "choice": "Refund €120.00", "cents": 12000, "notify": true, "lines": [1, 2] });
        assert_eq!(made, wanted);
        filled.insert("cents".into(), "a lot".into());
        assert_eq!(value(&fields, &filled).unwrap_err().0, "cents");
    }

    #[test]
    fn a_value_without_properties_is_one_field() {
        let one = fields(&json!({ "type": "number" }));
        let filled = Filled::from([(String::new(), "1.5".to_owned())]);
        assert_eq!(value(&one, &filled), Ok(json!(1.5)));
    }
}
