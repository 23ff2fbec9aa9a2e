//! The writes around a step's work: begin, commit, fail, and folding in what an operator gave.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use super::{
    context::StepCtx,
    error::{Error, StepError},
    lease::Stop,
    locked,
    session::Session,
    state::State,
};
use crate::domain::{
    AgentError, Code, DecisionKind, Problem, Recovery, StepStatus,
    begin::BeginOutcome,
    failure::{self, AfterFailure, Failure},
    protocol::{BeginAnswer, CommitStep, FailOutcome, FailStep, NextAnswer, NextStep},
};

/// How long one look at an open gate lasts.
const GATE_WAIT_MS: i64 = 30_000;

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
    attempt: i64,
}

/// A step that was begun together with the last commit.
#[derive(Debug)]
pub(super) struct Ahead {
    step: NextStep,
    answer: BeginAnswer,
    flight: Flight,
}

/// Counts a step as in flight from before it begins until it has ended.
#[derive(Debug)]
pub(super) struct Flight(Arc<AtomicUsize>);

impl Flight {
    fn take_off(count: &Arc<AtomicUsize>) -> Self {
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
        let (answer, flight) = match self.begun_ahead(step) {
            Some(ahead) => (ahead.answer, ahead.flight),
            None => {
                if let Some(stop @ Stop::Process) = lease.asked_to_stop() {
                    return Err(self.leave(None, stop.into()).await);
                }
                let flight = Flight::take_off(&self.0.in_flight);
                let begin = step.clone().at(lease.epoch);
                let answer = lease.call(lease.client.begin(&lease.run, &begin)).await?;
                (answer, flight)
            }
        };
        self.read(step, answer, flight).await
    }

    fn begun_ahead(&self, step: &NextStep) -> Option<Ahead> {
        locked(&self.0.ahead).take_if(|ahead| ahead.step == *step)
    }

    async fn read(
        &self,
        step: &NextStep,
        answer: BeginAnswer,
        flight: Flight,
    ) -> Result<Begun, Error> {
        let lease = &self.0.lease;
        if let Some(signal) = answer.signal {
            lease.ask_to_stop(Stop::Operator(signal));
        }
        let seq = answer.seq;
        let settled = Settled {
            seq,
            result: answer.result.unwrap_or_default(),
            decision: answer.decision,
        };
        if answer.drift {
            tracing::warn!(run = %lease.run, step = seq, key = %step.key, "drift: begun with another input or reference than before");
        }
        match answer.outcome {
            BeginOutcome::Execute | BeginOutcome::Check => {
                let attempt = answer.attempt.ok_or_else(|| missing("attempt"))?;
                let key = answer
                    .idempotency_key
                    .ok_or_else(|| missing("idempotency_key"))?;
                tracing::debug!(run = %lease.run, step = seq, key = %step.key, attempt, "begun");
                Ok(Begun::Work(Work {
                    ctx: StepCtx::new(
                        lease.clone(),
                        step.key.clone(),
                        seq,
                        attempt,
                        key,
                        answer.partial,
                    ),
                    check: answer.outcome == BeginOutcome::Check,
                    _flight: flight,
                }))
            }
            BeginOutcome::Replay => {
                tracing::info!(run = %lease.run, step = seq, key = %step.key, snapshot = answer.snapshot, "step restored from its checkpoint");
                Ok(Begun::Replayed(settled))
            }
            BeginOutcome::Given => Ok(Begun::Given(Given {
                settled,
                attempt: answer.attempt.ok_or_else(|| missing("attempt"))?,
            })),
            BeginOutcome::Waiting => Ok(Begun::Waiting { seq }),
            BeginOutcome::Failed => {
                Err(Error::Failed(answer.error.ok_or_else(|| missing("error"))?))
            }
            BeginOutcome::Stop => {
                drop(flight);
                let why = match (answer.signal, answer.error) {
                    (Some(signal), _) => Error::Stopped(signal),
                    (None, Some(error)) => Error::Held(error),
                    (None, None) => Error::Held(unknown_effect(&step.name)),
                };
                Err(self.leave(None, why).await)
            }
        }
    }

    /// Commits the result and the state with the result folded in: both or neither.
    pub(super) async fn commit<R: Serialize>(
        &self,
        step: &NextStep,
        work: Work,
        result: &R,
        then: Option<NextStep>,
        fold: impl FnOnce(&mut S, &R),
    ) -> Result<(), Error> {
        let commit = CommitStep {
            epoch: self.0.lease.epoch,
            attempt: work.ctx.attempt(),
            result: serde_json::to_value(result).map_err(Error::shape("the step's result"))?,
            state: None,
            patch: None,
            base: None,
            usage: work.ctx.used(),
            next: then.filter(|_| self.0.lease.asked_to_stop().is_none()),
        };
        let seq = work.ctx.seq();
        let saved = self.save(seq, commit, |state| fold(state, result)).await;
        if let Err(Error::Refused(problem)) = &saved {
            // It cannot be recorded as done, and must not look as if it were still going on.
            let why = StepError::new(problem.code.as_str(), &problem.detail).for_good();
            let _ = self.fail_step(step, work, why).await;
            return saved;
        }
        drop(work);
        self.let_go().await?;
        saved
    }

    /// Puts a result that an operator gave into the state; the result stays the operator's.
    pub(super) async fn fold_in(
        &self,
        given: Given,
        fold: impl FnOnce(&mut S),
    ) -> Result<(), Error> {
        let commit = CommitStep {
            epoch: self.0.lease.epoch,
            attempt: given.attempt,
            result: Value::Null,
            state: None,
            patch: Some(Vec::new()),
            base: None,
            usage: None,
            next: None,
        };
        self.save(given.settled.seq, commit, fold).await
    }

    async fn save(
        &self,
        seq: i64,
        mut commit: CommitStep,
        fold: impl FnOnce(&mut S),
    ) -> Result<(), Error> {
        let lease = &self.0.lease;
        let mut live = lease.hold(self.0.live.lock()).await?;
        let mut draft = live.fold(fold)?;
        if !draft.patch.is_empty() {
            commit.patch = Some(std::mem::take(&mut draft.patch));
            commit.base = Some(live.snapshot);
        }
        let answer = lease
            .call(lease.client.commit(&lease.run, seq, &commit))
            .await?;
        live.settle(draft, answer.snapshot);
        self.0.seen.send_replace(live.typed.clone());
        tracing::info!(run = %lease.run, step = seq, attempt = commit.attempt, snapshot = answer.snapshot, "checkpoint saved");
        if let Some(signal) = answer.signal {
            lease.ask_to_stop(Stop::Operator(signal));
        }
        if let (Some(step), Some(NextAnswer::Begun(answer))) = (commit.next, answer.next) {
            *locked(&self.0.ahead) = Some(Ahead {
                step,
                answer: *answer,
                flight: Flight::take_off(&self.0.in_flight),
            });
        }
        Ok(())
    }

    /// Says that the attempt failed; how long to wait before the next one, or why there is none.
    pub(super) async fn fail_step(
        &self,
        step: &NextStep,
        work: Work,
        failed: StepError,
    ) -> Result<Duration, Error> {
        let lease = &self.0.lease;
        let seq = work.ctx.seq();
        let StepError {
            error,
            retryable,
            effect,
        } = failed;
        let failure = FailStep {
            epoch: lease.epoch,
            attempt: work.ctx.attempt(),
            error: error.clone(),
            retryable,
            effect,
            usage: work.ctx.used(),
        };
        let answer = lease
            .call(lease.client.fail(&lease.run, seq, &failure))
            .await?;
        tracing::warn!(run = %lease.run, step = seq, key = %step.key, attempt = failure.attempt,
            kind = error.kind, message = error.message, after_ms = answer.after_ms, "attempt failed");
        drop(work);
        self.let_go().await?;
        match answer.outcome {
            FailOutcome::Retry => Ok(Duration::from_millis(
                answer.after_ms.unwrap_or(0).max(0) as u64
            )),
            FailOutcome::Stop if held(step, &failure) => Err(Error::Held(error)),
            FailOutcome::Stop => Err(Error::Failed(error)),
        }
    }

    /// Waits until somebody has answered the gate.
    pub(super) async fn answered(&self, seq: i64) -> Result<(), Error> {
        let lease = &self.0.lease;
        tracing::info!(run = %lease.run, step = seq, "waiting for a person");
        loop {
            let look = lease.client.step(&lease.run, seq, GATE_WAIT_MS);
            let step = self.wait(look).await??.step;
            if step.status != StepStatus::Waiting {
                return Ok(());
            }
        }
    }
}

/// Whether an operator will decide about this failure: the same rule that the store follows.
fn held(step: &NextStep, failure: &FailStep) -> bool {
    let effect = step.effect.as_ref();
    let after = failure::after(&Failure {
        effect,
        said: failure.effect,
        recovery: step.recovery.unwrap_or(Recovery::default_for(effect)),
        rule: step.retry.unwrap_or_default(),
        retryable: failure.retryable,
        failures: 1,
    });
    after == AfterFailure::Hold
}

fn unknown_effect(name: &str) -> AgentError {
    AgentError {
        kind: "effect_unknown".into(),
        message: format!("{name} may have happened or not"),
        stack: None,
    }
}

fn missing(field: &str) -> Problem {
    Problem::new(Code::Internal, format!("the answer to begin lacks {field}"))
}
