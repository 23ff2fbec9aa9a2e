//! The inbox: every question that waits for a person, oldest first.

use serde::{Deserialize, Serialize};

use crate::domain::nouns::{
    ids::{RunId, StepKey},
    status::RunStatus,
    step::Gate,
    time::Time,
};

/// A gate without an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InboxItem {
    pub run: RunId,
    pub title: Option<String>,
    pub agent: String,
    pub status: RunStatus,
    /// The run version that an answer is based on.
    pub version: i64,
    pub seq: i64,
    pub key: StepKey,
    pub name: String,
    pub gate: Gate,
    /// Since when it waits.
    pub since: Time,
    /// The change of state that led here: between these two snapshots. None if the state is the initial one.
    pub change: Option<(i64, i64)>,
    /// Who asked.
    pub worker: String,
}

/// A page of the inbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InboxPage {
    pub items: Vec<InboxItem>,
    /// Questions that cannot be shown, by run and step: what they ask is damaged in the store.
    pub damaged: Vec<(RunId, i64)>,
    pub next: Option<String>,
    /// The store's clock when it was read.
    pub now: Time,
}
