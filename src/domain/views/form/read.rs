//! From what is filled in to the value that it stands for, or to what is wrong, field by field.

use chrono::{DateTime, NaiveDate, NaiveDateTime};
use serde_json::{Map, Number, Value};

use super::{Field, FieldKind, Filled, Format, inside};
use crate::domain::{
    views::typed_json,
    wire::{patch::tokens, problem::Problem},
};

/// What is wrong, and at which place of the form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    pub place: String,
    pub what: String,
}

/// The value of a form, or all that is wrong with it, in the order of the fields.
pub fn value(form: &Field, filled: &Filled) -> Result<Value, Vec<Wrong>> {
    let mut read = Read {
        filled,
        wrong: Vec::new(),
    };
    let value = read.field(form, "");
    match read.wrong.is_empty() {
        true => Ok(value.unwrap_or_default()),
        false => Err(read.wrong),
    }
}

/// The server's refusal at the fields that it is about; empty where it names none.
pub fn placed(problem: &Problem, form: &Field, filled: &Filled) -> Vec<Wrong> {
    let errors = problem.fields.get("errors").and_then(Value::as_array);
    let one = |error: &Value| {
        let path = tokens(error["at"].as_str()?).ok()?;
        Some(Wrong {
            place: place_of(form, filled, &path),
            what: format!(
                "The agent's schema refuses this: {}",
                error["why"].as_str()?
            ),
        })
    };
    errors.into_iter().flatten().filter_map(one).collect()
}

/// The place of the value at this path; of the nearest one around it where the form has none.
fn place_of(form: &Field, filled: &Filled, path: &[String]) -> String {
    let (mut field, mut place, mut path) = (form, String::new(), path);
    loop {
        let (part, number, rest) = match (&field.kind, path) {
            (FieldKind::Either(forms), path) => {
                let chosen = filled.text(&place).parse::<usize>().ok();
                let form = chosen.and_then(|n| Some((n, forms.get(n)?)));
                let Some((n, form)) = form else { return place };
                (form, n.to_string(), path)
            }
            (FieldKind::Group(members), [name, rest @ ..]) => {
                let Some(n) = members.iter().position(|it| it.name == *name) else {
                    return place;
                };
                (&members[n], n.to_string(), rest)
            }
            (FieldKind::List(item), [index, rest @ ..]) => {
                let index = index.parse::<usize>().ok();
                let number = index.and_then(|index| filled.items(&place).get(index));
                let Some(number) = number else { return place };
                (&**item, number.to_string(), rest)
            }
            _ => return place,
        };
        (field, place, path) = (part, inside(&place, number), rest);
    }
}

struct Read<'a> {
    filled: &'a Filled,
    wrong: Vec<Wrong>,
}

impl Read<'_> {
    /// None if it is left out, or wrong.
    fn field(&mut self, field: &Field, place: &str) -> Option<Value> {
        if self.is_empty(field, place) {
            return match (field.required, field.nullable) {
                (true, true) => Some(Value::Null),
                (true, false) => self.refuse(field, place, missing(&field.kind)),
                (false, _) => None,
            };
        }
        let text = self.filled.text(place);
        match &field.kind {
            FieldKind::Group(members) => Some(self.group(members, place)),
            FieldKind::List(item) => self.list(field, item, place),
            FieldKind::Either(forms) => {
                let n: usize = text.parse().ok()?;
                self.field(forms.get(n)?, &inside(place, n))
            }
            _ => match one(field, text) {
                Ok(value) => Some(value),
                Err(why) => self.refuse(field, place, &why),
            },
        }
    }

    fn is_empty(&self, field: &Field, place: &str) -> bool {
        match &field.kind {
            FieldKind::Fixed(_) => false,
            // A box that may be left out says something once somebody ticked it, or where it begins with a default.
            FieldKind::Flag => !field.required && self.filled.text(place).is_empty(),
            FieldKind::Group(_) => !field.required && !self.filled.touched(field, place),
            FieldKind::List(_) => !field.required && self.filled.items(place).is_empty(),
            FieldKind::Text => self.filled.text(place).is_empty(),
            _ => self.filled.text(place).trim().is_empty(),
        }
    }

    fn group(&mut self, members: &[Field], place: &str) -> Value {
        let mut map = Map::new();
        for (n, member) in members.iter().enumerate() {
            if let Some(value) = self.field(member, &inside(place, n)) {
                map.insert(member.name.clone(), value);
            }
        }
        Value::Object(map)
    }

    fn list(&mut self, field: &Field, item: &Field, place: &str) -> Option<Value> {
        let numbers = self.filled.items(place);
        let mut values: Vec<Value> = Vec::new();
        for number in numbers {
            let place = inside(place, number);
            let Some(value) = self.field(item, &place) else {
                continue;
            };
            if field.limits.unique && values.contains(&value) {
                self.refuse(
                    item,
                    &place,
                    "is in the list twice; each value may appear only once",
                );
            }
            values.push(value);
        }
        match field.limits.against(&Number::from(numbers.len())) {
            Some(why) => self.refuse(field, place, &why),
            None => Some(values.into()),
        }
    }

    fn refuse(&mut self, field: &Field, place: &str, why: &str) -> Option<Value> {
        self.wrong.push(Wrong {
            place: place.to_owned(),
            what: format!("{} {why}", field.title),
        });
        None
    }
}

fn missing(kind: &FieldKind) -> &'static str {
    match kind {
        FieldKind::Choice(_) | FieldKind::Either(_) => "is missing: choose one",
        _ => "is missing",
    }
}

/// What one text stands for.
fn one(field: &Field, text: &str) -> Result<Value, String> {
    let value = match &field.kind {
        FieldKind::Line(format) => {
            let text = text.trim();
            length(field, text)?;
            Value::from(formatted(*format, text)?)
        }
        FieldKind::Text => {
            length(field, text)?;
            Value::from(text)
        }
        FieldKind::Flag => Value::from(text == "true"),
        FieldKind::Number { integer } => {
            let n = number(text.trim(), *integer)?;
            field.limits.against(&n).map_or(Ok(()), Err)?;
            n.into()
        }
        FieldKind::Fixed(value) => value.clone(),
        FieldKind::Choice(all) => {
            let chosen = text.parse::<usize>().ok().and_then(|n| all.get(n));
            let chosen = chosen.ok_or("must be one of those offered")?;
            chosen.value.clone()
        }
        FieldKind::Json(_) => typed_json::parse(text)
            .map_err(|wrong| format!("is not valid JSON in line {}: {}", wrong.line, wrong.what))?,
        FieldKind::Group(_) | FieldKind::List(_) | FieldKind::Either(_) => Value::Null,
    };
    Ok(value)
}

fn length(field: &Field, text: &str) -> Result<(), String> {
    let characters = Number::from(text.chars().count());
    field.limits.against(&characters).map_or(Ok(()), Err)
}

fn number(text: &str, integer: bool) -> Result<Number, String> {
    let whole = text.parse::<i64>().map(Number::from);
    let whole = whole.or_else(|_| text.parse::<u64>().map(Number::from));
    match (whole, integer) {
        (Ok(n), _) => Ok(n),
        (Err(_), true) => Err("must be a whole number".into()),
        (Err(_), false) => {
            let n = text.parse::<f64>().ok().and_then(Number::from_f64);
            n.ok_or_else(|| "must be a number, such as 12.5".into())
        }
    }
}

fn formatted(format: Format, text: &str) -> Result<String, String> {
    match format {
        Format::Plain => Ok(text.to_owned()),
        Format::Email => match text.split_once('@') {
            Some((name, host))
                if !name.is_empty()
                    && !host.is_empty()
                    && !host.contains('@')
                    && !text.contains(char::is_whitespace) =>
            {
                Ok(text.to_owned())
            }
            _ => Err("must be an e-mail address, such as name@example.com".into()),
        },
        Format::Date => NaiveDate::parse_from_str(text, "%Y-%m-%d")
            .map(|it| it.format("%Y-%m-%d").to_string())
            .map_err(|_| "must be a date, such as 2026-11-18".into()),
        Format::DateTime => typed(text)
            .map(|it| it.format("%Y-%m-%dT%H:%M:%SZ").to_string())
            .ok_or_else(|| "must be a date and a time, such as 2026-11-18T09:30".into()),
    }
}

/// A date and time as it is typed, in UTC, or as RFC 3339.
fn typed(text: &str) -> Option<NaiveDateTime> {
    let plain = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"]
        .into_iter()
        .find_map(|format| NaiveDateTime::parse_from_str(text, format).ok());
    plain.or_else(|| Some(DateTime::parse_from_rfc3339(text).ok()?.naive_utc()))
}

/// A date and time as a field takes it.
pub(super) fn to_type(text: &str) -> String {
    let typed = typed(text).map(|it| it.format("%Y-%m-%dT%H:%M:%S").to_string());
    typed.unwrap_or_default()
}

#[cfg(test)]
mod tests;
