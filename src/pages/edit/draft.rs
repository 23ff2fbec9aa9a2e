//! What was typed and not yet saved: kept in this browser, so that a reload loses nothing.

use serde::{Deserialize, Serialize};

use crate::{
    components::preference,
    domain::{Run, views::edit::EditSheet},
};

/// Longer texts are not kept: browsers have little room.
const KEPT_MAX: usize = 2 << 20;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    /// The snapshot that it was made from.
    pub snapshot: i64,
    /// The run's version then.
    #[serde(default)]
    version: i64,
    /// The text that it began with; drafts of older releases have none.
    #[serde(default)]
    original: Option<String>,
    pub text: String,
}

impl Draft {
    /// The sheet that it was typed on, if the state has changed since: the draft still says what was there then, and must not
    /// undo what somebody else changed.
    pub fn began_with(&self, now: &EditSheet) -> Option<EditSheet> {
        let original = self.original.clone();
        let text = original.filter(|_| self.snapshot != now.run.snapshot)?;
        let run = Run {
            snapshot: self.snapshot,
            version: self.version,
            ..now.run.clone()
        };
        Some(EditSheet {
            run,
            text,
            ..now.clone()
        })
    }
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
        version: sheet.run.version,
        original: Some(sheet.text.clone()),
        text: text.to_owned(),
    };
    let worth = text != sheet.text && text.len() + sheet.text.len() <= KEPT_MAX;
    let kept = worth.then(|| serde_json::to_string(&draft).unwrap_or_default());
    preference::keep(&name(sheet), kept.as_deref());
}

pub fn forget(sheet: &EditSheet) {
    preference::keep(&name(sheet), None);
}
