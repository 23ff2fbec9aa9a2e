//! Refusals on the wire: `application/problem+json` (RFC 9457) with a stable code.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Why a request was refused. The words are part of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Code {
    Malformed,
    Unauthorized,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    TooLarge,
    TooMany,
    Invalid,
    PatchFailed,
    Busy,
    RunConflict,
    LeaseHeld,
    RunNotRunnable,
    LeaseLost,
    KeyConflict,
    CommitConflict,
    StateConflict,
    TagConflict,
    AttemptOver,
    StepInFlight,
    IdempotencyConflict,
    VersionConflict,
    DecisionRefused,
    PlanChanged,
    EventsPruned,
    Pruned,
    Corrupt,
    Internal,
}

impl Code {
    pub fn status(self) -> u16 {
        match self {
            Self::Malformed => 400,
            Self::Unauthorized => 401,
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::EventsPruned | Self::Pruned => 410,
            Self::TooLarge => 413,
            Self::Invalid | Self::PatchFailed => 422,
            Self::TooMany => 429,
            Self::Corrupt | Self::Internal => 500,
            Self::Busy => 503,
            _ => 409,
        }
    }

    /// It may go by itself: `Retry-After` says when to come back.
    pub fn is_passing(self) -> bool {
        matches!(self, Self::Busy | Self::TooMany)
    }
}

crate::domain::nouns::status::words!(Code {
    Malformed = "malformed", Unauthorized = "unauthorized", Forbidden = "forbidden", NotFound = "not_found",
    MethodNotAllowed = "method_not_allowed", TooLarge = "too_large", TooMany = "too_many",
    Invalid = "invalid", PatchFailed = "patch_failed", Busy = "busy", RunConflict = "run_conflict",
    LeaseHeld = "lease_held", RunNotRunnable = "run_not_runnable", LeaseLost = "lease_lost",
    KeyConflict = "key_conflict", CommitConflict = "commit_conflict", StateConflict = "state_conflict",
    TagConflict = "tag_conflict",
    AttemptOver = "attempt_over", StepInFlight = "step_in_flight",
    IdempotencyConflict = "idempotency_conflict", VersionConflict = "version_conflict",
    DecisionRefused = "decision_refused", PlanChanged = "plan_changed", EventsPruned = "events_pruned",
    Pruned = "pruned", Corrupt = "corrupt", Internal = "internal",
});

/// One refusal: the code, a sentence that says what to do, and the fields the protocol names for it.
///
/// A field that the protocol names wins over RFC 9457's own: the `status` of `run_not_runnable` is the run's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(into = "Map<String, Value>", try_from = "Map<String, Value>")]
#[error("{detail}")]
pub struct Problem {
    pub code: Code,
    pub title: String,
    pub status: u16,
    pub detail: String,
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

impl From<Problem> for Map<String, Value> {
    fn from(problem: Problem) -> Self {
        let mut map = Map::new();
        map.insert("code".into(), json!(problem.code));
        map.insert("title".into(), json!(problem.title));
        map.insert("status".into(), json!(problem.status));
        map.insert("detail".into(), json!(problem.detail));
        map.extend(problem.fields);
        map
    }
}

impl TryFrom<Map<String, Value>> for Problem {
    type Error = serde_json::Error;

    fn try_from(mut map: Map<String, Value>) -> Result<Self, serde_json::Error> {
        let code: Code = serde_json::from_value(map.remove("code").unwrap_or_default())?;
        let mut text = |name: &str| match map.remove(name) {
            Some(Value::String(text)) => text,
            _ => String::new(),
        };
        let (title, detail) = (text("title"), text("detail"));
        let status = map
            .get("status")
            .and_then(Value::as_u64)
            .and_then(|n| u16::try_from(n).ok());
        if status.is_some() {
            map.remove("status");
        }
        Ok(Self {
            code,
            title,
            status: status.unwrap_or(code.status()),
            detail,
            fields: map,
        })
    }
}

impl Problem {
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self {
            code,
            title: code.as_str().replace('_', " "),
            status: code.status(),
            detail: detail.into(),
            fields: Map::new(),
        }
    }

    pub fn with(mut self, field: &str, value: impl Serialize) -> Self {
        self.fields.insert(field.to_owned(), json!(value));
        self
    }

    /// A value that is well-formed JSON but not acceptable; `path` names the field.
    pub fn invalid(path: impl Into<String>, why: impl std::fmt::Display) -> Self {
        let path = path.into();
        Self::new(Code::Invalid, format!("{path}: {why}")).with("path", path)
    }

    /// The same refusal of a field that stands inside another one.
    pub fn under(mut self, parent: &str) -> Self {
        if let Some(Value::String(path)) = self.fields.get_mut("path") {
            *path = format!("{parent}/{path}");
            self.detail = format!("{parent}/{}", self.detail);
        }
        self
    }

    pub fn too_large(path: &str, limit: usize) -> Self {
        Self::new(
            Code::TooLarge,
            format!("{path} is larger than the limit of {limit} bytes"),
        )
        .with("path", path)
        .with("limit", limit)
    }

    pub fn too_many(path: &str, limit: usize) -> Self {
        Self::new(
            Code::TooLarge,
            format!("{path} holds more than the limit of {limit} JSON values"),
        )
        .with("path", path)
        .with("limit", limit)
    }

    pub fn not_found(what: &str) -> Self {
        Self::new(Code::NotFound, format!("there is no such {what}"))
    }

    pub fn lease_lost() -> Self {
        Self::new(
            Code::LeaseLost,
            "this epoch no longer holds the run's lease: stop the work; what it did is not recorded",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_the_protocol_names_wins_and_reads_back() {
        let problem = Problem::new(Code::RunNotRunnable, "it is done").with("status", "done");
        let text = serde_json::to_string(&problem).unwrap();
        assert_eq!(text.matches("\"status\"").count(), 1);
        assert!(text.contains("\"status\":\"done\""));
        let read: Problem = serde_json::from_str(&text).unwrap();
        assert_eq!(read, problem);
    }
}
