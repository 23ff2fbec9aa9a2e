//! The table `runs`.

mod content;
mod detail;
mod life;
mod listed;
mod write;

pub use content::{Opened, Prints, RunContent, StoredContent};
pub use detail::{Detail, RunParts};
pub use write::UPDATE;

use std::collections::BTreeMap;

use super::super::{
    engine::{Connection, Row, params},
    table::table,
};
use crate::{
    domain::{
        Epoch, Hash, Run, RunDetail, RunId, RunStatus, Signal, Time, Usage,
        nouns::run::{At, Link, OnCrash, Parent},
        rules::decision::Looking,
        views::strip::Strip,
    },
    store::Error,
};

table! {
    /// A run as it is stored.
    pub struct RunRow in runs by (id), listed by columns, (made from NewRun);

    since 7 {
        id: RunId,                                        once,    given;
        ord: i64,                                         once,    given;
        agent: String,                                    once,    copied;
        title: Option<String>,                            once,    copied;
        status: RunStatus,                                changes, given;
        version: i64,                                     changes, given;
        code_version: Option<String>,                     changes, copied;
        model: Option<String>,                            changes, copied;
        labels: BTreeMap<String, String>,                 once,    copied;
        links: Vec<Link>,                                 once,    copied;
        parent(parent_run parent_seq): Option<Parent>,    once,    given;
        forked_at: Option<i64>,                           once,    given;
        /// H of agent, input and initial state: what a repeated create must agree with.
        origin: Hash,                                     once,    copied;
        on_crash: OnCrash,                                once,    copied;
        max_recoveries: i64,                              once,    copied;
        recoveries: i64,                                  changes, fresh;
        runnable_at: Option<Time>,                        later,   fresh;
        worker: Option<String>,                           later,   fresh;
        epoch: Epoch,                                     changes, fresh;
        ttl_ms: i64,                                      changes, fresh;
        /// There is a live lease iff this is set and lies ahead.
        expires_at: Option<Time>,                         later,   fresh;
        heartbeat_at: Option<Time>,                       later,   fresh;
        signal: Option<Signal>,                           later,   fresh;
        snapshot: i64,                                    changes, given;
        hash: Hash,                                       changes, given;
        steps: i64,                                       changes, given;
        committed: i64,                                   changes, fresh;
        announced: i64,                                   changes, fresh;
        at(at_seq at_name at_status): Option<At>,         later,   fresh;
        error_kind: Option<String>,                       later,   fresh;
        effects_unknown: bool,                            changes, fresh;
        acknowledged: bool,                               changes, fresh;
        looking(looking_by looking_until): Option<Looking>, later, fresh;
        /// Time spent in committed steps.
        busy_us: i64,                                     changes, fresh;
        strip: Strip,                                     changes, fresh;
        usage(input_tokens output_tokens cost_usd): Usage, later,  fresh;
        created_at: Time,                                 once,    given;
        updated_at: Time,                                 changes, given;
        started_at: Option<Time>,                         later,   fresh;
        finished_at: Option<Time>,                        later,   fresh;
    }
    since 10 {
        /// Time between leases, in which nobody held it.
        unheld_us: Option<i64>,                           later,   fresh;
    }
    beside {
        needs: Int,         checked, fresh;
        cause: Text,        checked, fresh;
        input: Text,        sealed,  given;
        state_schema: Text, sealed,  given;
        result: Text,       sealed,  fresh;
        error: Text,        sealed,  fresh;
    }
    noted {
        /// Its row does not match its seal: shown as damaged, never acted on.
        damaged: bool;
    }
}
pub(in crate::store) use columns as run_columns;

impl RunRow {
    pub fn read(row: &mut Row) -> Result<Self, Error> {
        let (mut run, sound) = Self::held(row)?;
        run.damaged = !sound;
        Ok(run)
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
            unheld_us: self.unheld_us.unwrap_or(0),
            damaged: self.damaged,
        }
    }

    /// The run with what only its own page needs.
    pub async fn detail(&self, conn: &mut dyn Connection) -> Result<RunDetail, Error> {
        let content = self.stored_content(conn).await?.open()?;
        self.detail_of(conn, content).await.map(RunDetail::from)
    }

    /// The same with what is known to be in it.
    pub async fn detail_of(
        &self,
        conn: &mut dyn Connection,
        content: RunContent,
    ) -> Result<Detail, Error> {
        let plan = super::Announcements::of(conn, self).await?;
        Ok(RunParts { content, plan }.of(self))
    }
}
