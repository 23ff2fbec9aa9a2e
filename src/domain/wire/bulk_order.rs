//! One order for several runs, and what came of it for each.

use serde::{Deserialize, Serialize};

use crate::domain::{nouns::ids::RunId, rules::decision::DecisionKind};

/// Pause or cancel, each run as it was seen: with the version that the order is based on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ordered {
    pub kind: DecisionKind,
    pub reason: String,
    pub runs: Vec<(RunId, i64)>,
    /// Sent again with the same key, it changes nothing more and gets the first answers.
    #[serde(default)]
    pub key: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    pub run: RunId,
    /// Why not, if not.
    pub refused: Option<String>,
}
