//! A status in words: of a run as a heading, of a step as a word, and what is to be said beside it.

use crate::domain::nouns::{
    status::{RunStatus, StepStatus},
    step::{Step, StepDetail},
};

/// What stands for a status that cannot be relied on.
pub const DAMAGED: &str = "damaged in the store";

/// What is said of a step that someone rewound past.
pub const SUPERSEDED: &str = "superseded by a rewind";

/// A run's status as a heading.
pub fn run_status(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Pending => "Not started",
        RunStatus::Running => "Running",
        RunStatus::Waiting => "Waiting",
        RunStatus::Paused => "Paused",
        RunStatus::Crashed => "Crashed",
        RunStatus::Failed => "Failed",
        RunStatus::Ready => "Queued",
        RunStatus::Done => "Done",
        RunStatus::Cancelled => "Cancelled",
    }
}

/// A step's status as a word.
pub fn step_status(status: StepStatus) -> &'static str {
    match status {
        StepStatus::Pending => "announced",
        StepStatus::Running => "running",
        StepStatus::Committed => "committed",
        StepStatus::Failed => "failed",
        StepStatus::Crashed => "crashed mid-flight",
        StepStatus::Waiting => "waits for an answer",
        StepStatus::Skipped => "skipped",
        StepStatus::Superseded => "superseded",
    }
}

/// What is to be said of a step: its status, what was decided about it, what it was before a rewind.
pub fn step_stands(step: &Step) -> String {
    match step.was {
        Some(was) => format!("{}, {SUPERSEDED}", step_status(was)),
        None if step.decided() => "decided: runs again".into(),
        None if step.skipped_in_doubt() => "skipped; it may have happened".into(),
        None => step_status(step.status).into(),
    }
}

/// The same with the key that the next attempt has, where one is ordered.
pub fn detail_stands(detail: &StepDetail) -> String {
    match detail.expected() {
        Some(it) if it.new_key => "decided: runs again with a new key".into(),
        Some(_) => "decided: runs again with the same key".into(),
        None => step_stands(&detail.step),
    }
}
