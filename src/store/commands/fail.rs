//! An agent says that an attempt failed: try again, stop, or hold it for an operator.

use async_trait::async_trait;
use serde_json::json;

use super::{holds, renew};
use crate::{
    domain::{
        Code, EventKind, Hash, Outcome, Problem, RunId, StepStatus,
        rules::failure::{self, AfterFailure, Failure},
        wire::protocol::{FailAnswer, FailOutcome, FailStep},
    },
    store::{
        Error,
        rows::{AttemptRow, StepRow, attempt},
        tx::Tx,
        writer::Command,
    },
};

pub struct Fail {
    pub run: RunId,
    pub seq: i64,
    pub body: FailStep,
}

#[async_trait]
impl Command for Fail {
    type Answer = FailAnswer;

    async fn apply(&self, tx: &mut Tx) -> Result<FailAnswer, Error> {
        let mut run = tx.run(&self.run).await?;
        let Some(mut attempt) =
            AttemptRow::load(tx.conn(), &run.id, self.seq, self.body.attempt).await?
        else {
            return Err(Problem::not_found("step or attempt").into());
        };
        let body = self.fingerprint();
        if attempt.body == Some(body)
            && let Some(answer) = attempt.answer
        {
            return serde_json::from_value(answer).map_err(Error::damaged);
        }
        if !holds(&run, self.body.epoch) {
            return Err(Problem::lease_lost().into());
        }
        if attempt.outcome != Outcome::Running {
            let detail = format!("attempt {} is over: {}", attempt.attempt, attempt.outcome);
            return Err(Problem::new(Code::AttemptOver, detail).into());
        }
        let step = StepRow::load(tx.conn(), &run.id, self.seq).await?;
        let mut step = step.ok_or_else(|| Error::damaged("an attempt without its step"))?;
        step.failures += 1;
        let after = failure::after(&Failure {
            effect: step.effect.as_ref(),
            said: self.body.effect,
            recovery: step.recovery,
            rule: step.retry,
            retryable: self.body.retryable,
            failures: step.failures,
        });
        step.ended_at = Some(tx.now);
        (step.status, step.retry_at, step.unknown) = match after {
            AfterFailure::Retry { after_ms, check } => {
                (StepStatus::Failed, Some(tx.now.plus_ms(after_ms)), check)
            }
            AfterFailure::Stop => (StepStatus::Failed, None, false),
            AfterFailure::Hold => (StepStatus::Crashed, None, true),
        };
        let cost = self.body.usage.and_then(|usage| usage.cost_usd);
        step.cost_usd = cost
            .map(|cost| cost + step.cost_usd.unwrap_or(0.0))
            .or(step.cost_usd);
        step.update(tx.conn()).await?;
        StepRow::set_error(tx.conn(), &run.id, self.seq, &self.body.error).await?;
        let answer = match after {
            AfterFailure::Retry { after_ms, .. } => FailAnswer {
                outcome: FailOutcome::Retry,
                after_ms: Some(after_ms),
            },
            AfterFailure::Stop | AfterFailure::Hold => FailAnswer {
                outcome: FailOutcome::Stop,
                after_ms: None,
            },
        };
        attempt.outcome = Outcome::Failed;
        attempt.ended_at = Some(tx.now);
        attempt.heartbeat_at = run.heartbeat_at;
        attempt.body = Some(body);
        attempt.usage = self.body.usage;
        attempt.answer = Some(json!(answer));
        let row = attempt.ended(Some(&self.body.error));
        tx.later(&run.id, &attempt::END, row);
        run.spend(self.body.usage.as_ref());
        run.became(&step);
        if run.at.as_ref().is_some_and(|at| at.seq == self.seq) {
            run.error_kind = Some(self.body.error.kind.clone());
        }
        tx.mention(run.ord, &self.body.error.kind);
        tx.mention(run.ord, &self.body.error.message);
        let kind = match after {
            AfterFailure::Hold => EventKind::StepCrashed,
            _ => EventKind::StepFailed,
        };
        let data = json!({
            "attempt": attempt.attempt, "error": self.body.error, "outcome": answer.outcome,
            "after_ms": answer.after_ms, "status": step.status,
        });
        tx.emit(&run.id, Some(self.seq), kind, data);
        tracing::warn!(run = %run.id, step = self.seq, key = %step.key, error = self.body.error.kind, "attempt failed");
        renew(tx, &mut run);
        tx.save(&run);
        Ok(answer)
    }
}

impl Fail {
    fn fingerprint(&self) -> Hash {
        let body = &self.body;
        Hash::of(&json!(["fail", body.error, body.retryable, body.effect]))
    }
}
