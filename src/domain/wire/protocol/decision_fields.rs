//! Which fields each kind of decision takes: the check of a request and the OpenAPI document both read it here.

use super::Decide;
use crate::domain::rules::decision::DecisionKind::{self, *};

/// Fields that mean nothing to most kinds, and the kinds that take them. `step`, `text`, `reason` and `if_version` go with any.
pub const TAKEN_BY: &[(&str, &[DecisionKind])] = &[
    ("result", &[Commit, Skip, Approve, Reject, Answer]),
    ("state", &[Edit, Retry, Commit]),
    ("patch", &[Edit, Retry, Commit]),
    ("new_key", &[Retry]),
    ("choices", &[Resume]),
    ("plan", &[Resume]),
    ("again", &[Rewind, Fork]),
    ("new_run_id", &[Fork]),
];

/// Fields that a decision of these kinds cannot do without. An edit needs `state` or `patch` besides.
pub const NEEDED_BY: &[(&str, &[DecisionKind])] = &[
    (
        "step",
        &[Commit, Skip, Approve, Reject, Answer, Retry, Rewind],
    ),
    ("result", &[Answer]),
    ("text", &[Note]),
];

/// What a choice within a resume may be.
pub const CHOICES: &[DecisionKind] = &[Retry, Commit, Skip];

impl Decide {
    /// Whether the request says something in this field.
    pub fn gives(&self, field: &str) -> bool {
        match field {
            "step" => self.step.is_some(),
            "result" => self.result.is_some(),
            "state" => self.state.is_some(),
            "patch" => self.patch.is_some(),
            "new_key" => self.new_key,
            "choices" => !self.choices.is_empty(),
            "plan" => self.plan.is_some(),
            "again" => !self.again.is_empty(),
            "new_run_id" => self.new_run_id.is_some(),
            "text" => self.text.as_deref().is_some_and(|it| !it.trim().is_empty()),
            _ => false,
        }
    }
}
