//! States that were looked at a moment ago, and how they differ: whoever opens one branch will open the next.
//! A snapshot never changes, so nothing here goes stale; it is bounded in bytes of JSON.

use std::sync::Arc;

use super::StateAt;
use crate::{
    domain::{RunId, diff::Delta},
    store::cache::{Cache, bounded, of_entries},
};

const BYTES_MAX: usize = 64 << 20;
const STATES: usize = 256;
const DELTAS: usize = 8;

pub type Pair = (RunId, i64, RunId, i64);

#[derive(Clone)]
pub struct Looked {
    states: Arc<Cache<(RunId, i64), Arc<StateAt>>>,
    deltas: Arc<Cache<Pair, Arc<Delta>>>,
}

impl Default for Looked {
    fn default() -> Self {
        let states = bounded(STATES, BYTES_MAX, |state: &Arc<StateAt>| state.tree.size());
        Self {
            states: Arc::new(states),
            deltas: Arc::new(of_entries(DELTAS)),
        }
    }
}

impl Looked {
    pub fn state(&self, run: &RunId, n: i64) -> Option<Arc<StateAt>> {
        self.states.get(&(run.clone(), n))
    }

    pub fn keep_state(&self, run: RunId, state: Arc<StateAt>) {
        self.states.insert((run, state.snapshot), state);
    }

    pub fn delta(&self, pair: &Pair) -> Option<Arc<Delta>> {
        self.deltas.get(pair)
    }

    pub fn keep_delta(&self, pair: Pair, delta: Arc<Delta>) {
        self.deltas.insert(pair, delta);
    }
}
