//! Newest states of warm runs, kept at hand and bounded in bytes, so that a patch needs no rebuilding.
//!
//! An entry counts only if the run's row names the same snapshot and hash: another server may have written.

use std::{collections::HashMap, sync::Mutex};

use super::snapshots::Held;
use crate::domain::{Hash, RunId};

/// A tree takes several times its JSON; this bounds the JSON.
const BYTES_MAX: usize = 64 << 20;

#[derive(Default)]
pub struct Warm(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    states: HashMap<RunId, (Held, u64)>,
    bytes: usize,
    used: u64,
}

impl Warm {
    pub fn take(&self, run: &RunId, snapshot: i64, hash: Hash) -> Option<Held> {
        let mut inner = self.0.lock().ok()?;
        let (held, _) = inner.states.remove(run)?;
        inner.bytes -= held.tree.size();
        (held.snapshot == snapshot && held.hash == hash).then_some(held)
    }

    pub fn put(&self, run: RunId, held: Held) {
        let Ok(mut inner) = self.0.lock() else { return };
        inner.used += 1;
        let used = inner.used;
        inner.bytes += held.tree.size();
        if let Some((old, _)) = inner.states.insert(run, (held, used)) {
            inner.bytes -= old.tree.size();
        }
        while inner.bytes > BYTES_MAX && inner.states.len() > 1 {
            let Some(oldest) = inner.states.iter().min_by_key(|(_, (_, used))| *used) else {
                return;
            };
            let oldest = oldest.0.clone();
            if let Some((old, _)) = inner.states.remove(&oldest) {
                inner.bytes -= old.tree.size();
            }
        }
    }
}
