//! The audit trail: every decision, sign-in, change of access and refused attempt, in one chain of hashes.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::domain::{
    nouns::{ids::RunId, time::Time},
    tree::hash::{self, Hash},
};

/// What kind of thing was done, or tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditKind {
    /// An operator decided.
    Decision,
    /// Somebody signed in or out.
    Session,
    /// People, links and tokens; and who took out the trail as a whole.
    Access,
    /// Something was tried and refused; it changed nothing.
    Refused,
}

crate::domain::nouns::status::words!(AuditKind {
    Decision = "decision", Session = "session", Access = "access", Refused = "refused",
});

/// One line of the trail.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditEntry {
    pub id: i64,
    pub at: Time,
    pub kind: AuditKind,
    pub actor: String,
    /// `retry`, `sign_in`, `create_token`, …
    pub action: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What else is known: the decision's body, who was let in, why it was refused.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub detail: Value,
}

impl AuditEntry {
    /// The entry's link in the chain.
    pub fn link(&self, previous: Hash) -> Hash {
        hash::link(previous, self.id, Hash::of(&json!(self)))
    }

    /// The entry as a line of an export, with its hash.
    pub fn exported(&self, hash: Hash) -> String {
        let mut line = json!(self);
        line["hash"] = json!(hash);
        line.to_string()
    }
}

/// Which entries are looked for; what is absent admits all.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuditQuery {
    pub kind: Option<AuditKind>,
    pub actor: Option<String>,
    pub action: Option<String>,
    pub run: Option<RunId>,
    /// Older than this entry: the `next` of the page before.
    pub before: Option<i64>,
}

impl AuditQuery {
    pub fn admits(&self, entry: &AuditEntry) -> bool {
        self.kind.is_none_or(|kind| kind == entry.kind)
            && self.actor.as_ref().is_none_or(|it| *it == entry.actor)
            && self.action.as_ref().is_none_or(|it| *it == entry.action)
            && (self.run.is_none() || self.run == entry.run)
    }
}

/// Entries, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditPage {
    pub entries: Vec<AuditEntry>,
    pub next: Option<i64>,
}

/// What a look at the whole chain found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditVerified {
    /// The chain holds up to this entry, which has this hash: comparable with an exported head.
    pub entry: i64,
    pub head: Hash,
    /// The first entry that does not match the entry before it.
    pub damaged: Option<i64>,
}
