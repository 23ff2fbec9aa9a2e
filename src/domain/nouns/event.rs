//! One line of a run's history, numbered by commit order; what the live view follows.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::domain::{
    nouns::{ids::RunId, time::Time},
    tree::hash::{self, Hash},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    RunCreated,
    RunStatus,
    RunFinished,
    RunReopened,
    LeaseGranted,
    LeaseEnded,
    StepBegun,
    StepProgress,
    StepCommitted,
    StepFailed,
    StepCrashed,
    StepWaiting,
    StepGiven,
    Drift,
    LateEvidence,
    SnapshotSaved,
    Decision,
}

crate::domain::nouns::status::words!(EventKind {
    RunCreated = "run_created", RunStatus = "run_status", RunFinished = "run_finished",
    RunReopened = "run_reopened",
    LeaseGranted = "lease_granted", LeaseEnded = "lease_ended", StepBegun = "step_begun",
    StepProgress = "step_progress",
    StepCommitted = "step_committed", StepFailed = "step_failed", StepCrashed = "step_crashed",
    StepWaiting = "step_waiting", StepGiven = "step_given", Drift = "drift",
    LateEvidence = "late_evidence", SnapshotSaved = "snapshot_saved", Decision = "decision",
});

impl EventKind {
    /// It may change what is counted: a run appears, changes its status, or comes to need a person or not. A decision may do so
    /// without a change of status: what is acknowledged needs nobody.
    pub fn moves_run(self) -> bool {
        matches!(
            self,
            Self::RunCreated
                | Self::RunStatus
                | Self::RunFinished
                | Self::StepWaiting
                | Self::StepGiven
                | Self::Decision
        )
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct Event {
    pub id: i64,
    pub run: RunId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<i64>,
    pub kind: EventKind,
    pub at: Time,
    pub data: Value,
}

impl Event {
    /// The event's link in the chain over all events.
    pub fn link(&self, previous: Hash) -> Hash {
        let body = json!([self.run, self.seq, self.kind, self.at, self.data]);
        hash::link(previous, self.id, Hash::of(&body))
    }
}
