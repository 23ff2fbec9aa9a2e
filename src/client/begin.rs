//! Beginning a step: what the store knows of it decides whether there is work to do.

use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use super::{
    context::StepCtx,
    error::Error,
    lease::{Leave, Stop},
    locked,
    session::Session,
    state::State,
};
use crate::domain::{
    AgentError, Code, DecisionKind, Problem,
    rules::begin::BeginOutcome,
    wire::protocol::{BeginAnswer, NextStep},
};

/// What begin said.
pub(super) enum Begun {
    Work(Work),
    Replayed(Settled),
    Given(Given),
    Waiting { seq: i64 },
}

/// An attempt to be made.
pub(super) struct Work {
    pub ctx: StepCtx,
    /// Look first whether it happened.
    pub check: bool,
    _flight: Flight,
}

/// A result that is recorded.
pub(super) struct Settled {
    pub seq: i64,
    pub result: Value,
    pub decision: Option<DecisionKind>,
}

/// A result that an operator gave and that is not in the state yet.
pub(super) struct Given {
    pub settled: Settled,
    pub attempt: i64,
}

/// A step that was begun together with the last commit.
#[derive(Debug)]
pub(super) struct Ahead {
    pub step: NextStep,
    pub answer: BeginAnswer,
    pub flight: Flight,
}

/// Counts a step as in flight, from before it begins until it has ended.
#[derive(Debug)]
pub(super) struct Flight(Arc<AtomicUsize>);

impl Flight {
    pub fn take_off(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count.clone())
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Settled {
    pub fn result<R: DeserializeOwned>(&self) -> Result<R, Error> {
        R::deserialize(&self.result).map_err(Error::shape("the step's recorded result"))
    }
}

impl<S: State> Session<S> {
    /// Begins a step, unless somebody wants the run to stop between two steps.
    pub(super) async fn begin(&self, step: &NextStep) -> Result<Begun, Error> {
        let lease = &self.0.lease;
        let ahead = locked(&self.0.ahead).take_if(|ahead| ahead.step == *step);
        if let Some(Ahead { answer, flight, .. }) = ahead {
            return self.read(step, answer, flight).await;
        }
        if let Some(stop @ Stop::Process) = lease.asked_to_stop() {
            return Err(self.leave(Leave::Free, stop.into()).await);
        }
        let flight = Flight::take_off(&self.0.in_flight);
        let begin = step.clone().at(lease.epoch);
        let answer = lease.call(lease.client.begin(&lease.run, &begin)).await?;
        self.read(step, answer, flight).await
    }

    async fn read(
        &self,
        step: &NextStep,
        answer: BeginAnswer,
        flight: Flight,
    ) -> Result<Begun, Error> {
        let lease = &self.0.lease;
        let (run, seq, key) = (&lease.run, answer.seq, &step.key);
        if let Some(signal) = answer.signal {
            lease.ask_to_stop(Stop::Operator(signal));
        }
        if answer.drift {
            tracing::warn!(%run, step = seq, %key, "drift: another input or reference than before");
        }
        let settled = Settled {
            seq,
            result: answer.result.unwrap_or_default(),
            decision: answer.decision,
        };
        let attempt = answer.attempt.ok_or_else(|| missing("attempt"));
        match answer.outcome {
            BeginOutcome::Execute | BeginOutcome::Check => {
                let provider_key = answer.idempotency_key;
                let provider_key = provider_key.ok_or_else(|| missing("idempotency_key"))?;
                let (lease, key) = (lease.clone(), key.clone());
                tracing::debug!(%run, step = seq, %key, "begun");
                Ok(Begun::Work(Work {
                    ctx: StepCtx::new(lease, key, seq, attempt?, provider_key, answer.partial),
                    check: answer.outcome == BeginOutcome::Check,
                    _flight: flight,
                }))
            }
            BeginOutcome::Replay => {
                let snapshot = answer.snapshot;
                tracing::info!(%run, step = seq, %key, snapshot, "step restored from its checkpoint");
                Ok(Begun::Replayed(settled))
            }
            BeginOutcome::Given => Ok(Begun::Given(Given {
                settled,
                attempt: attempt?,
            })),
            BeginOutcome::Waiting => Ok(Begun::Waiting { seq }),
            BeginOutcome::Failed => {
                let error = answer.error.ok_or_else(|| missing("error"))?;
                Err(Error::Failed(error))
            }
            BeginOutcome::Stop => {
                drop(flight);
                let why = answer.signal.map(Error::Stopped);
                let why = why.unwrap_or_else(|| Error::Held(effect_unknown(&step.name)));
                Err(self.leave(Leave::Free, why).await)
            }
        }
    }
}

/// A step that nobody wants stopped and that is not handed out either waits for an operator.
fn effect_unknown(name: &str) -> AgentError {
    AgentError {
        kind: "effect_unknown".into(),
        message: format!("{name} may have happened or not"),
        stack: None,
    }
}

fn missing(field: &str) -> Problem {
    Problem::new(Code::Internal, format!("the answer to begin lacks {field}"))
}
