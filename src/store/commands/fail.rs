//! An agent says that an attempt failed: try again, stop, or hold it for an operator.

use async_trait::async_trait;
use serde_json::json;
use std::sync::OnceLock;

use super::{
    HEAVY, holds,
    new_state::{self, Ahead, NewState},
    renew,
};
use crate::{
    aside::{LONG, aside},
    domain::{
        Code, EventKind, Hash, Outcome, Problem, RunId, StepStatus,
        rules::failure::{self, AfterFailure, Failure},
        wire::protocol::{FailAnswer, FailOutcome, FailStep},
    },
    store::{
        Error, Store,
        rows::{AttemptRow, StepRow, attempt},
        tx::Tx,
        writer::Command,
    },
};

pub struct Fail {
    run: RunId,
    seq: i64,
    body: FailStep,
    ready: OnceLock<Ready>,
    ahead: Option<Ahead>,
}

/// What a failure says, as it is compared and written.
struct Ready {
    state: NewState,
    fingerprint: Hash,
}

#[async_trait]
impl Command for Fail {
    type Answer = FailAnswer;

    async fn prepare(&mut self, store: &Store) -> Result<(), Error> {
        let ready = match self.brings(LONG) {
            true => aside(|| self.ready()).await,
            false => return self.ready().state.warm(store, &self.run).await,
        };
        self.ahead = ready.state.made(store, &self.run).await?;
        Ok(())
    }

    fn heavy(&self) -> bool {
        self.brings(HEAVY)
    }

    async fn apply(&self, tx: &mut Tx) -> Result<FailAnswer, Error> {
        let mut run = tx.run(&self.run).await?;
        let Some(mut attempt) =
            AttemptRow::load(tx.conn(), &run.id, self.seq, self.body.attempt).await?
        else {
            return Err(Problem::not_found("step or attempt").into());
        };
        let body = self.ready().fingerprint;
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
        // A patch that does not fit refuses the request before anything else is written.
        let state = &self.ready().state;
        let grown = state
            .append(tx, &mut run, Some(self.seq), self.ahead.as_ref())
            .await?;
        let snapshot = grown.map(|_| run.snapshot);
        step.failures += 1;
        let failure = Failure {
            effect: step.effect.as_ref(),
            said: self.body.effect,
            recovery: step.recovery,
            rule: step.retry,
            retryable: self.body.retryable,
            failures: step.failures,
        };
        let after = failure::after(&failure);
        // What an earlier attempt with this key may have done stays unknown, too.
        step.unknown |= failure.leaves_unknown();
        step.ended_at = Some(tx.now);
        step.snapshot = snapshot.or(step.snapshot);
        step.state_change = grown.or(step.state_change);
        (step.status, step.retry_at) = match after {
            AfterFailure::Retry { after_ms, .. } => {
                (StepStatus::Failed, Some(tx.now.plus_ms(after_ms)))
            }
            AfterFailure::Stop => (StepStatus::Failed, None),
            AfterFailure::Hold => (StepStatus::Crashed, None),
        };
        step.unknown |= after.must_look();
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
                snapshot,
            },
            AfterFailure::Stop | AfterFailure::Hold => FailAnswer {
                outcome: FailOutcome::Stop,
                after_ms: None,
                snapshot,
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
        let mut data = json!({
            "attempt": attempt.attempt, "error": self.body.error, "outcome": answer.outcome,
            "after_ms": answer.after_ms, "status": step.status,
        });
        if let Some(snapshot) = snapshot {
            (data["snapshot"], data["hash"]) = (json!(snapshot), json!(run.hash));
        }
        tx.emit(&run.id, Some(self.seq), kind, data);
        tracing::warn!(run = %run.id, step = self.seq, key = %step.key, error = self.body.error.kind, "attempt failed");
        renew(tx, &mut run);
        tx.save(&run);
        Ok(answer)
    }
}

impl Fail {
    pub fn new(run: RunId, seq: i64, body: FailStep) -> Self {
        Self {
            run,
            seq,
            body,
            ready: OnceLock::new(),
            ahead: None,
        }
    }

    fn brings(&self, bytes: usize) -> bool {
        new_state::is_large(None, self.body.patch.as_deref(), bytes)
    }

    fn ready(&self) -> &Ready {
        self.ready.get_or_init(|| {
            let body = &self.body;
            let state = NewState::of(None, body.patch.as_deref());
            let mut said = vec![
                json!("fail"),
                json!(body.error),
                json!(body.retryable),
                json!(body.effect),
            ];
            // Without a patch the fingerprint is what it was before there were patches, so repeats of old failures still match.
            if body.patch.is_some() {
                said.push(state.fingerprint());
            }
            Ready {
                state,
                fingerprint: Hash::of(&json!(said)),
            }
        })
    }
}
