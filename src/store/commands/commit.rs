//! An agent commits a step: its result and the new state, in one transaction with the event.

use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::OnceLock;

use super::{
    HEAVY,
    begin::{Brings, begin},
    holds, renew,
};
use crate::{
    aside::{LONG, aside},
    domain::{
        Code, EventKind, Hash, Outcome, Problem, RunId, StepStatus,
        nouns::attempt::Evidence,
        tree::Tree,
        wire::{
            json::is_long,
            patch::Op,
            protocol::{CommitAnswer, CommitStep, NextAnswer},
        },
    },
    store::{
        Error, Store,
        content::Content,
        error::KeptByRefusal,
        rows::{AttemptRow, RunRow, StepRow, attempt, step},
        snapshots::{self, Change, NewestState, Packed},
        tx::Tx,
        writer::Command,
    },
};

/// Bytes of a late result that are kept as evidence.
const EVIDENCE_MAX: usize = 256 << 10;

pub struct Commit {
    run: RunId,
    seq: i64,
    body: CommitStep,
    ready: OnceLock<Ready>,
    ahead: Option<Ahead>,
}

/// What a commit brings, as it is compared and written.
struct Ready {
    /// Commits are compared by attempt, result and state or patch.
    fingerprint: Hash,
    result: Content,
    state: Option<Tree>,
    next: Option<Brings>,
}

/// The new state, made before the transaction from the one that was current then. It counts if that is still current.
struct Ahead {
    base: Hash,
    made: Result<(NewestState, Packed), Problem>,
}

impl Ready {
    fn of(body: &CommitStep) -> Self {
        let state = body.state.clone().map(Tree::from);
        let change = match (&state, &body.patch) {
            (Some(state), _) => json!({"state": state.hash()}),
            (None, Some(patch)) => json!({"patch": patch}),
            (None, None) => Value::Null,
        };
        let result = Content::of(&body.result);
        Self {
            fingerprint: Hash::of(&json!([result.hash, change])),
            result,
            state,
            next: body.next.as_ref().map(Brings::of),
        }
    }
}

#[async_trait]
impl Command for Commit {
    type Answer = CommitAnswer;

    async fn prepare(&mut self, store: &Store) -> Result<(), Error> {
        if !self.brings(LONG) {
            return match self.change() {
                Some(_) => store.warm_up(&self.run).await,
                None => Ok(()),
            };
        }
        let change = aside(|| self.change()).await;
        let (Some(change), Some(mut held)) = (change, store.at_hand(&self.run).await?) else {
            return Ok(());
        };
        let base = held.hash;
        let made = aside(|| held.advance(change, store.state_max)).await;
        let made = match made {
            Ok(packed) => Ok((held, packed)),
            Err(Error::Refused(problem)) => Err(problem),
            Err(error) => return Err(error),
        };
        self.ahead = Some(Ahead { base, made });
        Ok(())
    }

    fn heavy(&self) -> bool {
        self.brings(HEAVY)
    }

    async fn apply(&self, tx: &mut Tx) -> Result<CommitAnswer, Error> {
        let mut run = tx.run(&self.run).await?;
        let Some(attempt) =
            AttemptRow::load(tx.conn(), &run.id, self.seq, self.body.attempt).await?
        else {
            return Err(Problem::not_found("step or attempt").into());
        };
        let body = self.ready().fingerprint;
        if attempt.outcome == Outcome::Committed {
            return match attempt.body == Some(body) {
                true => self.first_answer(tx, attempt).await,
                false => Err(Problem::new(
                    Code::CommitConflict,
                    "this attempt was committed before, with another result or state",
                )
                .into()),
            };
        }
        if !holds(&run, self.body.epoch) {
            self.keep_evidence(tx, &attempt).await?;
            return Err(Error::RefusedBut(
                KeptByRefusal::LateEvidence,
                Problem::lease_lost(),
            ));
        }
        if !matches!(attempt.outcome, Outcome::Running | Outcome::Given) {
            let detail = format!("attempt {} is over: {}", attempt.attempt, attempt.outcome);
            return Err(Problem::new(Code::AttemptOver, detail).into());
        }
        let step = StepRow::load(tx.conn(), &run.id, self.seq).await?;
        let step = step.ok_or_else(|| Error::damaged("an attempt without its step"))?;
        if step.status == StepStatus::Superseded {
            let detail = format!("step {} was rewound past: begin it again", self.seq);
            return Err(Problem::new(Code::AttemptOver, detail).into());
        }
        let change = self.change_state(tx, &mut run, &attempt).await?;
        let answer = self
            .settle(tx, &mut run, (step, attempt), body, change)
            .await?;
        renew(tx, &mut run);
        tx.save(&run);
        Ok(answer)
    }
}

impl Commit {
    pub fn new(run: RunId, seq: i64, body: CommitStep) -> Self {
        Self {
            run,
            seq,
            body,
            ready: OnceLock::new(),
            ahead: None,
        }
    }

    fn ready(&self) -> &Ready {
        self.ready.get_or_init(|| Ready::of(&self.body))
    }

    /// Whether any part of it has so many bytes.
    fn brings(&self, bytes: usize) -> bool {
        let body = &self.body;
        let ops = body.patch.as_deref().unwrap_or_default();
        // Many small operations are as much work as a large one.
        let patch = ops.len() * 64 > bytes
            || ops
                .iter()
                .filter_map(Op::value)
                .any(|it| is_long(it, bytes));
        patch
            || is_long(&body.result, bytes)
            || body.state.as_ref().is_some_and(|it| is_long(it, bytes))
            || body
                .next
                .as_ref()
                .is_some_and(|next| Brings::are_long(next, bytes))
    }

    fn change(&self) -> Option<Change> {
        match (&self.ready().state, &self.body.patch) {
            (Some(state), _) => Some(Change::Whole(state.clone())),
            (None, Some(patch)) => Some(Change::Patch(patch.clone())),
            (None, None) => None,
        }
    }

    /// The next state and its row's body, as they were made before, or made now.
    async fn advanced(
        &self,
        tx: &mut Tx,
        run: &RunRow,
        change: Change,
    ) -> Result<(NewestState, Packed), Error> {
        if let Some(ahead) = self.ahead.as_ref().filter(|it| it.base == run.hash) {
            return Ok(ahead.made.clone()?);
        }
        let mut held = tx.state(run).await?;
        match held.advance(change, tx.state_max) {
            Ok(packed) => Ok((held, packed)),
            Err(error) => {
                // A refused patch leaves the state as it was: it stays at hand.
                tx.hold(&run.id, held);
                Err(error)
            }
        }
    }

    /// Makes the new snapshot, if there is one; answers by how many bytes the state grew.
    async fn change_state(
        &self,
        tx: &mut Tx,
        run: &mut RunRow,
        attempt: &AttemptRow,
    ) -> Result<Option<i64>, Error> {
        let base = self
            .body
            .base
            .or(self.body.state.as_ref().map(|_| attempt.state_base()));
        if let Some(base) = base.filter(|base| *base != run.snapshot) {
            let detail = format!(
                "the state was made from snapshot {base}, but {} is current; fold it in again or send a patch",
                run.snapshot
            );
            return Err(Problem::new(Code::StateConflict, detail)
                .with("base", base)
                .with("snapshot", run.snapshot)
                .into());
        }
        let Some(change) = self.change() else {
            return Ok(None);
        };
        let before = tx.state(run).await?;
        let size = before.tree.size() as i64;
        tx.hold(&run.id, before);
        let (held, packed) = self.advanced(tx, run, change).await?;
        let row = held.row(&run.id, Some(self.seq), tx.now, packed);
        tx.later(&run.id, &snapshots::INSERT, row);
        (run.snapshot, run.hash) = (held.snapshot, held.hash);
        let grown = held.tree.size() as i64 - size;
        tx.hold(&run.id, held);
        Ok(Some(grown))
    }

    async fn settle(
        &self,
        tx: &mut Tx,
        run: &mut RunRow,
        (mut step, mut attempt): (StepRow, AttemptRow),
        body: Hash,
        state_change: Option<i64>,
    ) -> Result<CommitAnswer, Error> {
        let folded = attempt.outcome == Outcome::Given;
        step.ended_at = Some(tx.now);
        step.snapshot = Some(run.snapshot);
        step.state_change = state_change;
        step.given = false;
        step.unknown = false;
        step.retry_at = None;
        let cost = self.body.usage.and_then(|usage| usage.cost_usd);
        step.cost_usd = cost
            .map(|cost| cost + step.cost_usd.unwrap_or(0.0))
            .or(step.cost_usd);
        let ready = self.ready();
        if folded {
            // The result stays the one that the operator gave; the agent's commit brings only the state.
            step.update(tx.conn()).await?;
        } else {
            step.status = StepStatus::Committed;
            let row = step.settled(&ready.result);
            tx.later(&run.id, &step::SETTLE, row);
            run.committed += 1;
            run.busy_us += tx.now.0 - attempt.begun_at.0;
        }
        run.recoveries = 0;
        run.spend(self.body.usage.as_ref());
        run.became(&step);
        let data = json!({
            "attempt": attempt.attempt, "result": ready.result.hash, "snapshot": run.snapshot, "hash": run.hash,
            "usage": self.body.usage,
        });
        tx.emit(&run.id, Some(self.seq), EventKind::StepCommitted, data);
        tracing::info!(
            run = %run.id, step = self.seq, key = %step.key, snapshot = run.snapshot, "checkpoint saved"
        );
        let next = match self.body.next.as_ref().zip(ready.next.as_ref()) {
            None => None,
            Some((next, brings)) => Some(match begin(tx, run, next, brings).await? {
                Ok(begun) => NextAnswer::Begun(Box::new(begun)),
                Err(problem) => NextAnswer::Refused { code: problem.code },
            }),
        };
        let answer = CommitAnswer {
            snapshot: step.snapshot.unwrap_or(0),
            hash: run.hash,
            signal: run.signal,
            next,
        };
        attempt.outcome = Outcome::Committed;
        attempt.ended_at = Some(tx.now);
        attempt.heartbeat_at = run.heartbeat_at;
        attempt.body = Some(body);
        attempt.usage = self.body.usage;
        attempt.answer = Some(serde_json::to_value(lean(&answer)).map_err(Error::damaged)?);
        tx.later(&run.id, &attempt::END, attempt.ended(None));
        Ok(answer)
    }

    async fn first_answer(&self, tx: &mut Tx, attempt: AttemptRow) -> Result<CommitAnswer, Error> {
        let stored = attempt
            .answer
            .ok_or_else(|| Error::damaged("a commit without its answer"))?;
        let mut answer: CommitAnswer = serde_json::from_value(stored).map_err(Error::damaged)?;
        if let Some(NextAnswer::Begun(next)) = &mut answer.next
            && next.snapshot.is_some()
            && let Some(step) = StepRow::load(tx.conn(), &self.run, next.seq).await?
        {
            next.result = Some(
                step.content(tx.conn(), &self.run)
                    .await?
                    .result
                    .unwrap_or_default(),
            );
        }
        Ok(answer)
    }

    /// Keeps the result of a commit that came after its lease had ended, for operators. Only the first one is kept.
    async fn keep_evidence(&self, tx: &mut Tx, attempt: &AttemptRow) -> Result<(), Error> {
        if attempt.has_evidence || attempt.epoch != self.body.epoch {
            return Ok(());
        }
        let given = &self.ready().result;
        let truncated = given.text.len() > EVIDENCE_MAX;
        let evidence = Evidence {
            at: tx.now,
            epoch: self.body.epoch,
            result: if truncated {
                json!({"hash": given.hash})
            } else {
                self.body.result.clone()
            },
            truncated,
        };
        attempt
            .set_evidence(tx.conn(), &self.run, &evidence)
            .await?;
        tracing::warn!(run = %self.run, step = self.seq, epoch = self.body.epoch.0, "late commit kept as evidence");
        let data = json!({"attempt": attempt.attempt, "result": given.hash});
        tx.emit(&self.run, Some(self.seq), EventKind::LateEvidence, data);
        Ok(())
    }
}

/// The answer as it is kept for a repeat: a replayed result is read again from its own step.
fn lean(answer: &CommitAnswer) -> CommitAnswer {
    let mut lean = answer.clone();
    if let Some(NextAnswer::Begun(next)) = &mut lean.next
        && next.snapshot.is_some()
    {
        next.result = None;
    }
    lean
}
