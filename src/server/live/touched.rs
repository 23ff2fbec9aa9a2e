//! Which runs and steps events touched.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{Event, RunId};

#[derive(Debug, Default)]
pub struct Touched {
    runs: BTreeMap<RunId, BTreeSet<i64>>,
    moved: bool,
}

impl Touched {
    pub fn add(&mut self, event: &Event) {
        self.moved |= event.kind.moves_run();
        let steps = self.runs.entry(event.run.clone()).or_default();
        steps.extend(event.seq);
    }

    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// A run appeared or changed its status.
    pub fn moved(&self) -> bool {
        self.moved
    }

    pub fn runs(&self) -> impl ExactSizeIterator<Item = &RunId> {
        self.runs.keys()
    }

    /// The steps of a run that was touched.
    pub fn steps(&self, run: &RunId) -> Option<&BTreeSet<i64>> {
        self.runs.get(run)
    }
}
