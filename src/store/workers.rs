//! Workers as people read them: by keyset, the last heard first.

use std::collections::HashMap;

use super::{
    Error, Store,
    engine::{Connection, Row, params},
    rows::{RunRow, run_columns},
};
use crate::domain::{
    Problem, Time,
    nouns::worker::{
        ASKS_MS, Asking, Asks, Hold, REMEMBERED_DAYS, RefusedWrite, Worker, WorkerPage,
    },
    rules::lease::LeaseEnd,
};

/// Leases shown of one worker; more are counted.
const HOLDS_MAX: usize = 10;
/// Rows that a page reads at most beside its workers.
const BESIDE_MAX: i64 = 5_000;

impl Store {
    pub async fn workers(&self, cursor: Option<&str>, limit: i64) -> Result<WorkerPage, Problem> {
        self.read_workers(cursor, limit)
            .await
            .map_err(Error::problem)
    }

    async fn read_workers(&self, cursor: Option<&str>, limit: i64) -> Result<WorkerPage, Error> {
        let (before, name) = match cursor {
            None => (i64::MAX, ""),
            Some(cursor) => cursor
                .split_once(':')
                .and_then(|(at, name)| Some((at.parse().ok()?, name)))
                .ok_or_else(|| {
                    Problem::invalid("cursor", "is not a cursor that this server gave")
                })?,
        };
        let mut conn = self.engine.read().await?;
        let now = conn.now().await?;
        let silent = now.plus_ms(-REMEMBERED_DAYS * 86_400_000);
        let sql = "SELECT name, version, model, heard_at, asked_at, idle_since, \
             (SELECT MAX(l.ended_at) FROM leases l WHERE l.worker = workers.name), \
             (SELECT l.ended_by FROM leases l WHERE l.worker = workers.name AND l.ended_at IS NOT NULL \
             ORDER BY l.ended_at DESC LIMIT 1), \
             refused_at, refused_what, refused_run, refused_code, refused_detail FROM workers WHERE heard_at > $1 \
             AND (heard_at < $2 OR (heard_at = $2 AND name > $3)) ORDER BY heard_at DESC, name LIMIT $4";
        let rows = conn
            .fetch(sql, params![silent, before, name, limit + 1])
            .await?;
        let mut workers = rows
            .into_iter()
            .map(worker)
            .collect::<Result<Vec<_>, _>>()?;
        let more = workers.len() as i64 > limit;
        workers.truncate(limit as usize);
        let next = workers
            .last()
            .filter(|_| more)
            .map(|it| format!("{}:{}", it.heard_at.0, it.name));
        if let (Some(first), Some(last)) = (workers.first(), workers.last()) {
            let between = (last.heard_at, first.heard_at);
            let beside = Beside::read(&mut *conn, between, now).await?;
            workers.iter_mut().for_each(|worker| beside.join(worker));
        }
        Ok(WorkerPage { workers, next, now })
    }

    /// Who asks for this agent's runs.
    pub async fn asking(&self, agent: &str) -> Result<Asking, Problem> {
        let read = async {
            let mut conn = self.engine.read().await?;
            let asks_since = conn.now().await?.plus_ms(-ASKS_MS);
            let sql = "SELECT COUNT(DISTINCT CASE WHEN asked_at > $2 THEN worker END), MAX(asked_at) \
                 FROM worker_agents WHERE agent IN ($1, '')";
            let row = conn.fetch_one(sql, params![agent, asks_since]).await?;
            let mut row = row.ok_or_else(|| Error::damaged("a count is missing"))?;
            Ok(Asking {
                workers: row.int()?,
                last: row.opt_time()?,
            })
        };
        read.await.map_err(Error::problem)
    }
}

fn worker(mut row: Row) -> Result<Worker, Error> {
    let (name, version, model, heard_at) =
        (row.text()?, row.opt_text()?, row.opt_text()?, row.time()?);
    let (asked_at, idle_since, let_go) = (row.opt_time()?, row.opt_time()?, row.opt_time()?);
    // Nothing here vouches for the row of a lease: a word that is none says nothing.
    let by = row.opt_text()?.and_then(|it| it.parse::<LeaseEnd>().ok());
    let asks = match (asked_at, idle_since) {
        (Some(at), Some(asked)) => Some(Asks {
            since: Asks::idle_since(asked, let_go),
            at,
            agents: Vec::new(),
        }),
        _ => None,
    };
    let refused = match (row.opt_time()?, row.opt_text()?, row.opt_word()?) {
        (Some(at), Some(what), Some(run)) => Some(RefusedWrite {
            at,
            what,
            run,
            code: serde_json::from_value(row.text()?.into()).map_err(Error::damaged)?,
            detail: row.opt_text()?.unwrap_or_default(),
        }),
        _ => None,
    };
    Ok(Worker {
        name,
        version,
        model,
        agents: Vec::new(),
        holds: Vec::new(),
        holds_more: 0,
        heard_at,
        asks,
        refused,
        lease_ended: let_go.zip(by),
    })
}

/// What other tables know of a page's workers.
struct Beside {
    /// Agent, and when the worker asked for it.
    agents: HashMap<String, Vec<(String, Option<Time>)>>,
    holds: HashMap<String, Vec<Hold>>,
}

impl Beside {
    async fn read(
        conn: &mut dyn Connection,
        (from, to): (Time, Time),
        now: Time,
    ) -> Result<Self, Error> {
        let mut agents: HashMap<String, Vec<_>> = HashMap::new();
        let sql = "SELECT a.worker, a.agent, a.asked_at FROM worker_agents a JOIN workers w ON w.name = a.worker \
             WHERE w.heard_at BETWEEN $1 AND $2 ORDER BY a.agent LIMIT $3";
        for mut row in conn.fetch(sql, params![from, to, BESIDE_MAX]).await? {
            let worker = row.text()?;
            agents
                .entry(worker)
                .or_default()
                .push((row.text()?, row.opt_time()?));
        }
        let mut holds: HashMap<String, Vec<_>> = HashMap::new();
        let sql = concat!(
            "SELECT ",
            run_columns!(),
            " FROM runs WHERE expires_at > $3 AND worker IN \
             (SELECT name FROM workers WHERE heard_at BETWEEN $1 AND $2) ORDER BY ord LIMIT $4"
        );
        let rows = conn.fetch(sql, params![from, to, now, BESIDE_MAX]).await?;
        for run in RunRow::listed(rows)?.into_iter().filter(|run| !run.damaged) {
            if let (Some(worker), Some(hold)) = (run.worker.clone(), hold(run)) {
                holds.entry(worker).or_default().push(hold);
            }
        }
        Ok(Self { agents, holds })
    }

    fn join(&self, worker: &mut Worker) {
        if let Some((at, LeaseEnd::Release | LeaseEnd::Finish)) = worker.lease_ended {
            // It said so itself.
            worker.heard_at = worker.heard_at.max(at);
        }
        let known = self.agents.get(&worker.name).map_or(&[][..], Vec::as_slice);
        let named = known.iter().filter(|(agent, _)| !agent.is_empty());
        worker.agents = named.clone().map(|(agent, _)| agent.clone()).collect();
        if let Some(asks) = &mut worker.asks {
            // Only agents that its newest requests named: it may have asked for others before.
            let unbroken = asks.at.plus_ms(-ASKS_MS);
            let now = |(_, at): &&(String, Option<Time>)| at.is_some_and(|at| at > unbroken);
            asks.agents = named.filter(now).map(|(agent, _)| agent.clone()).collect();
        }
        if let Some(holds) = self.holds.get(&worker.name) {
            worker.holds = holds.iter().take(HOLDS_MAX).cloned().collect();
            worker.holds_more = holds.len().saturating_sub(HOLDS_MAX) as i64;
            let heard = holds.iter().filter_map(|hold| hold.heartbeat_at).max();
            worker.heard_at = worker.heard_at.max(heard.unwrap_or_default());
        }
    }
}

fn hold(run: RunRow) -> Option<Hold> {
    Some(Hold {
        run: run.id,
        title: run.title,
        agent: run.agent,
        epoch: run.epoch,
        heartbeat_at: run.heartbeat_at,
        expires_at: run.expires_at?,
        at: run.at,
    })
}
