//! The table `runs`.

mod content;
mod life;
mod listed;
mod write;

pub use content::{Opened, RunContent, StoredContent};
pub use write::UPDATE;

use std::collections::BTreeMap;

use super::{
    super::{
        engine::{Connection, Param, Row, params},
        seal::Table,
    },
    text,
};
use crate::{
    domain::{
        Epoch, Hash, Run, RunDetail, RunId, RunStatus, Signal, StepStatus, Time, Usage,
        nouns::run::{At, Link, OnCrash, Parent},
        rules::decision::Looking,
        views::strip::Strip,
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
    earlier: &[],
    sealed: &["input", "state_schema", "result", "error"],
    checked: &["needs", "cause"],
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
            heard_at: self.heartbeat_at,
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
        let content = self.stored_content(conn).await?.open()?;
        self.detail_of(conn, content).await
    }

    /// The same with what is known to be in it.
    pub async fn detail_of(
        &self,
        conn: &mut dyn Connection,
        content: RunContent,
    ) -> Result<RunDetail, Error> {
        let RunContent {
            input,
            state_schema,
            result,
            error,
        } = content;
        let plan = super::Announcements::of(conn, self).await?;
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
