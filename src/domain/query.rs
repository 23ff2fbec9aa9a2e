//! What a list of runs is asked for.

use serde::{Deserialize, Serialize};

use super::{problem::Problem, protocol::Check, status::RunStatus};

/// `GET /v1/runs`: all filters hold together; newest runs first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "ssr", into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub struct RunQuery {
    #[serde(default)]
    pub status: Option<RunStatus>,
    #[serde(default)]
    pub agent: Option<String>,
    /// `key:value`
    #[serde(default)]
    pub label: Option<String>,
    /// Part of a title or an id.
    #[serde(default)]
    pub q: Option<String>,
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
        ];
        for (path, text) in texts {
            if text.as_deref().is_some_and(|text| text.contains('\0')) {
                return Err(Problem::invalid(path, "must not hold a NUL character"));
            }
        }
        match self.limit {
            1..=1_000 => Ok(()),
            n => Err(Problem::invalid(
                "limit",
                format!("must be 1…1000, not {n}"),
            )),
        }
    }
}
