//! An agent commits a step: its result and the new state, in one transaction with the event.

use async_trait::async_trait;
use serde_json::json;
use std::sync::OnceLock;

use super::{
    HEAVY,
    begin::{AtHand, Brings, begin},
    holds,
    new_state::{self, Ahead, NewState},
    renew, tagged,
};
use crate::{
    aside::{LONG, aside},
    domain::{
        Code, EventKind, Hash, Outcome, Problem, RunId, StepStatus,
        nouns::attempt::Evidence,
        wire::{
            json::is_long,
            protocol::{CommitAnswer, CommitStep, NextAnswer, NextStep},
        },
    },
    store::{
        Error, Store,
        content::Content,
        error::KeptByRefusal,
        rows::{AttemptRow, RunRow, StepRow, attempt, step},
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
    /// Of the fused `next`.
    at_hand: AtHand,
}

/// What a commit brings, as it is compared and written.
struct Ready {
    /// Commits are compared by attempt, result and state or patch.
    fingerprint: Hash,
    result: Content,
    state: NewState,
    next: Option<Brings>,
}

impl Ready {
    fn of(body: &CommitStep) -> Self {
        let state = NewState::of(body.state.as_ref(), body.patch.as_deref());
        let result = Content::of(&body.result);
        let mut said = vec![json!(result.hash), state.fingerprint()];
        // Without a tag the fingerprint is what it was before there were tags, so repeats of old commits still match.
        said.extend(body.tag.as_ref().map(|tag| json!(tag)));
        Self {
            fingerprint: Hash::of(&json!(said)),
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
        self.at_hand.prepare(store, &self.run).await?;
        let ready = match self.brings(LONG) {
            true => aside(|| self.ready()).await,
            false => return self.ready().state.warm(store, &self.run).await,
        };
        self.ahead = ready.state.made(store, &self.run).await?;
        Ok(())
    }

    fn heavy(&self) -> bool {
        self.brings(HEAVY) || self.at_hand.is_heavy()
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
                true => self.first_answer(tx, run, attempt).await,
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
        tagged::free(tx, &run, self.body.tag.as_ref()).await?;
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
            at_hand: AtHand::default(),
        }
    }

    fn ready(&self) -> &Ready {
        self.ready.get_or_init(|| Ready::of(&self.body))
    }

    /// Whether any part of it has so many bytes.
    fn brings(&self, bytes: usize) -> bool {
        let body = &self.body;
        new_state::is_large(body.state.as_ref(), body.patch.as_deref(), bytes)
            || is_long(&body.result, bytes)
            || body
                .next
                .as_ref()
                .is_some_and(|next| Brings::are_long(next, bytes))
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
        new_state::on_current(run, base)?;
        let state = &self.ready().state;
        state
            .append(tx, run, Some(self.seq), self.ahead.as_ref())
            .await
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
        // A skip says nothing about the attempt before it: that stays unknown when the agent folds the result in.
        step.unknown &= step.status == StepStatus::Skipped;
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
        let mut data = json!({
            "attempt": attempt.attempt, "result": ready.result.hash, "snapshot": run.snapshot, "hash": run.hash,
            "usage": self.body.usage,
        });
        let tag = self.body.tag.as_ref();
        tagged::name(tx, run, (tag, Some(self.seq), body), &mut data);
        tx.emit(&run.id, Some(self.seq), EventKind::StepCommitted, data);
        tracing::info!(
            run = %run.id, step = self.seq, key = %step.key, snapshot = run.snapshot, "checkpoint saved"
        );
        let mut answer = CommitAnswer {
            snapshot: step.snapshot.unwrap_or(0),
            hash: run.hash,
            signal: run.signal,
            next: None,
        };
        // Kept for a repeat: whether the next step may begin is then asked anew.
        attempt.answer = Some(serde_json::to_value(&answer).map_err(Error::damaged)?);
        let names_itself = |next: &NextStep| next.key == step.key;
        if self.body.next.as_ref().is_some_and(names_itself) {
            // It must not find itself still running.
            tx.flush_rows().await?;
        }
        answer.next = self.begin_next(tx, run).await?;
        attempt.outcome = Outcome::Committed;
        attempt.ended_at = Some(tx.now);
        attempt.heartbeat_at = run.heartbeat_at;
        attempt.body = Some(body);
        attempt.usage = self.body.usage;
        tx.later(&run.id, &attempt::END, attempt.ended(None));
        Ok(answer)
    }

    /// The step that follows, under the lease that the run has now. A refusal leaves the commit standing.
    async fn begin_next(&self, tx: &mut Tx, run: &mut RunRow) -> Result<Option<NextAnswer>, Error> {
        let ready = self.ready();
        let Some((next, brings)) = self.body.next.as_ref().zip(ready.next.as_ref()) else {
            return Ok(None);
        };
        if !holds(run, self.body.epoch) {
            let code = Code::LeaseLost;
            return Ok(Some(NextAnswer::Refused { code }));
        }
        let begun = begin(tx, run, next, (brings, &self.at_hand)).await?;
        Ok(Some(match begun {
            Ok(begun) => NextAnswer::Begun(Box::new(begun)),
            Err(problem) => NextAnswer::Refused { code: problem.code },
        }))
    }

    /// The same answer again, but for what may follow: an old worker must not be told to execute what another one did since.
    async fn first_answer(
        &self,
        tx: &mut Tx,
        mut run: RunRow,
        attempt: AttemptRow,
    ) -> Result<CommitAnswer, Error> {
        let stored = attempt
            .answer
            .ok_or_else(|| Error::damaged("a commit without its answer"))?;
        let first: CommitAnswer = serde_json::from_value(stored).map_err(Error::damaged)?;
        let next = self.begin_next(tx, &mut run).await?;
        if matches!(next, Some(NextAnswer::Begun(_))) {
            renew(tx, &mut run);
            tx.save(&run);
        }
        Ok(CommitAnswer {
            signal: run.signal,
            next,
            ..first
        })
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
