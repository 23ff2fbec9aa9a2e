//! Saying that an attempt failed: what follows is the store's to tell.

use std::time::Duration;

use super::{
    begin::Work,
    error::{Error, StepError},
    session::Session,
    state::State,
};
use crate::domain::{
    Recovery,
    rules::failure::{self, AfterFailure, Failure},
    wire::protocol::{FailOutcome, FailStep, NextStep},
};

impl<S: State> Session<S> {
    /// How long to wait before the next attempt, or why there is none.
    pub(super) async fn fail_step(
        &self,
        step: &NextStep,
        work: Work,
        failed: StepError,
    ) -> Result<Duration, Error> {
        let lease = &self.0.lease;
        let failure = FailStep {
            epoch: lease.epoch,
            attempt: work.ctx.attempt(),
            error: failed.error,
            retryable: failed.retryable,
            effect: failed.effect,
            usage: work.ctx.used(),
            patch: None,
        };
        let seq = work.ctx.seq();
        let call = lease.client.fail(&lease.run, seq, &failure);
        let answer = lease.call(call).await?;
        let (run, key, error) = (&lease.run, &step.key, &failure.error);
        let after_ms = answer.after_ms.unwrap_or(0);
        tracing::warn!(
            %run, step = seq, %key, attempt = failure.attempt, kind = error.kind,
            message = error.message, outcome = ?answer.outcome, after_ms, "attempt failed"
        );
        drop(work);
        self.let_go().await?;
        match answer.outcome {
            FailOutcome::Retry => Ok(Duration::from_millis(after_ms.unsigned_abs())),
            FailOutcome::Stop if held(step, &failure) => Err(Error::Held(failure.error)),
            FailOutcome::Stop => Err(Error::Failed(failure.error)),
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
