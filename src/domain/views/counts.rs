//! How many runs there are of each kind, counted only as far as it matters.

use serde::{Deserialize, Serialize};

use crate::domain::nouns::status::RunStatus;

/// Counting stops here: past it a screen says "1,000+".
pub const COUNT_MAX: i64 = 1_000;

/// Runs by status and by agent, each count at most [`COUNT_MAX`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts {
    pub by_status: Vec<(RunStatus, i64)>,
    pub by_agent: Vec<(String, i64)>,
    /// Runs that a person has to look at, whatever their status.
    #[serde(default)]
    pub in_need: i64,
}

impl Counts {
    pub fn of(&self, status: RunStatus) -> i64 {
        self.by_status
            .iter()
            .find(|(it, _)| *it == status)
            .map_or(0, |(_, n)| *n)
    }

    pub fn needs_you(&self) -> i64 {
        self.in_need
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_without_runs_counts_none() {
        let counts = Counts {
            by_status: vec![(RunStatus::Crashed, 2), (RunStatus::Done, 900)],
            ..Counts::default()
        };
        assert_eq!(counts.of(RunStatus::Crashed), 2);
        assert_eq!(counts.of(RunStatus::Failed), 0);
    }
}
