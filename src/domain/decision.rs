//! What operators decide. Append-only: a decision never overwrites anything.

use serde::{Deserialize, Serialize};

use super::time::Time;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum DecisionKind {
    Retry,
    Commit,
    Skip,
    Approve,
    Reject,
    Answer,
    Edit,
    Rewind,
    Fork,
    Resume,
    Pause,
    Cancel,
    Note,
    Pin,
    Claim,
    Acknowledge,
}

super::status::words!(DecisionKind {
    Retry = "retry", Commit = "commit", Skip = "skip", Approve = "approve", Reject = "reject",
    Answer = "answer", Edit = "edit", Rewind = "rewind", Fork = "fork", Resume = "resume",
    Pause = "pause", Cancel = "cancel", Note = "note", Pin = "pin", Claim = "claim",
    Acknowledge = "acknowledge",
});

/// What an operator asked a live worker to do at its next step boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Signal {
    Pause,
    Cancel,
}

super::status::words!(Signal { Pause = "pause", Cancel = "cancel" });

/// One decision as it was recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct Decision {
    pub id: i64,
    pub kind: DecisionKind,
    pub author: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<i64>,
    /// The run version it was based on.
    pub version: i64,
    pub at: Time,
}
