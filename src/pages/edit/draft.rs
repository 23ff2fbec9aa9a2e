//! What was typed and not yet saved: kept in this browser, so that a reload loses nothing.

use serde::{Deserialize, Serialize};

use crate::{components::preference, domain::views::edit::EditSheet};

/// Longer texts are not kept: browsers have little room.
const KEPT_MAX: usize = 1 << 20;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    /// The snapshot that it was made from.
    pub snapshot: i64,
    pub text: String,
}

fn name(sheet: &EditSheet) -> String {
    format!("draft:{}:{}", sheet.run.id, sheet.path)
}

pub fn read(sheet: &EditSheet) -> Option<Draft> {
    serde_json::from_str(&preference::read(&name(sheet))?).ok()
}

/// Keeps what differs from the original; the original itself needs no draft.
pub fn keep(sheet: &EditSheet, text: &str) {
    let draft = Draft {
        snapshot: sheet.run.snapshot,
        text: text.to_owned(),
    };
    let worth = text != sheet.text && text.len() <= KEPT_MAX;
    let kept = worth.then(|| serde_json::to_string(&draft).unwrap_or_default());
    preference::keep(&name(sheet), kept.as_deref());
}

pub fn forget(sheet: &EditSheet) {
    preference::keep(&name(sheet), None);
}
