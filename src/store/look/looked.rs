//! States that were looked at a moment ago, and how they differ: whoever opens one branch will open the next.
//! A snapshot never changes, so nothing here goes stale; it is bounded in bytes of JSON.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use super::StateAt;
use crate::domain::{RunId, diff::Delta};

const BYTES_MAX: usize = 64 << 20;
const DELTAS_MAX: usize = 8;

pub type Pair = (RunId, i64, RunId, i64);

/// Newest last.
#[derive(Clone, Default)]
pub struct Looked(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    states: VecDeque<(RunId, Arc<StateAt>)>,
    deltas: VecDeque<(Pair, Arc<Delta>)>,
}

impl Looked {
    pub fn state(&self, run: &RunId, n: i64) -> Option<Arc<StateAt>> {
        let mut inner = self.0.lock().ok()?;
        let at = inner
            .states
            .iter()
            .position(|(of, state)| of == run && state.snapshot == n)?;
        let found = inner.states.remove(at)?;
        let state = found.1.clone();
        inner.states.push_back(found);
        Some(state)
    }

    pub fn keep_state(&self, run: RunId, state: Arc<StateAt>) {
        let Ok(mut inner) = self.0.lock() else { return };
        inner.states.push_back((run, state));
        let bytes = |inner: &Inner| -> usize {
            let sizes = inner.states.iter().map(|(_, state)| state.tree.size());
            sizes.sum()
        };
        while inner.states.len() > 2 && bytes(&inner) > BYTES_MAX {
            inner.states.pop_front();
        }
        while inner.states.len() > 256 {
            inner.states.pop_front();
        }
    }

    pub fn delta(&self, pair: &Pair) -> Option<Arc<Delta>> {
        let inner = self.0.lock().ok()?;
        let found = inner.deltas.iter().find(|(of, _)| of == pair)?;
        Some(found.1.clone())
    }

    pub fn keep_delta(&self, pair: Pair, delta: Arc<Delta>) {
        let Ok(mut inner) = self.0.lock() else { return };
        inner.deltas.push_back((pair, delta));
        if inner.deltas.len() > DELTAS_MAX {
            inner.deltas.pop_front();
        }
    }
}
