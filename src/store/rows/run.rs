//! The table `runs`.

use serde_json::Value;
use std::collections::BTreeMap;

use super::{
    super::{
        bulk::Bulk,
        engine::{Connection, Param, Row, params},
        seal::Table,
    },
    sealed, text,
};
use crate::{
    domain::{
        AgentError, Epoch, Hash, Run, RunDetail, RunId, RunStatus, Signal, StepStatus, Time, Usage,
        decision::Looking,
        needs::Alike,
        run::{At, Lease, Link, OnCrash, Parent},
        strip::Strip,
    },
    store::Error,
};

#[derive(Debug, Clone)]
pub struct RunRow {
    pub id: RunId,
    pub ord: i64,
    pub agent: String,
    pub title: Option<String>,
    pub status: RunStatus,
    pub version: i64,
    pub code_version: Option<String>,
    pub model: Option<String>,
    pub labels: BTreeMap<String, String>,
    pub links: Vec<Link>,
    pub parent: Option<Parent>,
    pub forked_at: Option<i64>,
    /// H of agent, input and initial state: what a repeated create must agree with.
    pub origin: Hash,
    pub on_crash: OnCrash,
    pub max_recoveries: i64,
    pub recoveries: i64,
    pub runnable_at: Option<Time>,
    pub worker: Option<String>,
    pub epoch: Epoch,
    pub ttl_ms: i64,
    /// There is a live lease iff this is set and lies ahead.
    pub expires_at: Option<Time>,
    pub heartbeat_at: Option<Time>,
    pub signal: Option<Signal>,
    pub snapshot: i64,
    pub hash: Hash,
    pub steps: i64,
    pub committed: i64,
    pub announced: i64,
    pub at: Option<At>,
    pub error_kind: Option<String>,
    pub effects_unknown: bool,
    pub acknowledged: bool,
    pub looking: Option<Looking>,
    /// Time spent in committed steps.
    pub busy_us: i64,
    pub strip: Strip,
    pub usage: Usage,
    pub created_at: Time,
    pub updated_at: Time,
    pub started_at: Option<Time>,
    pub finished_at: Option<Time>,
    /// Its row does not match its seal: shown as damaged, never acted on.
    pub damaged: bool,
}

macro_rules! sealed_columns {
    () => {
        "id, ord, agent, title, status, version, code_version, model, labels, links, parent_run, \
         parent_seq, forked_at, origin, on_crash, max_recoveries, recoveries, runnable_at, worker, epoch, \
         ttl_ms, expires_at, heartbeat_at, signal, snapshot, hash, steps, committed, announced, \
         at_seq, at_name, at_status, error_kind, effects_unknown, acknowledged, looking_by, looking_until, \
         busy_us, strip, input_tokens, output_tokens, cost_usd, created_at, updated_at, \
         started_at, finished_at"
    };
}
macro_rules! columns {
    () => {
        concat!($crate::store::rows::run::sealed_columns!(), ", seal")
    };
}
pub(in crate::store) use columns as run_columns;
pub(in crate::store) use sealed_columns;

pub static TABLE: Table = Table {
    name: "runs",
    key: "id",
    columns: sealed_columns!(),
    sealed: &["input", "state_schema", "result", "error"],
    checked: &["needs", "cause"],
};

pub static UPDATE: Bulk = Bulk {
    before: "UPDATE runs SET status = v.column2, version = v.column3, code_version = v.column4, \
         model = v.column5, recoveries = v.column6, runnable_at = v.column7, worker = v.column8, \
         epoch = v.column9, ttl_ms = v.column10, expires_at = v.column11, heartbeat_at = v.column12, \
         signal = v.column13, snapshot = v.column14, hash = v.column15, steps = v.column16, \
         committed = v.column17, announced = v.column18, at_seq = v.column19, at_name = v.column20, \
         at_status = v.column21, input_tokens = v.column22, output_tokens = v.column23, \
         cost_usd = v.column24, updated_at = v.column25, started_at = v.column26, \
         finished_at = v.column27, error_kind = v.column28, effects_unknown = v.column29, \
         strip = v.column30, needs = v.column31, cause = v.column32, acknowledged = v.column33, \
         looking_by = v.column34, looking_until = v.column35, busy_us = v.column36, \
         seal = v.column37 FROM (VALUES ",
    columns: 37,
    after: ") AS v WHERE runs.id = v.column1",
};

impl RunRow {
    pub fn read(row: &mut Row) -> Result<Self, Error> {
        row.begin_seal(&TABLE);
        let mut run = Self {
            id: row.word()?,
            ord: row.int()?,
            agent: row.text()?,
            title: row.opt_text()?,
            status: row.word()?,
            version: row.int()?,
            code_version: row.opt_text()?,
            model: row.opt_text()?,
            labels: row.json()?,
            links: row.json()?,
            parent: match (row.opt_word()?, row.opt_int()?) {
                (Some(run), Some(seq)) => Some(Parent { run, seq }),
                _ => None,
            },
            forked_at: row.opt_int()?,
            origin: row.hash()?,
            on_crash: row.word()?,
            max_recoveries: row.int()?,
            recoveries: row.int()?,
            runnable_at: row.opt_time()?,
            worker: row.opt_text()?,
            epoch: Epoch(row.int()?),
            ttl_ms: row.int()?,
            expires_at: row.opt_time()?,
            heartbeat_at: row.opt_time()?,
            signal: row.opt_word()?,
            snapshot: row.int()?,
            hash: row.hash()?,
            steps: row.int()?,
            committed: row.int()?,
            announced: row.int()?,
            at: match (
                row.opt_int()?,
                row.opt_text()?,
                row.opt_word::<StepStatus>()?,
            ) {
                (Some(seq), Some(name), Some(status)) => Some(At { seq, name, status }),
                _ => None,
            },
            error_kind: row.opt_text()?,
            effects_unknown: row.flag()?,
            acknowledged: row.flag()?,
            looking: match (row.opt_text()?, row.opt_time()?) {
                (Some(by), Some(until)) => Some(Looking { by, until }),
                _ => None,
            },
            busy_us: row.int()?,
            strip: row.text()?.into(),
            usage: Usage {
                input_tokens: row.opt_int()?,
                output_tokens: row.opt_int()?,
                cost_usd: row.opt_real()?,
            },
            created_at: row.time()?,
            updated_at: row.time()?,
            started_at: row.opt_time()?,
            finished_at: row.opt_time()?,
            damaged: false,
        };
        run.damaged = !row.end_seal()?;
        Ok(run)
    }

    /// What the seal covers, in the order of its columns.
    pub fn values(&self) -> Vec<Param> {
        let at = self.at.as_ref();
        params![
            self.id.as_str(),
            self.ord,
            self.agent.as_str(),
            self.title.as_deref(),
            self.status.as_str(),
            self.version,
            self.code_version.as_deref(),
            self.model.as_deref(),
            text(&self.labels),
            text(&self.links),
            self.parent.as_ref().map(|p| p.run.as_str()),
            self.parent.as_ref().map(|p| p.seq),
            self.forked_at,
            self.origin,
            self.on_crash.as_str(),
            self.max_recoveries,
            self.recoveries,
            self.runnable_at,
            self.worker.as_deref(),
            self.epoch.0,
            self.ttl_ms,
            self.expires_at,
            self.heartbeat_at,
            self.signal.map(Signal::as_str),
            self.snapshot,
            self.hash,
            self.steps,
            self.committed,
            self.announced,
            at.map(|a| a.seq),
            at.map(|a| a.name.as_str()),
            at.map(|a| a.status.as_str()),
            self.error_kind.as_deref(),
            self.effects_unknown,
            self.acknowledged,
            self.looking.as_ref().map(|it| it.by.as_str()),
            self.looking.as_ref().map(|it| it.until),
            self.busy_us,
            String::from(self.strip.clone()),
            self.usage.input_tokens,
            self.usage.output_tokens,
            self.usage.cost_usd,
            self.created_at,
            self.updated_at,
            self.started_at,
            self.finished_at,
        ]
    }

    /// A damaged run is nothing to act on.
    fn sound(self) -> Result<Self, Error> {
        match self.damaged {
            false => Ok(self),
            true => Err(Error::damaged(format!("the row of run {}", self.id))),
        }
    }

    pub async fn load(conn: &mut dyn Connection, id: &RunId) -> Result<Option<Self>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM runs WHERE id = $1");
        let row = conn.fetch_one(sql, params![id.as_str()]).await?;
        row.map(|mut row| Self::read(&mut row)?.sound()).transpose()
    }

    pub async fn insert(
        &self,
        conn: &mut dyn Connection,
        input: &Value,
        state_schema: Option<&Value>,
    ) -> Result<(), Error> {
        let sql = "INSERT INTO runs (id, ord, agent, title, status, version, code_version, model, labels, links, \
             parent_run, parent_seq, input, origin, state_schema, on_crash, max_recoveries, recoveries, epoch, \
             ttl_ms, snapshot, hash, steps, committed, announced, created_at, updated_at, forked_at, seal) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, \
             $20, $21, $22, $23, $24, $25, $26, $27, $28, $29)";
        conn.execute(
            sql,
            params![
                self.id.as_str(),
                self.ord,
                self.agent.as_str(),
                self.title.as_deref(),
                self.status.as_str(),
                self.version,
                self.code_version.as_deref(),
                self.model.as_deref(),
                text(&self.labels),
                text(&self.links),
                self.parent.as_ref().map(|p| p.run.as_str()),
                self.parent.as_ref().map(|p| p.seq),
                sealed(input),
                self.origin,
                state_schema.map(sealed),
                self.on_crash.as_str(),
                self.max_recoveries,
                self.recoveries,
                self.epoch.0,
                self.ttl_ms,
                self.snapshot,
                self.hash,
                self.steps,
                self.committed,
                self.announced,
                self.created_at,
                self.updated_at,
                self.forked_at,
                TABLE.seal(&self.values()),
            ],
        )
        .await?;
        let label = "INSERT INTO run_labels (run, key, value, ord) VALUES ($1, $2, $3, $4)";
        for (key, value) in &self.labels {
            conn.execute(
                label,
                params![self.id.as_str(), key.as_str(), value.as_str(), self.ord],
            )
            .await?;
        }
        Ok(())
    }

    /// What changes in a run's life, for [`UPDATE`]; its origin never does.
    pub fn updated(&self) -> Vec<Param> {
        let at = self.at.as_ref();
        params![
            self.id.as_str(),
            self.status.as_str(),
            self.version,
            self.code_version.as_deref(),
            self.model.as_deref(),
            self.recoveries,
            self.runnable_at,
            self.worker.as_deref(),
            self.epoch.0,
            self.ttl_ms,
            self.expires_at,
            self.heartbeat_at,
            self.signal.map(Signal::as_str),
            self.snapshot,
            self.hash,
            self.steps,
            self.committed,
            self.announced,
            at.map(|a| a.seq),
            at.map(|a| a.name.as_str()),
            at.map(|a| a.status.as_str()),
            self.usage.input_tokens,
            self.usage.output_tokens,
            self.usage.cost_usd,
            self.updated_at,
            self.started_at,
            self.finished_at,
            self.error_kind.as_deref(),
            self.effects_unknown,
            String::from(self.strip.clone()),
            self.needs(),
            self.cause(),
            self.acknowledged,
            self.looking.as_ref().map(|it| it.by.as_str()),
            self.looking.as_ref().map(|it| it.until),
            self.busy_us,
            TABLE.seal(&self.values()),
        ]
    }

    /// Where it stands among the runs that need a person: effects unknown first.
    pub fn needs(&self) -> Option<i64> {
        let needs = self.status.needs_you() && !self.acknowledged;
        needs.then_some(i64::from(!self.effects_unknown))
    }

    pub fn cause(&self) -> Option<String> {
        match self.status {
            RunStatus::Crashed | RunStatus::Failed if !self.acknowledged => {
                Alike::of(&self.to_run()).map(|alike| alike.id())
            }
            _ => None,
        }
    }

    /// The step it is at, which is now this; the error of another attempt is not this one's.
    pub fn is_at(&mut self, step: &super::StepRow) {
        self.at = Some(At {
            seq: step.seq,
            name: step.name.clone(),
            status: step.status,
        });
        self.error_kind = None;
        self.strip.set(step.seq, step.status, step.attempts);
    }

    /// A step that may not be the one it is at.
    pub fn became(&mut self, step: &super::StepRow) {
        if let Some(at) = self.at.as_mut().filter(|at| at.seq == step.seq) {
            at.status = step.status;
        }
        self.strip.set(step.seq, step.status, step.attempts);
    }

    /// The lease, if one is alive at `now`.
    pub fn lease(&self) -> Option<Lease> {
        Some(Lease {
            worker: self.worker.clone()?,
            epoch: self.epoch,
            expires_at: self.expires_at?,
            heartbeat_at: self.heartbeat_at?,
        })
    }

    pub fn overdue(&self, now: Time) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }

    /// Each change of status is a new version of the run.
    pub fn become_status(&mut self, status: RunStatus) {
        if self.status != status {
            self.status = status;
            self.version += 1;
            self.acknowledged = false;
        }
    }

    pub fn spend(&mut self, usage: Option<&Usage>) {
        let Some(usage) = usage else { return };
        add(&mut self.usage.input_tokens, usage.input_tokens);
        add(&mut self.usage.output_tokens, usage.output_tokens);
        add(&mut self.usage.cost_usd, usage.cost_usd);
    }

    pub fn to_run(&self) -> Run {
        Run {
            id: self.id.clone(),
            agent: self.agent.clone(),
            title: self.title.clone(),
            status: self.status,
            version: self.version,
            code_version: self.code_version.clone(),
            model: self.model.clone(),
            labels: self.labels.clone(),
            parent: self.parent.clone(),
            forked_at: self.forked_at,
            lease: self.lease(),
            worker: self.worker.clone(),
            epoch: self.epoch,
            signal: self.signal,
            runnable_at: self.runnable_at,
            snapshot: self.snapshot,
            hash: self.hash,
            steps: self.steps,
            committed: self.committed,
            announced: self.announced,
            at: self.at.clone(),
            error_kind: self.error_kind.clone(),
            effects_unknown: self.effects_unknown,
            acknowledged: self.acknowledged,
            looking: self.looking.clone(),
            strip: self.strip.clone(),
            usage: self.usage,
            created_at: self.created_at,
            updated_at: self.updated_at,
            started_at: self.started_at,
            finished_at: self.finished_at,
            damaged: self.damaged,
        }
    }

    /// The run with what only its own page needs.
    pub async fn detail(&self, conn: &mut dyn Connection) -> Result<RunDetail, Error> {
        let sql = "SELECT input, state_schema, result, error FROM runs WHERE id = $1";
        let row = conn.fetch_one(sql, params![self.id.as_str()]).await?;
        let mut row = row.ok_or_else(|| Error::damaged("a run vanished"))?;
        let (input, state_schema) = (row.sealed()?, row.opt_sealed()?);
        let (result, error) = (row.opt_sealed()?, row.opt_sealed::<AgentError>()?);
        let plan = super::Announcements::of(conn, &self.id).await?;
        Ok(RunDetail {
            run: self.to_run(),
            input,
            state_schema,
            links: self.links.clone(),
            on_crash: self.on_crash,
            max_recoveries: self.max_recoveries,
            recoveries: self.recoveries,
            plan,
            result,
            error,
        })
    }
}

fn add<T: std::ops::Add<Output = T> + Copy>(sum: &mut Option<T>, more: Option<T>) {
    *sum = match (*sum, more) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    };
}
