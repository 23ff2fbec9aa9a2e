//! One try at a step.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::nouns::{ids::Epoch, step::AgentError, time::Time};

/// How an attempt ended, if it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Running,
    Committed,
    Failed,
    /// Its lease ended first; the work may have been done, not done, or still be under way.
    Crashed,
    /// A gate that waits, or waited, for its answer.
    Waiting,
    /// An operator settled it; the agent may fold the result in once.
    Given,
}

crate::domain::nouns::status::words!(Outcome {
    Running = "running", Committed = "committed", Failed = "failed", Crashed = "crashed",
    Waiting = "waiting", Given = "given",
});

/// What an attempt used. Unknown is absent, never zero.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Usage {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// A commit that came too late to count: kept as evidence that the work was done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct Evidence {
    pub at: Time,
    pub epoch: Epoch,
    #[serde(default)]
    pub result: Value,
    /// The result was larger than evidence may be; only its hash is kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct LogLine {
    pub attempt: i64,
    pub at: Time,
    pub level: String,
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct Attempt {
    pub attempt: i64,
    pub worker: String,
    /// The key that it was given for the outside provider; the step's own is the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    pub epoch: Epoch,
    pub begun_at: Time,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heartbeat_at: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Time>,
    pub outcome: Outcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<AgentError>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// Its input, where it was not the step's first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
}
