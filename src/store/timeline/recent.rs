//! Pictures of running runs, shared for a moment by all who look at the same: a hundred open pages cost one.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use crate::domain::{
    RunId,
    views::timeline::{Timeline, TimelineQuery},
};

/// A picture is shared no longer than this; pages ask again later than that.
const SHARED: Duration = Duration::from_secs(1);
const SHARED_MAX: usize = 256;

type Key = (RunId, TimelineQuery);

#[derive(Clone, Default)]
pub struct Recent(Arc<Mutex<HashMap<Key, (Instant, Timeline)>>>);

impl Recent {
    pub fn find(&self, run: &RunId, query: &TimelineQuery) -> Option<Timeline> {
        let known = self.0.lock().ok()?;
        let (at, timeline) = known.get(&(run.clone(), query.clone()))?;
        (at.elapsed() < SHARED).then(|| timeline.clone())
    }

    pub fn keep(&self, run: &RunId, query: &TimelineQuery, timeline: &Timeline) {
        if let Ok(mut known) = self.0.lock() {
            if known.len() >= SHARED_MAX {
                known.retain(|_, (at, _)| at.elapsed() < SHARED);
            }
            let key = (run.clone(), query.clone());
            known.insert(key, (Instant::now(), timeline.clone()));
        }
    }
}
