//! What this server sees of workers, kept in memory and written down at most once a second: several servers share
//! one picture of them through the store, and no commit waits for it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

use crate::{
    domain::{
        Code, Epoch, Problem, RunId,
        wire::protocol::{ClaimRun, LeaseRun},
    },
    store::{
        Command, Error, Store,
        commands::{Granted, RecordSightings, Seen, Sighting, Who},
    },
};

const WRITE_EVERY: Duration = Duration::from_secs(1);
/// Rounds after which those who still wait for work are seen again, and leases are looked through.
const AGAIN: u32 = 5;
/// What is seen beyond this many workers in one round is not remembered.
const SEEN_MAX: usize = 4_096;

#[derive(Clone, Default)]
pub struct Workers(Arc<Mutex<Sightings>>);

#[derive(Default)]
struct Sightings {
    /// The newest one of each worker, and of each lease.
    seen: HashMap<String, (Seen, Instant)>,
    /// Those who wait at this server for work.
    waiting: HashMap<u64, Seen>,
    next: u64,
}

impl Sightings {
    fn note(&mut self, seen: Seen) {
        let about = match &seen {
            Seen::Asked { who, .. } | Seen::Given { who, .. } => format!("worker {}", who.worker),
            Seen::Refused { run, epoch, .. } => format!("lease {run} {}", epoch.0),
        };
        if self.seen.len() < SEEN_MAX || self.seen.contains_key(&about) {
            self.seen.insert(about, (seen, Instant::now()));
        }
    }
}

impl Workers {
    fn lock(&self) -> MutexGuard<'_, Sightings> {
        self.0.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    /// A worker asks for work, for as long as the answer is held.
    pub fn asks(&self, body: &ClaimRun) -> Asking {
        let seen = Seen::Asked {
            who: Who {
                worker: body.worker.clone(),
                version: body.version.clone(),
                model: body.model.clone(),
            },
            agents: body.agents.clone().unwrap_or_default(),
        };
        let mut sightings = self.lock();
        sightings.next += 1;
        let id = sightings.next;
        sightings.note(seen.clone());
        sightings.waiting.insert(id, seen);
        Asking {
            workers: self.clone(),
            id,
        }
    }

    /// A worker was given a run.
    pub fn given(&self, body: &LeaseRun, lease: &Granted) {
        self.was_given(
            Who {
                worker: body.worker.clone(),
                version: body.version.clone(),
                model: body.model.clone(),
            },
            lease,
        );
    }

    fn was_given(&self, who: Who, lease: &Granted) {
        let agent = lease.run.run.agent.clone();
        self.lock().note(Seen::Given { who, agent });
    }

    /// Writes for the holder of a lease, and notes it if that is refused.
    pub async fn write<C: Command>(
        &self,
        store: &Store,
        (run, epoch): (RunId, Epoch),
        what: String,
        command: C,
    ) -> Result<C::Answer, Error> {
        let answer = store.write(command).await;
        if let Err(Error::Refused(problem)) = &answer
            && says_something(problem)
        {
            self.lock().note(Seen::Refused {
                run,
                epoch,
                what,
                code: problem.code,
                detail: problem.detail.clone(),
            });
        }
        answer
    }

    /// Writes down what was seen, until the server stops.
    pub async fn remember(self, store: Store, stop: CancellationToken) {
        let mut round = 0_u32;
        while stop
            .run_until_cancelled(tokio::time::sleep(WRITE_EVERY))
            .await
            .is_some()
        {
            let again = round.is_multiple_of(AGAIN);
            round = round.wrapping_add(1);
            let sightings = self.take(again);
            if sightings.is_empty() && !again {
                continue;
            }
            let remember = RecordSightings {
                sightings,
                census: again,
            };
            if let Err(error) = store.write(remember).await
                && error.trouble().is_none()
            {
                tracing::warn!(%error, "what was seen of workers could not be written down");
            }
        }
    }

    fn take(&self, again: bool) -> Vec<Sighting> {
        let mut sightings = self.lock();
        if again {
            let waiting: Vec<Seen> = sightings.waiting.values().cloned().collect();
            waiting.into_iter().for_each(|seen| sightings.note(seen));
        }
        let seen = std::mem::take(&mut sightings.seen);
        let sighting = |(what, at): (Seen, Instant)| Sighting {
            what,
            ms_ago: at.elapsed().as_millis().try_into().unwrap_or(i64::MAX),
        };
        seen.into_values().map(sighting).collect()
    }
}

/// A refusal that says something of the worker, not of the store or of a mistyped address.
fn says_something(problem: &Problem) -> bool {
    !matches!(
        problem.code,
        Code::Busy | Code::Internal | Code::Corrupt | Code::NotFound
    )
}

/// A worker that waits for work until this is dropped.
pub struct Asking {
    workers: Workers,
    id: u64,
}

impl Asking {
    /// It got a run.
    pub fn given(&self, lease: &Granted) {
        let asked = self.workers.lock().waiting.remove(&self.id);
        if let Some(Seen::Asked { who, .. }) = asked {
            self.workers.was_given(who, lease);
        }
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        let mut sightings = self.workers.lock();
        if let Some(seen) = sightings.waiting.remove(&self.id) {
            sightings.note(seen);
        }
    }
}
