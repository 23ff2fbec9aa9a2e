//! Saving a checkpoint: a step's result and the state with that result folded in, both or neither.

use serde::Serialize;
use serde_json::Value;

use super::{
    begin::{Ahead, Flight, Given, Work},
    error::{Error, StepError},
    lease::Stop,
    locked,
    session::Session,
    state::State,
};
use crate::domain::wire::protocol::{CommitStep, NextAnswer, NextStep, SaveState, Tag};

impl<S: State> Session<S> {
    /// Commits what the work gave, and begins the step that comes next if that is certain.
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
            tag: None,
            next: then.filter(|_| self.0.lease.asked_to_stop().is_none()),
        };
        let seq = work.ctx.seq();
        match self.save(seq, commit, |state| fold(state, result)).await {
            Ok(()) => {
                drop(work);
                self.let_go().await
            }
            // It cannot be recorded as done, and must not look as if it were still going on.
            Err(Error::Refused(problem)) => {
                let why = StepError::new(problem.code.as_str(), &problem.detail).for_good();
                match self.fail_step(step, work, why).await {
                    Err(held @ Error::Held(_)) => Err(held),
                    _ => Err(Error::Refused(problem)),
                }
            }
            Err(error) => Err(error),
        }
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
            // Also when it changes nothing: this is how the store learns that it was folded in.
            patch: Some(Vec::new()),
            base: None,
            usage: None,
            next: None,
            tag: None,
        };
        self.save(given.settled.seq, commit, fold).await
    }

    /// Saves a checkpoint between two steps, under this name if one is given: [`Client::tags`] finds it again.
    ///
    /// [`Client::tags`]: super::Client::tags
    pub async fn checkpoint(
        &self,
        tag: Option<Tag>,
        fold: impl FnOnce(&mut S),
    ) -> Result<i64, Error> {
        let lease = &self.0.lease;
        let mut live = lease.hold(self.0.live.lock()).await?;
        let mut draft = live.fold(fold)?;
        let state = SaveState {
            epoch: lease.epoch,
            state: None,
            patch: Some(std::mem::take(&mut draft.patch)),
            base: Some(live.snapshot),
            tag,
        };
        let answer = lease.call(lease.client.save(&lease.run, &state)).await?;
        live.settle(draft, answer.snapshot);
        self.0.seen.send_replace(live.typed.clone());
        tracing::info!(run = %lease.run, snapshot = answer.snapshot, "checkpoint saved between steps");
        if let Some(signal) = answer.signal {
            lease.ask_to_stop(Stop::Operator(signal));
        }
        Ok(answer.snapshot)
    }

    /// One at a time, so that each patch is made from the state that it is applied to.
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
        let call = lease.client.commit(&lease.run, seq, &commit);
        let answer = lease.call(call).await?;
        live.settle(draft, answer.snapshot);
        self.0.seen.send_replace(live.typed.clone());
        let (run, attempt, snapshot) = (&lease.run, commit.attempt, answer.snapshot);
        tracing::info!(%run, step = seq, attempt, snapshot, "checkpoint saved");
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
}
