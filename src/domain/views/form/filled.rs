//! What is typed and chosen in a form, by place. A place is the way down to a field: the number of a member, the
//! number that an item got when it was added, the number of a choice. It names the field on the page too.

use serde_json::Value;
use std::{collections::BTreeMap, fmt::Display};

use super::{Field, FieldKind, Format};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Filled {
    texts: BTreeMap<String, String>,
    /// The items of lists, in order. An item keeps its number when others go.
    items: BTreeMap<String, Vec<u32>>,
    added: u32,
}

/// The place of a part.
pub fn inside(place: &str, part: impl Display) -> String {
    match place {
        "" => part.to_string(),
        place => format!("{place}.{part}"),
    }
}

impl Filled {
    /// A form as it is shown at first.
    pub fn of(form: &Field) -> Self {
        let mut filled = Self::default();
        filled.begin(form, "");
        filled
    }

    /// What stands there: a text, `true` for a flag, the number of a choice.
    pub fn text(&self, place: &str) -> &str {
        self.texts.get(place).map_or("", String::as_str)
    }

    pub fn set(&mut self, place: &str, text: impl Into<String>) {
        self.texts.insert(place.to_owned(), text.into());
    }

    pub fn items(&self, place: &str) -> &[u32] {
        self.items.get(place).map_or(&[], Vec::as_slice)
    }

    /// One more item at the end of a list; answers its number.
    pub fn add(&mut self, place: &str, item: &Field) -> u32 {
        let number = self.append(place);
        self.begin(item, &inside(place, number));
        number
    }

    fn append(&mut self, place: &str) -> u32 {
        let number = self.added;
        self.added += 1;
        self.items.entry(place.to_owned()).or_default().push(number);
        number
    }

    pub fn remove(&mut self, place: &str, number: u32) {
        if let Some(items) = self.items.get_mut(place) {
            items.retain(|it| *it != number);
        }
    }

    fn begin(&mut self, field: &Field, place: &str) {
        // A default of several forms does not say which of them it is of: each form begins with its own.
        if let Some(first) = &field.first
            && !matches!(field.kind, FieldKind::Either(_))
        {
            return self.put(field, place, first);
        }
        match &field.kind {
            FieldKind::Group(parts) | FieldKind::Either(parts) => {
                for (n, part) in parts.iter().enumerate() {
                    self.begin(part, &inside(place, n));
                }
            }
            FieldKind::List(item) if field.required => {
                for _ in 0..field.limits.least().min(ITEMS_AT_FIRST) {
                    self.add(place, item);
                }
            }
            _ => {}
        }
    }

    /// Fills a field in with a value; what does not fit is left out.
    fn put(&mut self, field: &Field, place: &str, value: &Value) {
        match (&field.kind, value) {
            (FieldKind::Group(members), value) => {
                for (n, member) in members.iter().enumerate() {
                    let place = inside(place, n);
                    match value.get(&member.name) {
                        Some(value) if !matches!(member.kind, FieldKind::Either(_)) => {
                            self.put(member, &place, value);
                        }
                        _ => self.begin(member, &place),
                    }
                }
            }
            (FieldKind::List(item), Value::Array(values)) => {
                for value in values {
                    let number = self.append(place);
                    self.put(item, &inside(place, number), value);
                }
            }
            (FieldKind::Choice(all), value) => {
                if let Some(n) = all.iter().position(|it| it.value == *value) {
                    self.set(place, n.to_string());
                }
            }
            (FieldKind::Json(_), value) => {
                self.set(
                    place,
                    serde_json::to_string_pretty(value).unwrap_or_default(),
                );
            }
            (FieldKind::Line(Format::DateTime), Value::String(text)) => {
                self.set(place, super::read::to_type(text));
            }
            (FieldKind::Line(_) | FieldKind::Text, Value::String(text)) => self.set(place, text),
            (FieldKind::Number { .. }, Value::Number(n)) => self.set(place, n.to_string()),
            (FieldKind::Flag, Value::Bool(on)) => self.set(place, on.to_string()),
            _ => {}
        }
    }

    /// Whether somebody filled anything in, there or below.
    pub(super) fn touched(&self, field: &Field, place: &str) -> bool {
        match &field.kind {
            FieldKind::Fixed(_) => false,
            FieldKind::Group(members) => members
                .iter()
                .enumerate()
                .any(|(n, member)| self.touched(member, &inside(place, n))),
            FieldKind::List(item) => {
                let items = self.items(place);
                let first = Self::of(field).items("").len();
                let inside = |it: &u32| self.touched(item, &inside(place, it));
                items.len() != first || items.iter().any(inside)
            }
            // One that was turned off says something too, and so does a text that was cleared.
            FieldKind::Flag => (self.text(place) == "true") != (Self::of(field).text("") == "true"),
            _ => self.text(place) != Self::of(field).text(""),
        }
    }
}

/// A list that must have many items begins with fewer.
const ITEMS_AT_FIRST: u64 = 5;
