//! What becomes of one step: run it again, take this result for it, skip it, answer it.

use serde_json::json;

use super::{Decision, refused};
use crate::{
    domain::{
        DecisionKind, EventKind, Outcome, Problem, StepStatus, rules::decision::allowed,
        wire::protocol::Choice,
    },
    store::{
        Error,
        content::Content,
        engine::params,
        rows::{Announcements, AttemptRow, RunRow, StepRow, announced, attempt, step},
        tx::Tx,
    },
};

/// A step and what was chosen for it.
pub struct Settling {
    pub step: StepRow,
    kind: DecisionKind,
    result: Content,
    new_key: bool,
}

impl Decision {
    pub(super) async fn settling(
        &self,
        tx: &mut Tx,
        run: &RunRow,
        choice: &Choice,
    ) -> Result<Settling, Error> {
        let Some(step) = StepRow::load(tx.conn(), &run.id, choice.step).await? else {
            return Err(
                Problem::not_found(&format!("step: {} has none {}", run.id, choice.step)).into(),
            );
        };
        let live = run.expires_at.is_some();
        allowed(choice.kind, run.status, live, Some(step.status)).map_err(refused)?;
        let result = match choice.kind {
            DecisionKind::Approve | DecisionKind::Reject | DecisionKind::Answer => {
                self.answer(choice.step)?
            }
            _ => self.result(choice.step),
        };
        Ok(Settling {
            step,
            kind: choice.kind,
            result,
            new_key: choice.new_key,
        })
    }

    pub(super) async fn settle(
        &self,
        tx: &mut Tx,
        run: &mut RunRow,
        settling: Vec<Settling>,
    ) -> Result<(), Error> {
        for settling in settling {
            match settling.kind {
                DecisionKind::Retry => retry(tx, run, settling).await?,
                _ => self.give(tx, run, settling).await?,
            }
        }
        Ok(())
    }

    /// The operator's result stands; the agent hears it and folds it in once.
    async fn give(&self, tx: &mut Tx, run: &mut RunRow, given: Settling) -> Result<(), Error> {
        let Settling {
            mut step,
            kind,
            result,
            ..
        } = given;
        let answered = step.status == StepStatus::Waiting;
        let attempt = match answered {
            true => AttemptRow::load(tx.conn(), &run.id, step.seq, step.attempts).await?,
            false => None,
        };
        match attempt {
            Some(mut attempt) => {
                (attempt.outcome, attempt.ended_at) = (Outcome::Given, Some(tx.now));
                tx.later(&run.id, &attempt::END, attempt.ended(None));
            }
            // What crashed or failed stays as it was; the operator's word is an attempt of its own.
            None => {
                step.attempts += 1;
                let row = given_attempt(tx, run, &step, &self.author.name);
                tx.later(&run.id, &attempt::INSERT, row.inserted(None));
            }
        }
        step.status = match kind {
            DecisionKind::Skip => StepStatus::Skipped,
            _ => StepStatus::Committed,
        };
        step.decision = Some(kind);
        step.given = true;
        step.retry_at = None;
        step.ended_at = Some(tx.now);
        if step.status == StepStatus::Committed {
            // A committed effect is known to have happened. A skipped one stays unknown, and a rewind past it names it.
            step.unknown = false;
            run.committed += 1;
        }
        let row = step.settled(&result);
        tx.later(&run.id, &step::SETTLE, row);
        run.became(&step);
        let data = json!({"decision": kind, "attempt": step.attempts, "result": result.hash});
        tx.emit(&run.id, Some(step.seq), EventKind::StepGiven, data);
        Ok(())
    }

    /// The announced step of this number. Numbers go on from the last step that has begun.
    pub(super) async fn announced(&self, tx: &mut Tx, run: &RunRow) -> Result<i64, Error> {
        let nth = self.body.step.unwrap_or_default() - run.steps;
        let pending = Announcements::pending(tx.conn(), &run.id, nth).await?;
        match pending {
            None => Err(Problem::not_found("step: fewer are announced").into()),
            Some((_, true)) => Err(refused("the step is skipped already")),
            Some((idx, false)) => Ok(idx),
        }
    }

    /// Its result is kept until the agent begins it.
    pub(super) async fn skip_announced(
        &self,
        tx: &mut Tx,
        run: &RunRow,
        idx: i64,
    ) -> Result<(), Error> {
        let result = self.result(self.body.step.unwrap_or_default());
        let key = params![run.id.as_str(), idx];
        let skipped = vec![("skipped", result.sealed().into())];
        announced::TABLE.amend(tx.conn(), key, skipped).await?;
        Ok(())
    }
}

/// An attempt that no worker made.
pub fn given_attempt(tx: &Tx, run: &RunRow, step: &StepRow, by: &str) -> AttemptRow {
    AttemptRow {
        run: run.id.clone(),
        seq: step.seq,
        attempt: step.attempts,
        worker: by.to_owned(),
        epoch: run.epoch,
        base: run.snapshot,
        begun_at: tx.now,
        heartbeat_at: None,
        ended_at: None,
        outcome: Outcome::Given,
        body: None,
        answer: None,
        usage: None,
        log_lines: 0,
        idempotency_key: None,
        has_evidence: false,
    }
}

/// The next begin executes the step. With a new key the provider takes it for another request.
async fn retry(tx: &mut Tx, run: &mut RunRow, retried: Settling) -> Result<(), Error> {
    let Settling {
        mut step, new_key, ..
    } = retried;
    step.decision = Some(DecisionKind::Retry);
    step.retry_at = None;
    if new_key {
        step.generation += 1;
        step.keyed_at = Some(tx.now);
        // A new key is ordered by someone who checked that the effect did not happen.
        step.unknown = false;
    }
    step.update(tx.conn()).await?;
    run.became(&step);
    Ok(())
}
