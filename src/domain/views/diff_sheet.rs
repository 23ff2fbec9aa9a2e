//! Two states beside each other as a page shows them, and which two are asked for.

use serde::{Deserialize, Serialize};

use crate::domain::{
    diff::rows::{RowPage, Totals},
    nouns::{ids::RunId, time::Time},
    rules::decision::EditMark,
    wire::{problem::Problem, protocol::Check},
};

/// Which two states: of one run, or `to` of another.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "ssr", into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub struct DiffQuery {
    /// A snapshot of the run; the one before `to` if absent, the newest if `to` is of another run.
    #[serde(default)]
    pub from: Option<i64>,
    /// The newest if absent.
    #[serde(default)]
    pub to: Option<i64>,
    /// The run that `to` belongs to, if it is another.
    #[serde(default)]
    pub other: Option<RunId>,
}

impl Check for DiffQuery {
    fn check(&self) -> Result<(), Problem> {
        for (name, n) in [("from", self.from), ("to", self.to)] {
            if n.is_some_and(|n| n < 0) {
                return Err(Problem::invalid(name, "a snapshot's number is 0 or more"));
            }
        }
        Ok(())
    }
}

/// One of the two states, without what it holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Side {
    pub run: RunId,
    pub snapshot: i64,
    /// The newest snapshot of its run.
    pub newest: i64,
    /// The step that committed it; the initial state and a person's edit have none.
    pub seq: Option<i64>,
    pub step: Option<String>,
    pub at: Time,
    pub bytes: i64,
}

/// A page of what differs between two states.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DiffSheet {
    pub from: Side,
    pub to: Side,
    pub totals: Totals,
    pub page: RowPage,
    /// `to` is the state that the step in question committed, not one before it.
    pub own: bool,
    /// The change by hand that `to` shows, or that followed what the step committed.
    #[serde(default)]
    pub edit: Option<EditMark>,
}

impl DiffSheet {
    pub fn equal(&self) -> bool {
        self.totals == Totals::default()
    }
}
