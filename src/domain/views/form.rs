//! A form made from a JSON Schema: fields that a person can fill in, and the value that they stand for. The server
//! checks the value by the whole schema; what a form cannot show is typed as JSON, that part alone.

mod build;
mod filled;
mod limits;
mod read;

pub use build::{choices, of};
pub use filled::{Filled, inside};
pub use limits::Limits;
pub use read::{Wrong, placed, value};

use serde_json::Value;

/// One part of a value. A form is the field of the whole value.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The property; empty where it is the whole value, an item of a list, or one of several forms of a value.
    pub name: String,
    pub title: String,
    pub hint: Option<String>,
    pub required: bool,
    /// Left empty, it is null.
    pub nullable: bool,
    pub limits: Limits,
    pub kind: FieldKind,
    /// What stands in it at first.
    pub first: Option<Value>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum FieldKind {
    /// A line of text.
    Line(Format),
    /// Several lines.
    Text,
    Number {
        integer: bool,
    },
    Flag,
    /// Always this.
    Fixed(Value),
    /// One of these.
    Choice(Vec<Choice>),
    /// The members of an object.
    Group(Vec<Field>),
    /// Any number of these.
    List(Box<Field>),
    /// One of these, each a form of its own.
    Either(Vec<Field>),
    /// Typed as JSON, and why.
    Json(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Plain,
    Email,
    Date,
    /// Typed in UTC.
    DateTime,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    pub title: String,
    pub value: Value,
}

impl Field {
    /// The text of the choice that was made at the top of the form in the field `choice`: what a button names.
    pub fn chosen(&self, filled: &Filled) -> Option<String> {
        let FieldKind::Group(members) = &self.kind else {
            return None;
        };
        let index = members.iter().position(|it| it.name == "choice")?;
        let FieldKind::Choice(all) = &members[index].kind else {
            return None;
        };
        let chosen: usize = filled.text(&inside("", index)).parse().ok()?;
        all.get(chosen).map(|it| it.title.clone())
    }
}
