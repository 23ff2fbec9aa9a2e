//! One writing transaction: many commands may share it. Runs are loaded once, changed in memory and written at
//! the end together with their events; states taken from the warm ones go back only when it is committed.
//!
//! A command leaves all that it writes or nothing: see `tx/whole.rs`.

mod counted;
mod whole;

use serde_json::Value;
use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    sync::Arc,
};

use super::{
    bulk::Bulk,
    engine::{CommitError, Connection, Engine, Param, params},
    error::Error,
    lease_end::{self, Said},
    rows::{
        Announcements, Detail, Prints, RunContent, RunParts, RunRow, attempt, audited, event, run,
        step, tag, term,
    },
    snapshots::{self, NewestState},
    warm::Warm,
};
use counted::Counted;
pub use whole::Undone;
use whole::{Mark, Undo};

use crate::domain::{
    Event, EventKind, Hash, Problem, RunId, Time,
    nouns::audit::AuditEntry,
    rules::lease::LeaseEnd,
    tree::StateMax,
    views::terms::{of_worker, terms},
};

/// Terms of one text that are indexed, so that a message of a megabyte does not fill the index.
const TEXT_TERMS_MAX: usize = 24;

/// Rows that are written later by one statement, and how many of the kind were written before.
struct Queue {
    bulk: &'static Bulk,
    rows: Vec<Vec<Param>>,
    written: usize,
}

impl Queue {
    /// Rows that were ever put here.
    fn count(&self) -> usize {
        self.written + self.rows.len()
    }
}

pub struct Tx {
    conn: Counted,
    pub now: Time,
    event: i64,
    head: Hash,
    /// The newest entry of the audit trail, its hash, and entries that are written at the end.
    audited: (i64, Hash),
    audit: Vec<Vec<Param>>,
    events: Vec<(Event, Hash)>,
    runs: HashMap<RunId, (RunRow, bool)>,
    /// Rows that are written at the end, statement by statement, and the runs they belong to.
    rows: [Queue; 6],
    touched: HashSet<RunId>,
    states: HashMap<RunId, NewestState>,
    /// Terms that runs are found by from now on.
    terms: HashSet<(i64, String)>,
    warm: Arc<Warm>,
    pub state_max: StateMax,
    /// Where the command that is being applied began, and how to take back what it changed here since.
    began: Mark,
    undo: Vec<Undo>,
}

impl Tx {
    pub async fn begin(
        engine: &dyn Engine,
        warm: Arc<Warm>,
        state_max: StateMax,
    ) -> Result<Self, Error> {
        let mut conn = Counted::new(engine.write().await?);
        let row = conn
            .fetch_one(
                "SELECT event, head, audit, audit_head FROM counter WHERE id = 1",
                params![],
            )
            .await?;
        let mut row = row.ok_or_else(|| Error::damaged("the counter row is missing"))?;
        Ok(Self {
            now: conn.began(),
            conn,
            event: row.int()?,
            head: row.hash()?,
            audited: (row.int()?, row.hash()?),
            audit: Vec::new(),
            events: Vec::new(),
            runs: HashMap::new(),
            rows: [
                &step::INSERT,
                &attempt::INSERT,
                &snapshots::INSERT,
                &tag::INSERT,
                &step::SETTLE,
                &attempt::END,
            ]
            .map(|bulk| Queue {
                bulk,
                rows: Vec::new(),
                written: 0,
            }),
            touched: HashSet::new(),
            states: HashMap::new(),
            terms: HashSet::new(),
            warm,
            state_max,
            began: Mark::default(),
            undo: Vec::new(),
        })
    }

    /// A statement that is executed by it counts as a write of the command that is being applied.
    pub fn conn(&mut self) -> &mut dyn Connection {
        &mut self.conn
    }

    /// A run as it is now: a lease that ran out has ended, whoever looks first.
    pub async fn run(&mut self, id: &RunId) -> Result<RunRow, Error> {
        self.find_run(id)
            .await?
            .ok_or_else(|| Problem::not_found("run").into())
    }

    pub async fn find_run(&mut self, id: &RunId) -> Result<Option<RunRow>, Error> {
        if self.touched.contains(id) {
            // An earlier command of this group wrote rows of this run: statements must see them.
            self.flush_rows().await?;
        }
        match self.stored_run(id).await? {
            Some(mut run) if run.overdue(self.now) => {
                let first = self.has_written_nothing();
                lease_end::end(self, &mut run, LeaseEnd::Expiry, Said::default()).await?;
                self.save(&run);
                if first {
                    self.begin_here();
                }
                Ok(Some(run))
            }
            known => Ok(known),
        }
    }

    /// A run as it is stored, also with a lease that ran out.
    pub async fn stored_run(&mut self, id: &RunId) -> Result<Option<RunRow>, Error> {
        match self.runs.get(id) {
            Some((row, _)) => Ok(Some(row.clone())),
            None => RunRow::load(&mut self.conn, id).await,
        }
    }

    /// Keeps a changed run; it is written when the transaction ends.
    pub fn save(&mut self, run: &RunRow) {
        let before = self.runs.insert(run.id.clone(), (run.clone(), true));
        self.undo
            .push(Undo::Run(run.id.clone(), before.map(Box::new)));
    }

    /// Writes a row at the end of the transaction, or before the next command on the same run.
    pub fn later(&mut self, run: &RunId, bulk: &'static Bulk, row: Vec<Param>) {
        self.touched.insert(run.clone());
        let mut queues = self.rows.iter_mut();
        if let Some(queue) = queues.find(|it| std::ptr::eq(it.bulk, bulk)) {
            queue.rows.push(row);
        }
    }

    /// New rows before changes of rows, steps before their attempts.
    pub async fn flush_rows(&mut self) -> Result<(), Error> {
        for queue in &mut self.rows {
            let rows = std::mem::take(&mut queue.rows);
            queue.written += rows.len();
            queue.bulk.execute(self.conn.for_the_group(), rows).await?;
        }
        self.touched.clear();
        Ok(())
    }

    /// Writes changed runs now, for statements that look at the table.
    pub async fn flush_runs(&mut self) -> Result<(), Error> {
        let changed = self.runs.values_mut().filter(|(_, dirty)| *dirty);
        let rows = changed.map(|(run, dirty)| {
            *dirty = false;
            run.updated()
        });
        let rows: Vec<_> = rows.collect();
        match self.has_saved() {
            true => run::UPDATE.execute(&mut self.conn, rows).await?,
            // All of them were changed by earlier commands of the group.
            false => run::UPDATE.execute(self.conn.for_the_group(), rows).await?,
        }
        Ok(())
    }

    /// The run's newest state; give it back with [`Tx::hold`].
    pub async fn state(&mut self, run: &RunRow) -> Result<NewestState, Error> {
        self.remember_state(&run.id, Some(run.hash));
        if let Entry::Occupied(held) = self.states.entry(run.id.clone())
            && held.get().hash == run.hash
        {
            return Ok(held.remove());
        }
        match self.warm.take(&run.id, run.snapshot, run.hash) {
            Some(held) => Ok(held),
            None if self.touched.contains(&run.id) => {
                self.flush_rows().await?;
                snapshots::load(&mut self.conn, &run.id, run.snapshot, run.hash).await
            }
            None => snapshots::load(&mut self.conn, &run.id, run.snapshot, run.hash).await,
        }
    }

    /// The run with what only its own page needs.
    pub async fn detail(&mut self, run: &RunRow) -> Result<Detail, Error> {
        Ok(self.parts(run).await?.of(run))
    }

    /// What only the run's own page needs.
    pub async fn parts(&mut self, run: &RunRow) -> Result<RunParts, Error> {
        let content = self.content(run).await?;
        let plan = Announcements::of(&mut self.conn, run).await?;
        Ok(RunParts { content, plan })
    }

    /// The run's input, schema, result and error: as they were opened before the transaction, if what is stored is the
    /// same by its hashes. Megabytes are then neither read nor copied here.
    pub async fn content(&mut self, run: &RunRow) -> Result<RunContent, Error> {
        if let Some(known) = self.warm.content(&run.id) {
            let now = Prints::of(&mut self.conn, &run.id).await?;
            if let Some(content) = known.still(&now) {
                return Ok(content);
            }
        }
        run.stored_content(&mut self.conn).await?.open()
    }

    pub fn hold(&mut self, run: &RunId, held: NewestState) {
        self.remember_state(run, None);
        self.states.insert(run.clone(), held);
    }

    /// The run of this place in the list is found by the words of `text`. What is known of a warm run costs nothing.
    pub fn mention(&mut self, ord: i64, text: &str) {
        // Read no further than the words that count.
        let end = text.char_indices().nth(1_000).map_or(text.len(), |it| it.0);
        for term in terms(&text[..end]).into_iter().take(TEXT_TERMS_MAX) {
            self.found_by(ord, term);
        }
    }

    /// The run of this place in the list is found by the name of a worker that began a step of it.
    pub fn mention_worker(&mut self, ord: i64, name: &str) {
        self.found_by(ord, of_worker(name));
    }

    fn found_by(&mut self, ord: i64, term: String) {
        if !self.warm.knows_term(ord, &term) && self.terms.insert((ord, term.clone())) {
            self.undo.push(Undo::Term((ord, term)));
        }
    }

    /// The next number of the one counter: orders runs and decisions too.
    pub fn next_event(&self) -> i64 {
        self.event + 1
    }

    /// The number of the newest event of a run, with what earlier commands of the group are about to write.
    pub async fn newest_event(&mut self, run: &RunId) -> Result<i64, Error> {
        let mut latest = self.events.iter().rev();
        match latest.find(|(event, _)| event.run == *run) {
            Some((event, _)) => Ok(event.id),
            None => newest_event(&mut self.conn, run).await,
        }
    }

    pub fn emit(&mut self, run: &RunId, seq: Option<i64>, kind: EventKind, data: Value) {
        self.event += 1;
        let event = Event {
            id: self.event,
            run: run.clone(),
            seq,
            kind,
            at: self.now,
            data,
        };
        self.head = event.link(self.head);
        self.events.push((event, self.head));
    }

    /// Adds to the audit trail; number and time are given here.
    pub fn audit(&mut self, mut entry: AuditEntry) {
        let (last, head) = self.audited;
        (entry.id, entry.at) = (last + 1, self.now);
        self.audited = (entry.id, entry.link(head));
        let values = audited::AuditRow::from(entry).values();
        self.audit
            .push(audited::INSERT.link(values, self.audited.1));
    }

    /// Writes what is pending and commits; answers the newest event number.
    pub async fn commit(mut self) -> Result<i64, CommitError> {
        if let Err(error) = self.flush().await {
            self.rollback().await;
            return Err(CommitError::RolledBack(error));
        }
        self.conn.into_inner().commit().await?;
        for (run, held) in self.states {
            self.warm.put(run, held);
        }
        self.warm.learn_terms(self.terms);
        Ok(self.event)
    }

    pub async fn rollback(self) {
        self.conn.into_inner().rollback().await;
    }

    async fn flush(&mut self) -> Result<(), Error> {
        self.flush_rows().await?;
        self.flush_runs().await?;
        let rows = self
            .terms
            .iter()
            .map(|(ord, term)| term::INSERT.row(params![*ord, term.as_str()], params![]));
        term::INSERT.execute(&mut self.conn, rows.collect()).await?;
        if !self.audit.is_empty() {
            audited::INSERT
                .execute(&mut self.conn, std::mem::take(&mut self.audit))
                .await?;
            let sql = "UPDATE counter SET audit = $1, audit_head = $2 WHERE id = 1";
            let (last, head) = self.audited;
            self.conn.execute(sql, params![last, head]).await?;
        }
        if self.events.is_empty() {
            return Ok(());
        }
        let rows = self.events.drain(..).map(|(event, hash)| {
            let values = event::EventRow::from(event).values();
            event::INSERT.link(values, hash)
        });
        event::INSERT
            .execute(&mut self.conn, rows.collect())
            .await?;
        let sql = "UPDATE counter SET event = $1, head = $2 WHERE id = 1";
        self.conn
            .execute(sql, params![self.event, self.head])
            .await?;
        Ok(())
    }
}

/// The number of the newest event of a run: what was read before it and what is read after it is the same as long as
/// it stays, because everything that happens to a run's steps is an event.
pub async fn newest_event(conn: &mut dyn Connection, run: &RunId) -> Result<i64, Error> {
    let sql = "SELECT MAX(id) FROM events WHERE run = $1";
    let row = conn.fetch_one(sql, params![run.as_str()]).await?;
    let newest = row.map(|mut row| row.opt_int()).transpose()?;
    Ok(newest.flatten().unwrap_or(0))
}
