//! One unit of work in a run: what it is, what it does to the world, and how it may be recovered.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::{
    nouns::{
        attempt::{Attempt, LogLine},
        ids::StepKey,
        ordered_json::OrderedJson,
        run::Link,
        status::StepStatus,
        time::Time,
    },
    rules::decision::{Decision, DecisionKind},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    #[default]
    Code,
    Llm,
    Tool,
    Gate,
    Milestone,
}

crate::domain::nouns::status::words!(Kind {
    Code = "code", Llm = "llm", Tool = "tool", Gate = "gate", Milestone = "milestone",
});

/// A step's mark that it changes the world outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Effect {
    pub target: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How long the provider recognises a repeated idempotency key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dedupe_ms: Option<i64>,
}

/// How a step may be recovered after a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Recovery {
    /// Safe to run again: no effect, or the provider deduplicates by key.
    Retry,
    /// The agent can look whether it happened, and is asked to.
    Check,
    /// An operator decides.
    Ask,
}

crate::domain::nouns::status::words!(Recovery { Retry = "retry", Check = "check", Ask = "ask" });

impl Recovery {
    /// The rule of a step that named none.
    pub fn default_for(effect: Option<&Effect>) -> Self {
        match effect {
            Some(_) => Self::Ask,
            None => Self::Retry,
        }
    }
}

/// How often a failed step is tried again by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RetryRule {
    pub max_attempts: i64,
    pub backoff_ms: i64,
}

impl Default for RetryRule {
    fn default() -> Self {
        Self {
            max_attempts: 1,
            backoff_ms: 1_000,
        }
    }
}

/// A question for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Gate {
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Value>,
    /// A JSON Schema that the answer must fit; a form shows its properties in the order they stand in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ssr", schema(value_type = Option<Value>))]
    pub schema: Option<OrderedJson>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choices: Option<Vec<Value>>,
}

impl Gate {
    /// It asks for yes or no.
    pub fn is_plain(&self) -> bool {
        let choices = self.choices.as_ref().is_some_and(|it| !it.is_empty());
        !choices && self.schema.is_none()
    }
}

/// Something outside that a step relied on, and what it looked like then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Reference {
    pub uri: String,
    pub hash: String,
}

/// What went wrong, in the agent's words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct AgentError {
    pub kind: String,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
}

/// A step as lists show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct Step {
    pub seq: i64,
    pub key: StepKey,
    pub name: String,
    pub kind: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    pub status: StepStatus,
    /// What a superseded step was before someone rewound past it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<StepStatus>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// Nobody knows whether its effect happened.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub effect_unknown: bool,
    pub recovery: Recovery,
    /// How many times it was tried.
    pub tries: i64,
    pub begun_at: Time,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Time>,
    /// The run's state after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<i64>,
    /// When a failed step will be tried again by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<DecisionKind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Bytes by which its commit made the state longer; absent if it left the state as it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_change: Option<i64>,
    /// The key that the outside provider sees.
    pub idempotency_key: String,
    /// What is stored of it does not match its seal: nothing here can be relied on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub damaged: bool,
}

impl Step {
    /// What it is, or was before someone rewound past it.
    pub fn stood(&self) -> StepStatus {
        self.was.unwrap_or(self.status)
    }

    /// It crashed mid-flight, or had when someone rewound past it, and nobody ordered to run it again: what is known of the
    /// crash stands above all else.
    pub fn shows_crash(&self) -> bool {
        self.stood() == StepStatus::Crashed && !self.decided()
    }

    /// It broke, and someone has ordered to run it again since: nothing more is to be decided about it.
    pub fn decided(&self) -> bool {
        self.status.broke() && self.decision == Some(DecisionKind::Retry)
    }
}

/// A step with all that is known of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct StepDetail {
    #[serde(flatten)]
    pub step: Step,
    #[serde(default)]
    pub input: Value,
    #[serde(default)]
    pub result: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<AgentError>,
    pub retry: RetryRule,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Gate>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refs: Vec<Reference>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    /// The newest attempts, oldest first; older ones stay in the store.
    pub attempts: Vec<Attempt>,
    /// What people decided about it, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Decision>,
    /// The newest log lines over all attempts, oldest first.
    pub log: Vec<LogLine>,
}

/// The attempt that someone ordered and no worker has begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedAttempt {
    pub attempt: i64,
    /// The provider sees another key than at the attempt before.
    pub new_key: bool,
    pub idempotency_key: String,
}

impl StepDetail {
    /// What the next worker will try, where someone has ordered that.
    pub fn expected(&self) -> Option<ExpectedAttempt> {
        let last = self.attempts.last()?;
        let key = &self.step.idempotency_key;
        // Attempts from before they kept their keys say nothing: no new key is claimed then.
        let used = self.attempts.iter().rev();
        let used = used.filter_map(|it| it.idempotency_key.as_ref()).next();
        self.step.decided().then(|| ExpectedAttempt {
            attempt: last.attempt + 1,
            new_key: used.is_some_and(|used| used != key),
            idempotency_key: key.clone(),
        })
    }
}
