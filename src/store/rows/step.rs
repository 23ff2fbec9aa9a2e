//! The table `steps`.

mod find;
pub(in crate::store) mod gate;
mod listed;
mod result;
mod write;

pub(in crate::store) use find::{notable_steps, steps};
pub use result::StoredResult;
pub use write::{INSERT, SETTLE};

use serde_json::Value;

use super::super::{
    engine::{Connection, Row, params},
    table::table,
};
use crate::{
    domain::{
        AgentError, Effect, Epoch, Gate, Hash, Kind, Outcome, Recovery, Reference, RunId, Step,
        StepKey, StepStatus, Time,
        nouns::{ids::provider_key, run::Link, step::RetryRule},
        rules::{
            begin::{BeginOutcome, Known},
            decision::DecisionKind,
        },
    },
    store::Error,
};

table! {
    /// A step as it is stored.
    pub struct StepRow in steps by (run, seq), listed by columns, (copied by statements);

    since 7 {
        run: RunId,                                    once,    given;
        seq: i64,                                      once,    copied;
        key: StepKey,                                  once,    copied;
        name: String,                                  once,    copied;
        kind: Kind,                                    once,    copied;
        tool: Option<String>,                          once,    copied;
        input_hash: Hash,                              once,    copied;
        effect: Option<Effect>,                        once,    copied;
        recovery: Recovery,                            changes, copied;
        retry(max_attempts backoff_ms): RetryRule,     once,    copied;
        refs: Vec<Reference>,                          once,    copied;
        status: StepStatus,                            changes, given;
        /// How many attempts were made; the number of the newest.
        attempts: i64,                                 changes, copied;
        failures: i64,                                 changes, copied;
        /// Grows when an operator orders a new key for the outside provider.
        generation: i64,                               changes, copied;
        told: BeginOutcome,                            changes, copied;
        epoch: Epoch,                                  changes, fresh;
        unknown: bool,                                 changes, copied;
        given: bool,                                   changes, copied;
        decision: Option<DecisionKind>,                later,   copied;
        snapshot: Option<i64>,                         later,   copied;
        retry_at: Option<Time>,                        later,   fresh;
        cost_usd: Option<f64>,                         later,   copied;
        /// Bytes by which its commit made the state longer.
        state_change: Option<i64>,                     later,   copied;
        begun_at: Time,                                once,    copied;
        ended_at: Option<Time>,                        later,   copied;
        /// Since when the provider may know its key, where that is not since it began.
        keyed_at: Option<Time>,                        later,   copied;
    }
    beside {
        input: Text,        checked, copied;
        result: Text,       checked, copied;
        result_hash: Bytes, checked, copied;
        gate: Text,         sealed,  copied;
        links: Text,        sealed,  copied;
        error: Text,        sealed,  copied;
        ord: Int,           checked, given;
    }
    noted {
        /// Its row does not match its seal: shown as damaged, never acted on.
        damaged: bool;
        /// How its last attempt ended, where it was rewound past and its row alone cannot tell.
        last: Option<Outcome>;
    }
}
pub(in crate::store) use columns as step_columns;

/// What a step holds beside its row: read only where it is shown or answered.
#[derive(Debug, Clone)]
pub struct StepContent {
    pub input: Value,
    pub result: Option<Value>,
    pub error: Option<AgentError>,
    pub gate: Option<Gate>,
    pub links: Vec<Link>,
}

impl StepRow {
    pub fn read(row: &mut Row) -> Result<Self, Error> {
        let (mut step, sound) = Self::held(row)?;
        step.damaged = !sound;
        Ok(step)
    }

    pub fn undamaged(self) -> Result<Self, Error> {
        match self.damaged {
            false => Ok(self),
            true => Err(Error::damaged(format!(
                "the row of step {} of run {}",
                self.seq, self.run
            ))),
        }
    }

    /// Input, result, error, gate; a result that does not match its hash is never served.
    pub async fn content(
        &self,
        conn: &mut dyn Connection,
        run: &RunId,
    ) -> Result<StepContent, Error> {
        let sql = "SELECT input, result, result_hash, error, gate, links FROM steps \
             WHERE run = $1 AND seq = $2";
        let row = conn.fetch_one(sql, params![run.as_str(), self.seq]).await?;
        let mut row = row.ok_or_else(|| Error::damaged("a step vanished"))?;
        let input: Value = row.json()?;
        let result = StoredResult::read(&mut row)?.open(run, self.seq)?;
        if Hash::of(&input) != self.input_hash {
            let place = format!("the input of step {} of run {run}", self.seq);
            return Err(Error::damaged(place));
        }
        Ok(StepContent {
            input,
            result,
            error: row.opt_sealed()?,
            gate: gate::read(&mut row)?,
            links: row.sealed()?,
        })
    }

    pub fn known(&self) -> Known<'_> {
        Known {
            name: &self.name,
            status: self.status,
            recovery: self.recovery,
            input: self.input_hash,
            refs: &self.refs,
            retries: self.retry_at.is_some(),
            unknown: self.unknown,
            given: self.given,
            ordered: self.decision == Some(DecisionKind::Retry),
            told: self.told,
            epoch: self.epoch,
        }
    }

    pub fn provider_key(&self, run: &RunId) -> String {
        provider_key(run, self.seq, self.generation)
    }

    /// How many times a worker tried it: a result that an operator gave is an attempt, but no try.
    pub fn tries(&self) -> i64 {
        let by_hand = matches!(
            self.decision,
            Some(DecisionKind::Commit | DecisionKind::Skip)
        );
        match by_hand && self.kind != Kind::Gate && self.attempts > 1 {
            true => self.attempts - 1,
            false => self.attempts,
        }
    }

    /// A step that failed and was rewound past: whether it failed to the end, its row does not say. A failure may have
    /// brought a patch, and so a snapshot, as a commit does.
    fn hides_its_end(&self) -> bool {
        self.status == StepStatus::Superseded && self.failures > 0
    }

    /// What it is, or was before someone rewound past it: the rest of its row still tells, or its last attempt.
    pub fn was(&self) -> StepStatus {
        use DecisionKind::{Answer, Approve, Commit, Reject, Skip};
        match (self.status, self.decision) {
            (StepStatus::Superseded, Some(Skip)) => StepStatus::Skipped,
            (StepStatus::Superseded, Some(Commit | Approve | Reject | Answer)) => {
                StepStatus::Committed
            }
            (StepStatus::Superseded, _) => match self.last {
                _ if self.unknown => StepStatus::Crashed,
                Some(Outcome::Failed) => StepStatus::Failed,
                Some(Outcome::Committed | Outcome::Given) => StepStatus::Committed,
                Some(Outcome::Waiting) => StepStatus::Waiting,
                Some(Outcome::Crashed | Outcome::Running) => StepStatus::Crashed,
                // Its last attempt cannot be read: it may have done anything.
                None if self.hides_its_end() => StepStatus::Crashed,
                None if self.snapshot.is_some() => StepStatus::Committed,
                None if self.kind == Kind::Gate => StepStatus::Waiting,
                None => StepStatus::Crashed,
            },
            (status, _) => status,
        }
    }

    pub fn to_step(&self, run: &RunId) -> Step {
        Step {
            seq: self.seq,
            key: self.key.clone(),
            name: self.name.clone(),
            kind: self.kind,
            tool: self.tool.clone(),
            status: self.status,
            was: (self.status == StepStatus::Superseded).then(|| self.was()),
            effect: self.effect.clone(),
            effect_unknown: self.unknown,
            recovery: self.recovery,
            tries: self.tries(),
            begun_at: self.begun_at,
            ended_at: self.ended_at,
            snapshot: self.snapshot,
            retry_at: self.retry_at,
            decision: self.decision,
            cost_usd: self.cost_usd,
            state_change: self.state_change,
            idempotency_key: self.provider_key(run),
            damaged: self.damaged,
        }
    }
}
