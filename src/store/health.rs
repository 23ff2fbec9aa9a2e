//! Whether writes work: told by the writer, heard by health checks, open pages and the log.
//!
//! The log gets one line for each change, not one for each refused request.

use std::{
    sync::Mutex,
    time::{Duration, Instant},
};
use tokio::sync::watch;

use super::error::Error;
use crate::domain::Trouble;

/// On a full disk small writes may work between larger ones that fail: trouble is over when none failed for this long.
const STEADY: Duration = Duration::from_secs(2);
/// A write that was tried this lately tells whether the next one would work.
const LATELY: Duration = Duration::from_secs(1);

#[derive(Default)]
pub struct Health {
    trouble: watch::Sender<Option<Trouble>>,
    last: Mutex<Last>,
}

#[derive(Default)]
struct Last {
    worked: Option<Instant>,
    failed: Option<Instant>,
}

impl Health {
    pub fn trouble(&self) -> Option<Trouble> {
        *self.trouble.borrow()
    }

    pub fn changes(&self) -> watch::Receiver<Option<Trouble>> {
        self.trouble.subscribe()
    }

    /// What the last write came to, if it was lately.
    pub fn lately(&self) -> Option<Result<(), Error>> {
        let last = self.last.lock().ok()?;
        let lately = |at: Option<Instant>| at.is_some_and(|at| at.elapsed() < LATELY);
        match self.trouble() {
            Some(trouble) => lately(last.failed).then_some(Err(Error::Unwritable(trouble))),
            None => lately(last.worked).then_some(Ok(())),
        }
    }

    /// A write was committed.
    pub fn worked(&self) {
        let Ok(mut last) = self.last.lock() else {
            return;
        };
        last.worked = Some(Instant::now());
        let steady = last.failed.is_none_or(|at| at.elapsed() >= STEADY);
        if steady && self.change(None) {
            tracing::info!("writes work again");
        }
    }

    /// A write was refused because of this.
    pub fn failed(&self, trouble: Trouble, why: &Error) {
        let Ok(mut last) = self.last.lock() else {
            return;
        };
        last.failed = Some(Instant::now());
        metrics::counter!("step47_store_refused_total", "reason" => trouble.as_str()).increment(1);
        if self.change(Some(trouble)) {
            tracing::error!(reason = trouble.as_str(), error = %why, "nothing can be saved: {}", trouble.detail());
        }
    }

    fn change(&self, to: Option<Trouble>) -> bool {
        self.trouble.send_if_modified(|now| {
            let changed = *now != to;
            *now = to;
            changed
        })
    }
}
