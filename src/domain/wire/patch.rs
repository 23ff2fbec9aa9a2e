//! RFC 6902 patches: how agents send a change of state, and how the store keeps it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One operation of a patch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(tag = "op", rename_all = "lowercase", deny_unknown_fields)]
pub enum Op {
    Add { path: String, value: Value },
    Remove { path: String },
    Replace { path: String, value: Value },
    Move { from: String, path: String },
    Copy { from: String, path: String },
    Test { path: String, value: Value },
}

/// Which operation could not be applied, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("operation {index} at {path:?}: {why}")]
pub struct PatchError {
    pub index: usize,
    pub path: String,
    pub why: &'static str,
}

/// The keys of a JSON pointer.
pub fn tokens(pointer: &str) -> Result<Vec<String>, &'static str> {
    match pointer.strip_prefix('/') {
        None if pointer.is_empty() => Ok(Vec::new()),
        None => Err("a JSON pointer is empty or starts with /"),
        Some(rest) => rest.split('/').map(unescape).collect(),
    }
}

fn unescape(token: &str) -> Result<String, &'static str> {
    let mut out = String::with_capacity(token.len());
    let mut chars = token.chars();
    while let Some(c) = chars.next() {
        match (c, c == '~') {
            (_, true) => match chars.next() {
                Some('0') => out.push('~'),
                Some('1') => out.push('/'),
                _ => return Err("~ must be followed by 0 or 1 in a JSON pointer"),
            },
            (c, false) => out.push(c),
        }
    }
    Ok(out)
}

impl Op {
    pub fn path(&self) -> &str {
        match self {
            Self::Add { path, .. }
            | Self::Remove { path }
            | Self::Replace { path, .. }
            | Self::Move { path, .. }
            | Self::Copy { path, .. }
            | Self::Test { path, .. } => path,
        }
    }

    pub fn from(&self) -> Option<&str> {
        match self {
            Self::Move { from, .. } | Self::Copy { from, .. } => Some(from),
            _ => None,
        }
    }

    pub fn value(&self) -> Option<&Value> {
        match self {
            Self::Add { value, .. } | Self::Replace { value, .. } | Self::Test { value, .. } => {
                Some(value)
            }
            _ => None,
        }
    }
}
