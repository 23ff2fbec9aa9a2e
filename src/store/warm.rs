//! Newest states of warm runs, kept at hand and bounded in bytes, so that a patch needs no rebuilding.
//!
//! An entry counts only if the run's row names the same snapshot and hash: another server may have written.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::{Arc, Mutex},
};

use super::{
    cache::{Cache, bounded},
    rows::Opened,
    snapshots::NewestState,
};
use crate::domain::{Hash, RunId};

/// Bytes of JSON of all states; a tree takes several times its JSON in memory.
const BYTES_MAX: usize = 64 << 20;

/// Bytes in memory of what else is large in runs.
const CONTENT_MAX: usize = 128 << 20;
const CONTENTS: usize = 1_024;

/// Terms of one run that are kept; the ones after are not searched for.
const RUN_TERMS_MAX: usize = 200;
/// Terms known of all warm runs together; past it they are forgotten, and written again where they are met again.
const TERMS_MAX: usize = 200_000;

pub struct Warm {
    inner: Mutex<Inner>,
    /// Runs with large inputs or results, as they were opened.
    contents: Cache<RunId, Arc<Opened>>,
}

impl Default for Warm {
    fn default() -> Self {
        let bytes = |opened: &Arc<Opened>| opened.bytes();
        Self {
            inner: Mutex::default(),
            contents: bounded(CONTENTS, CONTENT_MAX, bytes),
        }
    }
}

#[derive(Default)]
struct Inner {
    states: HashMap<RunId, (NewestState, u64)>,
    /// Runs by when their state was last put here: the first one goes first.
    order: BTreeMap<u64, RunId>,
    bytes: usize,
    used: u64,
    terms: HashMap<i64, HashSet<u64>>,
    term_count: usize,
}

impl Warm {
    pub fn take(&self, run: &RunId, snapshot: i64, hash: Hash) -> Option<NewestState> {
        let held = self.inner.lock().ok()?.remove(run)?;
        (held.snapshot == snapshot && held.hash == hash).then_some(held)
    }

    /// A copy, which leaves the original at hand.
    pub fn peek(&self, run: &RunId, snapshot: i64, hash: Hash) -> Option<NewestState> {
        let inner = self.inner.lock().ok()?;
        let (held, _) = inner.states.get(run)?;
        (held.snapshot == snapshot && held.hash == hash).then(|| held.clone())
    }

    /// What is in a run, if it is large and was opened lately.
    pub fn content(&self, run: &RunId) -> Option<Arc<Opened>> {
        self.contents.get(run)
    }

    pub fn keep_content(&self, run: &RunId, opened: Opened) {
        self.contents.insert(run.clone(), Arc::new(opened));
    }

    /// What is stored of it now is damaged, so the good copy is not handed out either.
    pub fn forget_content(&self, run: &RunId) {
        self.contents.remove(run);
    }

    /// Which snapshot of the run is at hand, and the size of its state.
    pub fn newest(&self, run: &RunId) -> Option<((i64, Hash), usize)> {
        let inner = self.inner.lock().ok()?;
        let (held, _) = inner.states.get(run)?;
        Some(((held.snapshot, held.hash), held.bytes()))
    }

    /// Keeps a state that a reader read, unless the writer has put that one or a newer one here.
    pub fn put_newer(&self, run: &RunId, read: &NewestState) {
        let known = self.newest(run);
        let outdated = |((snapshot, hash), _): ((i64, Hash), usize)| match snapshot == read.snapshot
        {
            // The same number with another hash: the store was put back to an earlier day.
            true => hash != read.hash,
            false => snapshot < read.snapshot,
        };
        if known.is_none_or(outdated) {
            self.put(run.clone(), read.clone());
        }
    }

    pub fn put(&self, run: RunId, held: NewestState) {
        let Ok(mut inner) = self.inner.lock() else {
            return;
        };
        inner.remove(&run);
        inner.used += 1;
        let used = inner.used;
        inner.bytes += held.bytes();
        inner.order.insert(used, run.clone());
        inner.states.insert(run, (held, used));
        while inner.bytes > BYTES_MAX && inner.states.len() > 1 {
            let Some((_, oldest)) = inner.order.pop_first() else {
                return;
            };
            inner.remove(&oldest);
        }
    }

    /// Whether the run has this term already, or as many as it may.
    pub fn knows_term(&self, ord: i64, term: &str) -> bool {
        let Ok(inner) = self.inner.lock() else {
            return false;
        };
        inner
            .terms
            .get(&ord)
            .is_some_and(|known| known.len() >= RUN_TERMS_MAX || known.contains(&fingerprint(term)))
    }

    pub fn learn_terms(&self, terms: HashSet<(i64, String)>) {
        let Ok(mut inner) = self.inner.lock() else {
            return;
        };
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

impl Inner {
    fn remove(&mut self, run: &RunId) -> Option<NewestState> {
        let (held, used) = self.states.remove(run)?;
        self.order.remove(&used);
        self.bytes -= held.bytes();
        Some(held)
    }
}

fn fingerprint(term: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    term.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{domain::tree::StateMax, store::snapshots::Change};
    use serde_json::json;

    fn held(bytes: usize) -> NewestState {
        let state = json!({"text": "x".repeat(bytes)});
        NewestState::initial(state.into()).unwrap().0
    }

    #[test]
    fn states_are_bounded_in_bytes_and_the_oldest_goes_first() {
        let warm = Warm::default();
        let runs: Vec<RunId> = (0..9)
            .map(|i| format!("run-{i}").parse().unwrap())
            .collect();
        for run in &runs {
            warm.put(run.clone(), held(BYTES_MAX / 8));
        }
        let kept = |run: &RunId| {
            let known = held(BYTES_MAX / 8);
            warm.take(run, 0, known.hash).is_some()
        };
        assert!(warm.inner.lock().unwrap().bytes <= BYTES_MAX);
        assert!(!kept(&runs[0]) && kept(&runs[8]));
        assert!(warm.take(&runs[8], 0, Hash::default()).is_none());
    }

    /// Another server has written: what lies here is outdated, and the writer would have to read the state.
    #[test]
    fn a_state_that_was_read_takes_the_place_of_an_older_one_and_never_of_a_newer_one() {
        let warm = Warm::default();
        let run: RunId = "run".parse().unwrap();
        let max = StateMax {
            bytes: BYTES_MAX,
            values: 100,
        };
        let first = held(1);
        let mut second = first.clone();
        let state = json!({"text": "second"});
        second.advance(Change::Whole(state.into()), max).unwrap();

        warm.put_newer(&run, &first);
        warm.put_newer(&run, &second);
        assert_eq!(warm.newest(&run).map(|it| it.0), Some((1, second.hash)));
        warm.put_newer(&run, &first);
        assert_eq!(warm.newest(&run).map(|it| it.0), Some((1, second.hash)));

        let mut other = first.clone();
        let state = json!({"text": "other"});
        other.advance(Change::Whole(state.into()), max).unwrap();
        warm.put_newer(&run, &other);
        assert_eq!(warm.newest(&run).map(|it| it.0), Some((1, other.hash)));
        assert!(warm.take(&run, 1, other.hash).is_some());
    }
}
