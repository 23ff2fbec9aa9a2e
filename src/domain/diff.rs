//! The change between two states: what is shown is what is stored.
//!
//! A diff is a list of [`Change`]s. They apply in order, as an RFC 6902 patch does: each `path` (and `from`) is a
//! JSON pointer (RFC 6901) into the state as the changes before it left it. `apply(a, &diff(a, b))` is `b`, exactly.
//!
//! | `op` | fields | meaning |
//! |---|---|---|
//! | `add` | `path`, `new` | `new` appears; in a list, what follows moves up |
//! | `remove` | `path`, `old?` | the value at `path` goes |
//! | `replace` | `path`, `old?`, `new` | another value stands there |
//! | `move` | `from`, `path` | the value at `from` is taken out, then put at `path`: an item of a list, or a renamed key |
//! | `text` | `path`, `edits: [{at, len, old?, new}]` | pieces of a string: `len` bytes of UTF-8 at `at` become `new`; `at` counts in the old string, ascending |
//!
//! There is one type and two forms. The *shown* form, which [`diff`] gives, holds every `old` and so has an
//! [`inverse`]. The *forward* form ([`forward`]) leaves `old` out: it is all that [`apply`] needs, and what is stored.
//! Within one list, removals come first (from the end, so each names its place in the old list), then moves, then
//! additions and changes inside items, which name their place in the new list.
//!
//! Equal subtrees are known by their hash and skipped. Lists are aligned by content (see `lists`), strings by words
//! (see `text`). The search is bounded by counted work, never by time, so the same two states give the same changes
//! anywhere.

mod apply;
mod delta;
mod emit;
mod lists;
mod order;
pub mod rebase;
pub mod rows;
mod sequence;
#[cfg(test)]
mod tests;
pub mod text;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::{
    tree::{Shape, Tree},
    wire::patch::{Op, PatchError, tokens},
};
pub use delta::{Delta, Run};
pub use text::Edit;

/// One change of a state; see the module for what each says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(tag = "op", rename_all = "lowercase", deny_unknown_fields)]
pub enum Change {
    Add {
        path: String,
        #[cfg_attr(feature = "ssr", schema(value_type = Value))]
        new: Tree,
    },
    Remove {
        path: String,
        #[serde(default, skip_serializing_if = "Option::is_none", with = "present")]
        #[cfg_attr(feature = "ssr", schema(value_type = Option<Value>))]
        old: Option<Tree>,
    },
    Replace {
        path: String,
        #[serde(default, skip_serializing_if = "Option::is_none", with = "present")]
        #[cfg_attr(feature = "ssr", schema(value_type = Option<Value>))]
        old: Option<Tree>,
        #[cfg_attr(feature = "ssr", schema(value_type = Value))]
        new: Tree,
    },
    Move {
        from: String,
        path: String,
    },
    Text {
        path: String,
        edits: Vec<Edit>,
    },
}

/// `"old": null` is a value, not its absence.
mod present {
    use super::Tree;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(value: &Option<Tree>, s: S) -> Result<S::Ok, S::Error> {
        value.serialize(s)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Tree>, D::Error> {
        Tree::deserialize(d).map(Some)
    }
}

/// The changes that turn `old` into `new`, in the shown form.
pub fn diff(old: &Tree, new: &Tree) -> Vec<Change> {
    changes(old, new, &delta::compare(old, new))
}

/// The changes that a comparison found; it must be one of these two.
pub fn changes(old: &Tree, new: &Tree, delta: &Delta) -> Vec<Change> {
    let mut out = Vec::new();
    emit::emit(old, new, delta, &mut String::new(), &mut out);
    out
}

/// How the two differ, as a tree: what the views are made of.
pub fn compare(old: &Tree, new: &Tree) -> Delta {
    delta::compare(old, new)
}

/// The changes as an RFC 6902 patch of `old`.
pub fn patch(old: &Tree, changes: &[Change]) -> Result<Vec<Op>, PatchError> {
    let mut state = old.clone();
    let mut reached = 0;
    let mut ops = Vec::with_capacity(changes.len());
    for (index, change) in changes.iter().enumerate() {
        ops.push(match change {
            Change::Add { path, new } => Op::Add {
                path: path.clone(),
                value: new.to_value(),
            },
            Change::Remove { path, .. } => Op::Remove { path: path.clone() },
            Change::Replace { path, new, .. } => Op::Replace {
                path: path.clone(),
                value: new.to_value(),
            },
            Change::Move { from, path } => Op::Move {
                from: from.clone(),
                path: path.clone(),
            },
            Change::Text { path, .. } => {
                state = applied(state, &changes[reached..=index])?;
                reached = index + 1;
                let at = |why| PatchError {
                    index,
                    path: path.clone(),
                    why,
                };
                let keys = tokens(path).map_err(at)?;
                let text = state.get(&keys).ok_or_else(|| at("there is no value"))?;
                Op::Replace {
                    path: path.clone(),
                    value: text.to_value(),
                }
            }
        });
    }
    Ok(ops)
}

/// The RFC 6902 patch that turns `old` into `new`.
pub fn ops(old: &Tree, new: &Tree) -> Vec<Op> {
    let whole = |_| {
        vec![Op::Replace {
            path: String::new(),
            value: new.to_value(),
        }]
    };
    patch(old, &diff(old, new)).unwrap_or_else(whole)
}

/// What the changes make of `old`. All of them apply, or none.
pub fn apply(old: &Tree, changes: &[Change]) -> Result<Tree, PatchError> {
    applied(old.clone(), changes)
}

/// The same for who needs the state before no longer: what nobody else has is changed in place.
pub fn applied(old: Tree, changes: &[Change]) -> Result<Tree, PatchError> {
    apply::apply(old, changes)
}

/// The changes that take these back; `None` if they are in the forward form.
pub fn inverse(changes: &[Change]) -> Option<Vec<Change>> {
    changes.iter().rev().map(Change::inverse).collect()
}

/// The stored form: without what was there before.
pub fn forward(changes: Vec<Change>) -> Vec<Change> {
    changes.into_iter().map(Change::forward).collect()
}

impl Change {
    pub fn path(&self) -> &str {
        match self {
            Self::Add { path, .. }
            | Self::Remove { path, .. }
            | Self::Replace { path, .. }
            | Self::Move { path, .. }
            | Self::Text { path, .. } => path,
        }
    }

    /// The same change without `old`.
    pub fn forward(self) -> Self {
        match self {
            Self::Remove { path, .. } => Self::Remove { path, old: None },
            Self::Replace { path, new, .. } => Self::Replace {
                path,
                old: None,
                new,
            },
            Self::Text { path, edits } => Self::Text {
                path,
                edits: edits.into_iter().map(Edit::forward).collect(),
            },
            other => other,
        }
    }

    fn inverse(&self) -> Option<Self> {
        Some(match self.clone() {
            Self::Add { path, new } => Self::Remove {
                path,
                old: Some(new),
            },
            Self::Remove { path, old } => Self::Add { path, new: old? },
            Self::Replace { path, old, new } => Self::Replace {
                path,
                old: Some(new),
                new: old?,
            },
            Self::Move { from, path } => Self::Move {
                from: path,
                path: from,
            },
            Self::Text { path, edits } => Self::Text {
                path,
                edits: text::inverse(&edits)?,
            },
        })
    }
}

/// The text of a string.
fn as_text(tree: &Tree) -> Option<&str> {
    match tree.shape() {
        Shape::Scalar(Value::String(text)) => Some(text),
        _ => None,
    }
}
