//! A value as it is written: its text and its hash. Both are made before there is a transaction, because a value of a
//! few megabytes may hold a million others.

use serde_json::Value;

use super::seal;
use crate::domain::{Hash, wire::json};

#[derive(Debug, Clone)]
pub struct Content {
    /// Canonical JSON.
    pub text: String,
    pub hash: Hash,
}

impl Content {
    pub fn of(value: &Value) -> Self {
        Self {
            text: String::from_utf8(json::canonical(value)).unwrap_or_default(),
            hash: Hash::of(value),
        }
    }

    /// The text behind its hash, for columns that nothing else vouches for.
    pub fn sealed(&self) -> String {
        seal::seal_text(self.hash, &self.text)
    }
}
