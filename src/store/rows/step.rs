//! The table `steps`.

mod find;
mod listed;
mod write;

pub(in crate::store) use find::steps;
pub use write::{INSERT, SETTLE};

use serde_json::Value;

use super::{
    super::{
        engine::{Connection, Param, Row, params},
        seal::Table,
    },
    opt_text, text,
};
use crate::{
    domain::{
        AgentError, Effect, Epoch, Gate, Hash, Kind, Recovery, Reference, RunId, Step, StepKey,
        StepStatus, Time,
        nouns::{ids::provider_key, run::Link, step::RetryRule},
        rules::{
            begin::{BeginOutcome, Known},
            decision::DecisionKind,
        },
    },
    store::Error,
};

#[derive(Debug, Clone)]
pub struct StepRow {
    pub run: RunId,
    pub seq: i64,
    pub key: StepKey,
    pub name: String,
    pub kind: Kind,
    pub tool: Option<String>,
    pub input_hash: Hash,
    pub effect: Option<Effect>,
    pub recovery: Recovery,
    pub retry: RetryRule,
    pub refs: Vec<Reference>,
    pub status: StepStatus,
    /// How many attempts were made; the number of the newest.
    pub attempts: i64,
    pub failures: i64,
    /// Grows when an operator orders a new key for the outside provider.
    pub generation: i64,
    pub told: BeginOutcome,
    pub epoch: Epoch,
    pub unknown: bool,
    pub given: bool,
    pub decision: Option<DecisionKind>,
    pub snapshot: Option<i64>,
    pub retry_at: Option<Time>,
    pub cost_usd: Option<f64>,
    /// Bytes by which its commit made the state longer.
    pub state_change: Option<i64>,
    pub begun_at: Time,
    pub ended_at: Option<Time>,
    /// Since when the provider may know its key, where that is not since it began.
    pub keyed_at: Option<Time>,
    /// Its row does not match its seal: shown as damaged, never acted on.
    pub damaged: bool,
}

/// What a step holds beside its row: read only where it is shown or answered.
#[derive(Debug, Clone)]
pub struct StepContent {
    pub input: Value,
    pub result: Option<Value>,
    pub error: Option<AgentError>,
    pub gate: Option<Gate>,
    pub links: Vec<Link>,
}

macro_rules! sealed_columns {
    () => {
        "run, seq, key, name, kind, tool, input_hash, effect, recovery, max_attempts, backoff_ms, refs, status, \
         attempts, failures, generation, told, epoch, unknown, given, decision, snapshot, retry_at, \
         cost_usd, state_change, begun_at, ended_at, keyed_at"
    };
}
macro_rules! columns {
    () => {
        concat!($crate::store::rows::step::sealed_columns!(), ", seal")
    };
}
pub(in crate::store) use columns as step_columns;
pub(in crate::store) use sealed_columns;

pub static TABLE: Table = Table {
    name: "steps",
    key: "run, seq",
    columns: sealed_columns!(),
    earlier: &[],
    sealed: &["gate", "links", "error"],
    checked: &["input", "result", "result_hash", "ord"],
};

impl StepRow {
    pub fn read(row: &mut Row) -> Result<Self, Error> {
        row.begin_seal(&TABLE);
        let mut step = Self {
            run: row.word()?,
            seq: row.int()?,
            key: row.text()?.try_into().map_err(Error::Damaged)?,
            name: row.text()?,
            kind: row.word()?,
            tool: row.opt_text()?,
            input_hash: row.hash()?,
            effect: row.opt_json()?,
            recovery: row.word()?,
            retry: RetryRule {
                max_attempts: row.int()?,
                backoff_ms: row.int()?,
            },
            refs: row.json()?,
            status: row.word()?,
            attempts: row.int()?,
            failures: row.int()?,
            generation: row.int()?,
            told: row.word()?,
            epoch: Epoch(row.int()?),
            unknown: row.flag()?,
            given: row.flag()?,
            decision: row.opt_word()?,
            snapshot: row.opt_int()?,
            retry_at: row.opt_time()?,
            cost_usd: row.opt_real()?,
            state_change: row.opt_int()?,
            begun_at: row.time()?,
            ended_at: row.opt_time()?,
            keyed_at: row.opt_time()?,
            damaged: false,
        };
        step.damaged = !row.end_seal()?;
        Ok(step)
    }

    /// What the seal covers, in the order of its columns.
    pub fn values(&self) -> Vec<Param> {
        params![
            self.run.as_str(),
            self.seq,
            self.key.as_str(),
            self.name.as_str(),
            self.kind.as_str(),
            self.tool.as_deref(),
            self.input_hash,
            opt_text(self.effect.as_ref()),
            self.recovery.as_str(),
            self.retry.max_attempts,
            self.retry.backoff_ms,
            text(&self.refs),
            self.status.as_str(),
            self.attempts,
            self.failures,
            self.generation,
            self.told.as_str(),
            self.epoch.0,
            self.unknown,
            self.given,
            self.decision.map(DecisionKind::as_str),
            self.snapshot,
            self.retry_at,
            self.cost_usd,
            self.state_change,
            self.begun_at,
            self.ended_at,
            self.keyed_at,
        ]
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
        let (result, result_hash) = (row.opt_json::<Value>()?, row.opt_hash()?);
        let place = |what| Error::damaged(format!("the {what} of step {} of run {run}", self.seq));
        if result.as_ref().map(Hash::of) != result_hash {
            return Err(place("result"));
        }
        if Hash::of(&input) != self.input_hash {
            return Err(place("input"));
        }
        Ok(StepContent {
            input,
            result,
            error: row.opt_sealed()?,
            gate: row.opt_sealed()?,
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

    /// What it is, or was before someone rewound past it: the rest of its row still tells.
    pub fn was(&self) -> StepStatus {
        use DecisionKind::{Answer, Approve, Commit, Reject, Skip};
        match (self.status, self.decision) {
            (StepStatus::Superseded, Some(Skip)) => StepStatus::Skipped,
            (StepStatus::Superseded, Some(Commit | Approve | Reject | Answer)) => {
                StepStatus::Committed
            }
            (StepStatus::Superseded, _) => match self.snapshot {
                _ if self.unknown => StepStatus::Crashed,
                Some(_) => StepStatus::Committed,
                None if self.kind == Kind::Gate => StepStatus::Waiting,
                None if self.failures > 0 && self.failures == self.attempts => StepStatus::Failed,
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
