//! A run in the hands of this worker: its state, its steps, its end.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::{
    future::Future,
    sync::{Arc, Mutex, OnceLock, atomic::AtomicUsize, atomic::Ordering},
    time::{Duration, Instant},
};
use tokio::sync::watch;

use super::{
    begin::Ahead,
    error::Error,
    gate::GateStep,
    heartbeat::Heart,
    http::Client,
    lease::{Lease, Leave, Stop},
    state::{Live, State},
    step::Step,
};
use crate::domain::{
    AgentError, Gate, Kind, RunDetail, RunId,
    wire::protocol::{FinishOutcome, LeaseAnswer},
};

/// A leased run. Clones are handles on the same run and may be used at the same time.
#[derive(Debug)]
pub struct Session<S>(pub(super) Arc<Inner<S>>);

#[derive(Debug)]
pub(super) struct Inner<S> {
    pub lease: Arc<Lease>,
    pub run: RunDetail,
    /// One fold and commit at a time: a patch is made from the state that it is applied to.
    pub live: tokio::sync::Mutex<Live<S>>,
    pub seen: watch::Sender<Arc<S>>,
    /// The step that the last commit has begun in the same breath.
    pub ahead: Mutex<Option<Ahead>>,
    pub in_flight: Arc<AtomicUsize>,
    /// Set once the run is to be released, with the pause until it may go on.
    leaving: OnceLock<Leave>,
    _heart: Heart,
}

impl<S> Clone for Session<S> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<S> Drop for Inner<S> {
    fn drop(&mut self) {
        if !self.lease.over() {
            tracing::warn!(run = %self.lease.run, epoch = %self.lease.epoch,
                "dropped without finish or release; the run is held until its lease runs out");
        }
    }
}

impl<S: State> Session<S> {
    /// Restores the newest checkpoint of a run that was just leased.
    pub(super) async fn start(
        client: &Client,
        answer: LeaseAnswer,
        asked: Instant,
        ttl: Duration,
    ) -> Result<Self, Error> {
        let lease = Arc::new(Lease::take(client, &answer, asked, ttl).await?);
        let heart = Heart::start(&lease);
        let LeaseAnswer {
            run,
            state,
            snapshot,
            ..
        } = answer;
        let live: Live<S> = match Live::restore(state, snapshot) {
            Ok(live) => live,
            Err(error) => {
                // Released, it would be handed out for ever; failed, an operator sees what is wrong.
                let told = error.told();
                lease
                    .finish(FinishOutcome::Failed, Value::Null, Some(told))
                    .await?;
                return Err(error);
            }
        };
        tracing::info!(run = %lease.run, epoch = %lease.epoch, snapshot, "checkpoint restored");
        Ok(Self(Arc::new(Inner {
            lease,
            run,
            seen: watch::Sender::new(live.typed.clone()),
            live: tokio::sync::Mutex::new(live),
            ahead: Mutex::default(),
            in_flight: Arc::default(),
            leaving: OnceLock::new(),
            _heart: heart,
        })))
    }

    pub fn id(&self) -> &RunId {
        &self.0.lease.run
    }

    /// The run as it was when it was leased.
    pub fn run(&self) -> &RunDetail {
        &self.0.run
    }

    /// What the run was created with.
    pub fn input<T: DeserializeOwned>(&self) -> Result<T, Error> {
        T::deserialize(&self.0.run.input).map_err(Error::shape("the run's input"))
    }

    /// The state after the newest commit.
    pub fn state(&self) -> Arc<S> {
        self.0.seen.borrow().clone()
    }

    /// A step named by its idempotency key, unique in the run and the same each time the agent comes by.
    pub fn step<R>(&self, key: impl Into<String>, name: impl Into<String>) -> Step<'_, S, R> {
        Step::new(self, key.into(), name.into())
    }

    /// A step that waits for a person.
    pub fn gate<R: DeserializeOwned>(
        &self,
        key: impl Into<String>,
        name: impl Into<String>,
        gate: Gate,
    ) -> GateStep<'_, S, R> {
        GateStep::new(self, key.into(), name.into(), gate)
    }

    /// Marks the end of a phase.
    pub async fn milestone(
        &self,
        key: impl Into<String>,
        name: impl Into<String>,
    ) -> Result<(), Error> {
        self.step(key, name)
            .kind(Kind::Milestone)
            .run(|_| async { Ok(()) }, |_, ()| ())
            .await
    }

    /// Ends the run well.
    pub async fn finish(&self, result: impl Serialize) -> Result<(), Error> {
        let result = serde_json::to_value(result).map_err(Error::shape("the run's result"))?;
        self.0.lease.finish(FinishOutcome::Done, result, None).await
    }

    /// Ends the run badly: an operator will look at it.
    pub async fn fail(&self, error: AgentError) -> Result<(), Error> {
        self.0
            .lease
            .finish(FinishOutcome::Failed, Value::Null, Some(error))
            .await
    }

    /// Gives the run back as it is, for the next worker.
    pub async fn release(&self) -> Result<(), Error> {
        let leave = *self.0.leaving.get_or_init(|| Leave::Free);
        self.0.lease.release(leave).await
    }

    /// Gives the run back as paused: no worker takes it until an operator resumes it.
    pub async fn pause(&self) -> Result<(), Error> {
        let leave = *self.0.leaving.get_or_init(|| Leave::Paused);
        self.0.lease.release(leave).await
    }

    /// Asks the agent to stop at its next step boundary; that step returns [`Error::Interrupted`].
    pub fn interrupt(&self) {
        self.0.lease.ask_to_stop(Stop::Process);
    }

    /// Waits, unless somebody wants the run to stop first.
    pub(super) async fn wait<T>(&self, wait: impl Future<Output = T>) -> Result<T, Error> {
        let lease = &self.0.lease;
        let waited = lease.hold(async {
            tokio::select! {
                biased;
                stop = lease.stop_asked() => Err(stop),
                done = wait => Ok(done),
            }
        });
        match waited.await? {
            Ok(done) => Ok(done),
            Err(stop) => Err(self.leave(Leave::Free, stop.into()).await),
        }
    }

    /// Releases the run, now or when the last step in flight has ended, and says why.
    pub(super) async fn leave(&self, leave: Leave, why: Error) -> Error {
        let _ = self.0.leaving.set(leave);
        self.let_go().await.err().unwrap_or(why)
    }

    /// Called after each step: the last one out closes the door.
    pub(super) async fn let_go(&self) -> Result<(), Error> {
        match self.0.leaving.get() {
            Some(leave) if self.0.in_flight.load(Ordering::SeqCst) == 0 => {
                self.0.lease.release(*leave).await
            }
            _ => Ok(()),
        }
    }
}
