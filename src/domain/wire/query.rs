//! What a list of runs is asked for.

use serde::{Deserialize, Serialize};

use crate::domain::{
    nouns::status::RunStatus,
    wire::{
        problem::Problem,
        protocol::{
            Check,
            limits::{PAGE, range},
        },
    },
};

/// `GET /v1/runs`: all filters hold together; newest runs first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "ssr", into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub struct RunQuery {
    /// `waiting` also finds runs at an open gate that a worker still holds.
    #[serde(default)]
    pub status: Option<RunStatus>,
    #[serde(default)]
    pub agent: Option<String>,
    /// `key:value`
    #[serde(default)]
    pub label: Option<String>,
    /// Words of titles, ids, step names and errors by their beginning; whole step keys; parts of titles and ids.
    #[serde(default)]
    pub q: Option<String>,
    /// A step's key, or the key that a step gave to its provider.
    #[serde(default)]
    pub key: Option<String>,
    /// The name of the step where it is.
    #[serde(default)]
    pub step: Option<String>,
    /// The kind of the error where it is; empty for none: a lease was lost.
    #[serde(default)]
    pub error: Option<String>,
    /// The agent's code version; empty for none.
    #[serde(default)]
    pub version: Option<String>,
    /// Whether it stopped with an effect unknown.
    #[serde(default)]
    pub effects_unknown: Option<bool>,
    /// Runs that this person decided about, or labelled `owner:NAME`; `@me` is who asks.
    #[serde(default)]
    pub owner: Option<String>,
    /// Runs of which this worker began a step, now or before.
    #[serde(default)]
    pub worker: Option<String>,
    /// Runs that cost more than this.
    #[serde(default)]
    pub over_usd: Option<i64>,
    #[serde(default = "fifty")]
    pub limit: i64,
    /// The `next` of the page before.
    #[serde(default)]
    pub cursor: Option<String>,
}

impl Default for RunQuery {
    fn default() -> Self {
        Self {
            status: None,
            agent: None,
            label: None,
            q: None,
            key: None,
            step: None,
            error: None,
            version: None,
            effects_unknown: None,
            owner: None,
            worker: None,
            over_usd: None,
            limit: fifty(),
            cursor: None,
        }
    }
}

fn fifty() -> i64 {
    50
}

impl Check for RunQuery {
    fn check(&self) -> Result<(), Problem> {
        let texts = [
            ("agent", &self.agent),
            ("label", &self.label),
            ("q", &self.q),
            ("key", &self.key),
            ("step", &self.step),
            ("error", &self.error),
            ("version", &self.version),
            ("owner", &self.owner),
            ("worker", &self.worker),
        ];
        for (path, text) in texts {
            if text.as_deref().is_some_and(|text| text.contains('\0')) {
                return Err(Problem::invalid(path, "must not hold a NUL character"));
            }
        }
        if self.label.as_deref().is_some_and(|it| !it.contains(':')) {
            return Err(Problem::invalid("label", "must be key:value"));
        }
        range("limit", self.limit, PAGE)
    }
}
