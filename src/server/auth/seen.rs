//! Which tokens and sessions are in use: kept in memory, and written down for all of them at once, at most once a minute for
//! each. No request waits for it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

use crate::{
    domain::{Hash, nouns::lifetime::Lifetime},
    store::{Store, access::Credential},
};

const LOOK_EVERY: Duration = Duration::from_secs(1);
const WRITE_EVERY: Duration = Duration::from_secs(60);
/// Credentials whose use is kept in memory; the use of more is not noted.
const USED_MAX: usize = 10_000;

struct Use {
    last: Instant,
    written: Option<Instant>,
}

impl Use {
    /// It was used since its last row was written, and that row is a minute old.
    fn is_due(&self, every: Duration) -> bool {
        self.written
            .is_none_or(|at| at < self.last && at.elapsed() >= every)
    }
}

/// Clones share what they saw.
#[derive(Clone, Default)]
pub struct Seen(Arc<Mutex<HashMap<Credential, Use>>>);

impl Seen {
    fn lock(&self) -> MutexGuard<'_, HashMap<Credential, Use>> {
        self.0.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    /// A request came in by this.
    pub fn note(&self, credential: Credential) {
        let mut used = self.lock();
        let last = Instant::now();
        if let Some(known) = used.get_mut(&credential) {
            known.last = last;
        } else if used.len() < USED_MAX {
            let written = None;
            used.insert(credential, Use { last, written });
        }
    }

    /// Writes down what was used, until the server stops and once more then.
    pub async fn remember(self, store: Store, idle: Lifetime, stop: CancellationToken) {
        // A short time-out needs to hear of a session often enough not to take it for idle.
        let idle = Duration::from_millis(idle.0.unsigned_abs());
        let (look, every) = (LOOK_EVERY.min(idle / 8), WRITE_EVERY.min(idle / 4));
        loop {
            let wait = stop.run_until_cancelled(tokio::time::sleep(look));
            let end = wait.await.is_none();
            let due = self.due(if end { Duration::ZERO } else { every });
            if !due.is_empty()
                && let Err(error) = store.saw(due).await
                && error.trouble().is_none()
            {
                tracing::warn!(%error, "when tokens and sessions were used could not be written down");
            }
            if end {
                return;
            }
        }
    }

    /// What is to be written now; what was not used for long is forgotten.
    fn due(&self, every: Duration) -> Vec<(Hash, i64)> {
        let mut used = self.lock();
        let mut due = Vec::new();
        for (credential, it) in used.iter_mut().filter(|(_, it)| it.is_due(every)) {
            let ago = it.last.elapsed().as_millis();
            due.push((credential.hash, ago.try_into().unwrap_or(i64::MAX)));
            it.written = Some(Instant::now());
        }
        used.retain(|_, it| it.last.elapsed() < 2 * WRITE_EVERY);
        due
    }
}
