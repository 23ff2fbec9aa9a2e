//! What people and agents read of one run: pages by keyset, never the whole.

use super::{
    Error, Store,
    commands::Reap,
    decisions,
    engine::{Connection, Row, params},
    rows::{
        AttemptRow, RunRow, StepRow,
        event::{EventRow, linked_events},
        read_log,
    },
    snapshots, tags,
};
use crate::domain::{
    Event, Hash, Problem, RunDetail, RunId, StepDetail, Time,
    nouns::{access::Integrity, integrity::AuditHead},
    wire::protocol::{EventPage, SnapshotAnswer, StepPage},
};

impl Store {
    pub async fn run(&self, id: &RunId) -> Result<RunDetail, Problem> {
        self.read_run(id).await.map_err(Error::problem)
    }

    async fn read_run(&self, id: &RunId) -> Result<RunDetail, Error> {
        let (mut conn, run) = self.find(id).await?;
        run.detail(&mut *conn).await
    }

    /// The run, and a connection to read on. The parts of one page find the same row.
    pub(super) async fn find(&self, id: &RunId) -> Result<(Box<dyn Connection>, RunRow), Error> {
        let Some(page) = &self.page else {
            return self.find_now(id).await;
        };
        let mut conn = None;
        let run = page.run(id);
        let read = run.get_or_try_init(async || {
            // The event first: the row is never older than it.
            self.newest_event().await?;
            let (back, run) = self.find_now(id).await?;
            conn = Some(back);
            Ok::<_, Error>(run)
        });
        let run = read.await?.clone();
        let conn = match conn {
            Some(conn) => conn,
            None => self.engine.read().await?,
        };
        Ok((conn, run))
    }

    /// The run as it is now: whoever looks first ends a lease that ran out.
    async fn find_now(&self, id: &RunId) -> Result<(Box<dyn Connection>, RunRow), Error> {
        let mut conn = self.engine.read().await?;
        let run = find(&mut *conn, id).await?;
        if run.expires_at.is_none() || !run.overdue(conn.now().await?) {
            return Ok((conn, run));
        }
        // A reader that waits for the writer holds no connection.
        drop(conn);
        let runs = vec![id.clone()];
        match self.write(Reap { runs }).await {
            // While nothing can be written, a lease that ran out cannot be ended: the run is shown as it is stored.
            Err(error) if error.trouble().is_some() => {}
            done => done?,
        }
        let mut conn = self.engine.read().await?;
        let run = find(&mut *conn, id).await?;
        Ok((conn, run))
    }

    pub async fn steps(&self, run: &RunId, after: i64, limit: i64) -> Result<StepPage, Problem> {
        let read = async {
            let (mut conn, owner) = self.find(run).await?;
            let first = after.clamp(0, owner.steps) + 1;
            let last = owner.steps.min(first + limit - 1);
            let rows = StepRow::between(&mut *conn, run, first, last).await?;
            Ok(StepPage {
                steps: rows.iter().map(|step| step.to_step(run)).collect(),
                next: (last < owner.steps).then_some(last),
            })
        };
        read.await.map_err(Error::problem)
    }

    pub async fn step(&self, run: &RunId, seq: i64) -> Result<StepDetail, Problem> {
        let read = async {
            let (mut conn, owner) = self.find(run).await?;
            if !(1..=owner.steps).contains(&seq) {
                return Err(Problem::not_found("step").into());
            }
            let step = StepRow::load(&mut *conn, run, seq).await?;
            let missing = || Error::damaged(format!("step {seq} of run {run} is missing"));
            let step = step.ok_or_else(missing)?;
            let content = step.content(&mut *conn, run).await?;
            let mut attempts = AttemptRow::of_step(&mut *conn, run, seq).await?;
            for attempt in attempts
                .iter_mut()
                .filter(|a| a.ended_at.is_none() && a.epoch == owner.epoch)
            {
                attempt.heartbeat_at = owner.heartbeat_at;
            }
            Ok(StepDetail {
                step: step.to_step(run),
                input: content.input,
                result: content.result.unwrap_or_default(),
                error: content.error,
                retry: step.retry,
                gate: content.gate,
                refs: step.refs.clone(),
                links: content.links,
                attempts,
                decisions: decisions::about(&mut *conn, run, &step).await?,
                log: read_log(&mut *conn, run, seq).await?,
            })
        };
        read.await.map_err(Error::problem)
    }

    pub async fn snapshot(&self, run: &RunId, n: i64) -> Result<SnapshotAnswer, Problem> {
        let read = async {
            let (mut conn, owner) = self.find(run).await?;
            if !(0..=owner.snapshot).contains(&n) {
                return Err(Problem::not_found("snapshot").into());
            }
            Ok(SnapshotAnswer {
                tags: tags::names(&mut *conn, run, n).await?,
                ..snapshots::read(&mut *conn, run, n).await?
            })
        };
        read.await.map_err(Error::problem)
    }

    pub async fn events(
        &self,
        after: i64,
        run: Option<&RunId>,
        limit: i64,
    ) -> Result<EventPage, Problem> {
        self.read_events(after, run, limit)
            .await
            .map_err(Error::problem)
    }

    pub(super) async fn read_events(
        &self,
        after: i64,
        run: Option<&RunId>,
        limit: i64,
    ) -> Result<EventPage, Error> {
        let mut conn = self.engine.read().await?;
        // Each event comes with the hash of the one before it: the link between them is checked.
        let all = linked_events!("id > $1 ORDER BY id LIMIT $2");
        let of_run = linked_events!("run = $3 AND id > $1 ORDER BY id LIMIT $2");
        let rows = match run {
            None => conn.fetch(all, params![after, limit]).await?,
            Some(run) => {
                conn.fetch(of_run, params![after, limit, run.as_str()])
                    .await?
            }
        };
        let events = rows.into_iter().map(event).collect::<Result<Vec<_>, _>>()?;
        let next = events.last().map_or(after, |event| event.id);
        Ok(EventPage { events, next })
    }

    /// The newest event number.
    pub async fn head(&self) -> Result<i64, Problem> {
        self.newest_event().await.map_err(Error::problem)
    }

    async fn newest_event(&self) -> Result<i64, Error> {
        let read = async || {
            let mut conn = self.engine.read().await?;
            let row = conn
                .fetch_one("SELECT event FROM counter WHERE id = 1", params![])
                .await?;
            row.ok_or_else(|| Error::damaged("the counter row is missing"))?
                .int()
        };
        match &self.page {
            Some(page) => page.head.get_or_try_init(read).await.copied(),
            None => read().await,
        }
    }

    /// The head of the chain after this event.
    pub async fn head_at(&self, event: i64) -> Result<Option<Hash>, Error> {
        let mut conn = self.engine.read().await?;
        let sql = "SELECT hash FROM events WHERE id = $1";
        let row = conn.fetch_one(sql, params![event]).await?;
        row.map(|mut row| row.hash()).transpose()
    }

    /// The event that has this head, if any. Nothing indexes heads: it reads as much as a verification does.
    pub async fn event_of(&self, head: Hash) -> Result<Option<i64>, Error> {
        let mut conn = self.engine.read().await?;
        let sql = "SELECT id FROM events WHERE hash = $1 LIMIT 1";
        let row = conn.fetch_one(sql, params![head]).await?;
        row.map(|mut row| row.int()).transpose()
    }

    /// The engine, the schema, and where the chain of events stands.
    pub async fn integrity(&self) -> Result<Integrity, Problem> {
        let read = async {
            let mut conn = self.engine.read().await?;
            let sql = "SELECT c.event, c.head, c.audit, c.audit_head, m.newest, m.many, e.hash, a.hash FROM counter c \
                 LEFT JOIN events e ON e.id = c.event LEFT JOIN audit a ON a.id = c.audit, \
                 (SELECT MAX(version) AS newest, COUNT(*) AS many FROM _sqlx_migrations WHERE success) m \
                 WHERE c.id = 1";
            let row = conn.fetch_one(sql, params![]).await?;
            let mut row = row.ok_or_else(|| Error::damaged("the counter row is missing"))?;
            let found = Integrity {
                engine: self.engine.name().to_owned(),
                event: row.int()?,
                head: row.hash()?,
                audit: AuditHead {
                    entry: row.int()?,
                    head: row.hash()?,
                },
                schema: row.int()?,
            };
            // Migrations are numbered without gaps.
            if row.int()? != found.schema {
                return Err(Error::damaged("the list of migrations"));
            }
            if row.opt_hash()?.unwrap_or_default() != found.head {
                return Err(Error::damaged("the counter row or the newest event"));
            }
            match row.opt_hash()?.unwrap_or_default() == found.audit.head {
                true => Ok(found),
                false => Err(Error::damaged("the counter row or the newest audit entry")),
            }
        };
        read.await.map_err(Error::problem)
    }

    /// A run that a worker could take now; asked before the writer is.
    pub async fn runnable(&self, agents: Option<&[String]>) -> Result<bool, Error> {
        Ok(self.next_runnable(agents).await?.is_some())
    }

    pub(super) async fn next_runnable(
        &self,
        agents: Option<&[String]>,
    ) -> Result<Option<RunId>, Error> {
        let mut conn = self.engine.read().await?;
        let now = conn.now().await?;
        let oldest = super::commands::oldest(&mut *conn, agents, now, 0).await?;
        Ok(oldest.map(|(_, run)| run))
    }

    /// Ends the leases of these runs that ran out. A damaged one keeps none of the others waiting.
    pub(super) async fn reap(&self, runs: Vec<RunId>) -> Result<(), Error> {
        let one_by_one = match self.write(Reap { runs: runs.clone() }).await {
            Err(error) if error.is_damage() => runs,
            done => return done,
        };
        for run in one_by_one {
            match self.write(Reap { runs: vec![run] }).await {
                Err(error) if error.is_damage() => {
                    tracing::debug!(%error, "the lease of a damaged run is over");
                }
                done => done?,
            }
        }
        Ok(())
    }

    /// Runs whose lease ran out, the longest overdue first.
    pub(super) async fn overdue(&self, now: Time, limit: i64) -> Result<Vec<RunId>, Error> {
        let mut conn = self.engine.read().await?;
        let sql = "SELECT id FROM runs WHERE expires_at IS NOT NULL AND expires_at <= $1 \
             ORDER BY expires_at LIMIT $2";
        let rows = conn.fetch(sql, params![now, limit]).await?;
        rows.into_iter().map(|mut row| row.word()).collect()
    }

    /// Whether a durable sleep ended between these two moments.
    pub(super) async fn woke(&self, after: Time, until: Time) -> Result<bool, Error> {
        let mut conn = self.engine.read().await?;
        let sql = "SELECT id FROM runs WHERE runnable_at IS NOT NULL AND runnable_at > $1 \
             AND runnable_at <= $2 LIMIT 1";
        Ok(conn.fetch_one(sql, params![after, until]).await?.is_some())
    }
}

async fn find(conn: &mut dyn Connection, id: &RunId) -> Result<RunRow, Error> {
    RunRow::load(conn, id)
        .await?
        .ok_or_else(|| Problem::not_found("run").into())
}

/// An event that its hash vouches for.
fn event(mut row: Row) -> Result<Event, Error> {
    let (event, hash) = EventRow::read(&mut row)?;
    let before = row.opt_hash()?.unwrap_or_default();
    match event.link(before) == hash {
        true => Ok(event),
        false => Err(Error::damaged(format!(
            "event {} or the one before it",
            event.id
        ))),
    }
}
