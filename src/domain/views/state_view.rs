//! A state as a tree to look at, branch by branch: what stands below a place, how large it is, where a text occurs.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

use crate::domain::{
    nouns::time::Time,
    rules::decision::EditMark,
    tree::hash::Hash,
    tree::{Shape, Tree},
    wire::{
        json::{escape, quoted},
        protocol::TagName,
    },
};

/// Branches of one page.
pub const PAGE: usize = 100;
/// Characters shown of one value.
const VALUE_MAX: usize = 200;

/// What a value is called where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Label {
    Key(String),
    Index(i64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Type {
    Object,
    List,
    String,
    Number,
    Boolean,
    Null,
}

impl Type {
    pub fn of(tree: &Tree) -> Self {
        match tree.shape() {
            Shape::Object(_) => Self::Object,
            Shape::List(_) => Self::List,
            Shape::Scalar(Value::String(_)) => Self::String,
            Shape::Scalar(Value::Number(_)) => Self::Number,
            Shape::Scalar(Value::Bool(_)) => Self::Boolean,
            Shape::Scalar(_) => Self::Null,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::List => "list",
            Self::String => "string",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Null => "null",
        }
    }

    pub fn opens(self) -> bool {
        matches!(self, Self::Object | Self::List)
    }
}

/// One value of a state, without what is below it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branch {
    pub label: Option<Label>,
    pub path: String,
    pub kind: Type,
    /// How many values stand directly below.
    pub count: i64,
    pub bytes: i64,
    pub text: String,
    /// `text` is not the whole of it.
    pub clipped: bool,
}

/// A page of branches; `next` is where the following one begins.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BranchPage {
    pub branches: Vec<Branch>,
    pub next: Option<i64>,
}

/// A state and its first branches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateView {
    /// The change by hand that made it, if one did.
    #[serde(default)]
    pub edit: Option<EditMark>,
    pub snapshot: i64,
    /// The newest names that programs gave to it.
    #[serde(default)]
    pub tags: Vec<TagName>,
    /// The step that committed it; the initial state, a checkpoint between steps and a change by hand have none.
    pub seq: Option<i64>,
    pub created_at: Time,
    pub hash: Hash,
    pub root: Branch,
    pub page: BranchPage,
}

/// Which branches of a place are asked for.
pub enum Only<'a> {
    All,
    /// Items of a list.
    Items {
        start: usize,
        len: usize,
    },
    /// Keys whose value is the same in the other object.
    SameAs(&'a Tree),
}

impl Branch {
    pub fn of(label: Option<Label>, path: String, tree: &Tree) -> Self {
        let (text, clipped) = preview(tree, VALUE_MAX);
        let count = match tree.shape() {
            Shape::Scalar(_) => 0,
            Shape::List(items) => items.len(),
            Shape::Object(map) => map.len(),
        };
        Self {
            label,
            path,
            kind: Type::of(tree),
            count: count as i64,
            bytes: tree.size() as i64,
            text,
            clipped,
        }
    }
}

/// What stands directly below `tree`, which is at `path`, from number `after` on.
pub fn below(tree: &Tree, path: &str, only: &Only, after: i64) -> BranchPage {
    let after = usize::try_from(after).unwrap_or(0);
    let item = |i: usize, item: &Tree| {
        Branch::of(Some(Label::Index(i as i64)), format!("{path}/{i}"), item)
    };
    let entry = |(key, value): (&String, &Tree)| {
        let label = Some(Label::Key(key.clone()));
        Branch::of(label, format!("{path}/{}", escape(key)), value)
    };
    let mut branches: Vec<Branch> = match tree.shape() {
        Shape::Scalar(_) => Vec::new(),
        Shape::List(items) => {
            let (start, len) = match only {
                Only::Items { start, len } => (*start, *len),
                _ => (0, items.len()),
            };
            let end = start.saturating_add(len).min(items.len());
            let from = start.saturating_add(after).min(end);
            let page = items[from..end].iter().take(PAGE + 1).enumerate();
            page.map(|(i, it)| item(from + i, it)).collect()
        }
        Shape::Object(map) => {
            let others = match only {
                Only::SameAs(other) => match other.shape() {
                    Shape::Object(map) => Some(map),
                    _ => None,
                },
                _ => None,
            };
            let asked = |(key, value): &(&String, &Tree)| same_in(others, key, value);
            let page = map.iter().filter(asked).skip(after).take(PAGE + 1);
            page.map(entry).collect()
        }
    };
    let more = branches.len() > PAGE;
    branches.truncate(PAGE);
    BranchPage {
        branches,
        next: more.then_some((after + PAGE) as i64),
    }
}

fn same_in(others: Option<&BTreeMap<String, Tree>>, key: &str, value: &Tree) -> bool {
    others.is_none_or(|map| map.get(key).is_some_and(|other| other.same(value)))
}

/// Values whose key, or whose own text, holds `text`; from hit number `after` on.
pub fn find(tree: &Tree, text: &str, after: i64) -> BranchPage {
    let mut search = Search {
        text: text.to_lowercase(),
        skip: usize::try_from(after).unwrap_or(0),
        seen: 0,
        page: BranchPage::default(),
    };
    search.look(tree, None, &mut String::new());
    search.page
}

struct Search {
    text: String,
    skip: usize,
    seen: usize,
    page: BranchPage,
}

impl Search {
    fn look(&mut self, tree: &Tree, label: Option<Label>, path: &mut String) {
        if self.page.next.is_some() {
            return;
        }
        let named = match &label {
            Some(Label::Key(key)) => key.to_lowercase().contains(&self.text),
            _ => false,
        };
        let own = match tree.shape() {
            Shape::Scalar(value) => holds(value, &self.text),
            _ => false,
        };
        if named || own {
            if self.page.branches.len() == PAGE {
                self.page.next = Some((self.skip + PAGE) as i64);
                return;
            }
            if self.seen >= self.skip {
                let found = Branch::of(label, path.clone(), tree);
                self.page.branches.push(found);
            }
            self.seen += 1;
        }
        let len = path.len();
        match tree.shape() {
            Shape::Scalar(_) => {}
            Shape::List(items) => {
                for (i, item) in items.iter().enumerate() {
                    path.push_str(&format!("/{i}"));
                    self.look(item, Some(Label::Index(i as i64)), path);
                    path.truncate(len);
                }
            }
            Shape::Object(map) => {
                for (key, value) in map {
                    path.push('/');
                    path.push_str(&escape(key));
                    self.look(value, Some(Label::Key(key.clone())), path);
                    path.truncate(len);
                }
            }
        }
    }
}

fn holds(value: &Value, text: &str) -> bool {
    match value {
        Value::String(s) => s.to_lowercase().contains(text),
        other => other.to_string().contains(text),
    }
}

/// Whether a key or a value in it holds this text, which is in lower case.
pub fn is_in(tree: &Tree, text: &str) -> bool {
    match tree.shape() {
        Shape::Scalar(value) => holds(value, text),
        Shape::List(items) => items.iter().any(|item| is_in(item, text)),
        Shape::Object(map) => map
            .iter()
            .any(|(key, value)| key.to_lowercase().contains(text) || is_in(value, text)),
    }
}

/// The value in one line of about so many bytes, and whether something is left out.
pub fn preview(tree: &Tree, max: usize) -> (String, bool) {
    let mut out = String::new();
    let whole = write(tree, max, &mut out);
    if !whole {
        out.push('…');
    }
    (out, !whole)
}

fn write(tree: &Tree, max: usize, out: &mut String) -> bool {
    if out.len() >= max {
        return false;
    }
    match tree.shape() {
        Shape::Scalar(Value::String(text)) => {
            let end = text.floor_char_boundary(max - out.len());
            let quoted = quoted(&text[..end]);
            match end == text.len() {
                true => out.push_str(&quoted),
                false => out.push_str(quoted.trim_end_matches('"')),
            }
            end == text.len()
        }
        Shape::Scalar(value) => {
            out.push_str(&value.to_string());
            true
        }
        Shape::List([]) => {
            out.push_str("[]");
            true
        }
        Shape::List(items) => {
            out.push_str("[ ");
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                if !write(item, max, out) {
                    return false;
                }
            }
            out.push_str(" ]");
            true
        }
        Shape::Object(map) if map.is_empty() => {
            out.push_str("{}");
            true
        }
        Shape::Object(map) => {
            out.push_str("{ ");
            for (i, (key, value)) in map.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                if out.len() + key.len() > max {
                    return false;
                }
                out.push_str(&quoted(key));
                out.push_str(": ");
                if !write(value, max, out) {
                    return false;
                }
            }
            out.push_str(" }");
            true
        }
    }
}
