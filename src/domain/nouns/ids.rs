//! Names of things: run ids, step keys and the lease's fencing token.

use serde::{Deserialize, Serialize};
use std::fmt;

use crate::domain::wire::problem::Problem;

pub const RUN_ID_MAX: usize = 128;
pub const KEY_MAX: usize = 256;

/// A run's stable id: 1–128 of `[A-Za-z0-9._:-]`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(try_from = "String", into = "String")]
pub struct RunId(String);

impl RunId {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a run may be named so from now on. A browser takes `/runs/..` for the page above, so such a run could
    /// not be looked at; one that an earlier version let in stays readable in lists and events.
    pub fn reachable(&self) -> Result<(), String> {
        match self.as_str() {
            "." | ".." => Err("a run cannot be named . or ..: no URL leads to it".into()),
            _ => Ok(()),
        }
    }

    /// The last ten characters: enough to tell runs apart on a screen.
    pub fn short(&self) -> &str {
        let cut = self.0.len().saturating_sub(10);
        &self.0[cut..]
    }
}

impl TryFrom<String> for RunId {
    type Error = String;

    fn try_from(id: String) -> Result<Self, String> {
        let fits = (1..=RUN_ID_MAX).contains(&id.len());
        let plain = id
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"._:-".contains(&b));
        match fits && plain {
            true => Ok(Self(id)),
            false => Err("a run id is 1–128 of [A-Za-z0-9._:-]".into()),
        }
    }
}

impl std::str::FromStr for RunId {
    type Err = String;

    fn from_str(id: &str) -> Result<Self, String> {
        Self::try_from(id.to_owned())
    }
}

impl From<RunId> for String {
    fn from(id: RunId) -> Self {
        id.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A step's idempotency key: 1–256 printable characters, unique in its run and stable over attempts.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(try_from = "String", into = "String")]
pub struct StepKey(String);

impl StepKey {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for StepKey {
    type Error = String;

    fn try_from(key: String) -> Result<Self, String> {
        let fits = (1..=KEY_MAX).contains(&key.chars().count());
        match fits && !key.chars().any(char::is_control) {
            true => Ok(Self(key)),
            false => Err("a step key is 1–256 printable characters".into()),
        }
    }
}

impl From<StepKey> for String {
    fn from(key: StepKey) -> Self {
        key.0
    }
}

impl fmt::Display for StepKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The fencing token of a lease: each lease of a run has a higher one than all before it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct Epoch(pub i64);

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The key for the outside provider: the same over a step's attempts, new with each generation of the step.
pub fn provider_key(run: &RunId, seq: i64, generation: i64) -> String {
    match generation {
        1 => format!("{run}:{seq}"),
        n => format!("{run}:{seq}:{n}"),
    }
}

/// Parses a run id that came in a path.
pub fn run_id(text: &str) -> Result<RunId, Problem> {
    text.parse::<RunId>()
        .and_then(|id| id.reachable().map(|()| id))
        .map_err(|why| Problem::invalid("id", why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_no_url_leads_to_is_refused_in_a_path() {
        for id in [".", ".."] {
            assert_eq!(run_id(id).unwrap_err().fields["path"], "id");
            assert!(id.parse::<RunId>().is_ok(), "what is stored stays readable");
        }
        assert!(run_id("...").is_ok() && run_id("a.b").is_ok());
    }
}
