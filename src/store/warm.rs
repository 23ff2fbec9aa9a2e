//! Newest states of warm runs, kept at hand and bounded in bytes, so that a patch needs no rebuilding.
//!
//! An entry counts only if the run's row names the same snapshot and hash: another server may have written.

use std::{
    collections::{HashMap, HashSet},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::Mutex,
};

use super::snapshots::Held;
use crate::domain::{Hash, RunId};

/// A tree takes several times its JSON; this bounds the JSON.
const BYTES_MAX: usize = 64 << 20;

/// Terms of one run that are kept; the ones after are not searched for.
const RUN_TERMS_MAX: usize = 200;
/// Terms known of all warm runs together; past it they are forgotten, and written again where they are met again.
const TERMS_MAX: usize = 200_000;

#[derive(Default)]
pub struct Warm(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    states: HashMap<RunId, (Held, u64)>,
    bytes: usize,
    used: u64,
    terms: HashMap<i64, HashSet<u64>>,
    term_count: usize,
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

    /// Whether the run has this term already, or as many as it may.
    pub fn knows_term(&self, ord: i64, term: &str) -> bool {
        let Ok(inner) = self.0.lock() else {
            return false;
        };
        inner
            .terms
            .get(&ord)
            .is_some_and(|known| known.len() >= RUN_TERMS_MAX || known.contains(&fingerprint(term)))
    }

    pub fn learn_terms(&self, terms: HashSet<(i64, String)>) {
        let Ok(mut inner) = self.0.lock() else { return };
        if inner.term_count > TERMS_MAX {
            inner.terms.clear();
            inner.term_count = 0;
        }
        inner.term_count += terms.len();
        for (ord, term) in terms {
            inner
                .terms
                .entry(ord)
                .or_default()
                .insert(fingerprint(&term));
        }
    }
}

fn fingerprint(term: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    term.hash(&mut hasher);
    hasher.finish()
}
