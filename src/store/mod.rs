//! The checkpoint store: two engines behind one interface, picked by URL.
//!
//! Writes go through one writer that groups them; reads take any connection. SQL lives only here.

pub mod access;
pub mod audit;
mod bulk;
mod cache;
pub mod commands;
mod content;
mod decisions;
mod driver;
mod ended_leases;
pub mod engine;
pub mod error;
pub mod follow;
mod fresh;
mod health;
mod inbox;
mod json_schema;
mod lease_end;
mod lent;
mod listed_words;
mod lists;
mod look;
mod migrations;
mod noted;
mod page_reads;
mod plan;
mod postgres;
mod reads;
mod retention;
mod rows;
mod seal;
mod snapshots;
mod sqlite;
mod steps;
mod store_url;
mod table;
mod tables;
mod tags;
mod timeline;
mod tx;
mod undone;
pub mod verify;
mod warm;
mod workers;
mod writer;

use std::{path::PathBuf, sync::Arc};
use tokio::sync::watch;

pub use error::Error;
pub use store_url::redacted;
pub use writer::Command;

use crate::{
    aside::{LONG, aside, aside_with},
    domain::{
        Hash, RunId, Time, Trouble,
        nouns::lifetime::Lifetime,
        tree::StateMax,
        wire::protocol::{STATE_MAX, VALUES_MAX},
    },
};
use engine::{Engine, params};
use health::Health;
use page_reads::PageReads;
use rows::{Opened, RunContent, RunRow, StoredContent};
use snapshots::NewestState;
use warm::Warm;
use writer::Writer;

/// How often a command is prepared while others change what it is prepared from.
const PREPARED_MAX: usize = 5;

/// What was read, unless it is damaged: what is prepared from it is then left to the command, which refuses.
fn sound<T>(read: Result<T, Error>) -> Result<Option<T>, Error> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) if error.is_damage() => Ok(None),
        Err(error) => Err(error),
    }
}

/// A handle on the store; clones share it.
#[derive(Clone)]
pub struct Store {
    engine: Arc<dyn Engine>,
    writer: Writer,
    health: Arc<Health>,
    warm: Arc<Warm>,
    state_max: StateMax,
    schemas: json_schema::Checker,
    /// The newest event number that this process knows of.
    head: watch::Receiver<i64>,
    wake: watch::Sender<i64>,
    recent: timeline::Recent,
    looked: look::Looked,
    whole: verify::Whole,
    repeats: audit::Repeats,
    /// A session that nothing was heard of for so long is over.
    session_idle: Lifetime,
    page: Option<Arc<PageReads>>,
}

impl Store {
    /// Opens and migrates: `sqlite:step47.db` or `postgres://…` picks the engine.
    pub async fn open(url: &str) -> Result<Self, Error> {
        let store = Self::connect(url, STATE_MAX).await?;
        store.migrate().await?;
        Ok(store)
    }

    /// The file of an embedded store, if it is not there: to open it would make a new one.
    pub fn missing(url: &str) -> Result<Option<PathBuf>, Error> {
        match url.split_once(':') {
            Some(("sqlite", _)) => sqlite::missing(url),
            _ => Ok(None),
        }
    }

    /// Opens without migrating.
    pub async fn connect(url: &str, state_bytes_max: usize) -> Result<Self, Error> {
        let state_max = StateMax {
            bytes: state_bytes_max,
            values: VALUES_MAX,
        };
        Self::connect_within(url, state_max).await
    }

    /// The same, with both limits of a state.
    pub async fn connect_within(url: &str, state_max: StateMax) -> Result<Self, Error> {
        let engine: Arc<dyn Engine> = match url.split_once(':') {
            Some(("sqlite", _)) => Arc::new(sqlite::SqliteEngine::open(url).await?),
            Some(("postgres" | "postgresql", _)) => {
                Arc::new(postgres::PostgresEngine::open(url).await?)
            }
            _ => {
                return Err(Error::Setup(format!(
                    "the store's URL begins with {:?}: use sqlite:FILE or postgres://USER@HOST/DATABASE",
                    // No more of it: a password may follow.
                    url.split([':', '/', '@']).next().unwrap_or_default()
                )));
            }
        };
        let (wake, head) = watch::channel(0);
        let health = Arc::new(Health::default());
        let warm = Arc::<Warm>::default();
        let writer = Writer::start(
            engine.clone(),
            wake.clone(),
            health.clone(),
            warm.clone(),
            state_max,
        );
        Ok(Self {
            engine,
            writer,
            health,
            warm,
            state_max,
            schemas: json_schema::Checker::default(),
            head,
            wake,
            recent: timeline::Recent::default(),
            looked: look::Looked::default(),
            whole: verify::Whole::default(),
            repeats: audit::Repeats::default(),
            session_idle: access::SESSION_IDLE,
            page: None,
        })
    }

    /// With another idle time-out of sessions than the usual one.
    pub fn with_session_idle(mut self, idle: Lifetime) -> Self {
        self.session_idle = idle;
        self
    }

    /// For the parts of one page, which read in common what they need in common. Not for writes: a row that was read stays
    /// as it was.
    pub fn for_page(&self) -> Self {
        Self {
            page: Some(Arc::default()),
            ..self.clone()
        }
    }

    pub async fn migrate(&self) -> Result<(), Error> {
        let done = self.bring_up_to_date().await;
        done.map_err(|error| error.at(self.engine.place()))
    }

    async fn bring_up_to_date(&self) -> Result<(), Error> {
        self.engine.migrate().await?;
        loop {
            let mut tx = self.engine.write().await?;
            let done = seal::seal_older(&mut *tx, tables::SEALED).await;
            match done {
                Ok(done) => {
                    tx.commit().await.map_err(engine::CommitError::into_error)?;
                    if done {
                        return Ok(());
                    }
                }
                Err(error) => {
                    tx.rollback().await;
                    return Err(error);
                }
            }
        }
    }

    /// The database answers and has the schema this program knows.
    pub async fn ready(&self) -> Result<bool, Error> {
        self.engine.migrated().await
    }

    /// A write works: one is tried, unless one was a moment ago.
    pub async fn writable(&self) -> Result<(), Error> {
        if let Some(known) = self.health.lately() {
            return known;
        }
        self.tick().await?;
        match self.trouble() {
            Some(trouble) => Err(Error::Unwritable(trouble)),
            None => Ok(()),
        }
    }

    /// What keeps the store from writing, as far as is known.
    pub fn trouble(&self) -> Option<Trouble> {
        self.health.trouble()
    }

    pub fn trouble_changes(&self) -> watch::Receiver<Option<Trouble>> {
        self.health.changes()
    }

    pub fn engine_name(&self) -> &'static str {
        self.engine.name()
    }

    /// The database's clock.
    pub async fn now(&self) -> Result<Time, Error> {
        self.engine.read().await?.now().await
    }

    /// Prepares the command, then lets the writer apply it; again, if what it was prepared from has changed meanwhile.
    pub async fn write<C: Command>(&self, mut command: C) -> Result<C::Answer, Error> {
        for _ in 1..PREPARED_MAX {
            command.prepare(self).await?;
            let written = self.writer.write(command).await?;
            match written.answer {
                Err(Error::Outdated) => command = written.command,
                answer => return answer,
            }
        }
        command.prepare(self).await?;
        self.writer.write(command).await?.answer
    }

    /// The run's newest state, read before the writer needs it and kept at hand for it: a large one takes seconds.
    /// `None` if it cannot be had; the command that needs it says why.
    async fn at_hand(&self, run: &RunId) -> Result<Option<NewestState>, Error> {
        let mut conn = self.engine.read().await?;
        let Some(row) = sound(RunRow::load(&mut *conn, run).await)?.flatten() else {
            return Ok(None);
        };
        if let Some(held) = self.warm.peek(run, row.snapshot, row.hash) {
            return Ok(Some(held));
        }
        let read = snapshots::load(&mut *conn, run, row.snapshot, row.hash);
        let held = sound(aside_with(read).await)?;
        if let Some(held) = &held {
            self.warm.put_newer(run, held);
        }
        Ok(held)
    }

    /// Opens what else is large in a run, for [`tx::Tx::detail`].
    async fn open_content(&self, run: &RunId) -> Result<(), Error> {
        let mut conn = self.engine.read().await?;
        let stored = sound(StoredContent::of_long(&mut *conn, run, LONG).await)?;
        drop(conn);
        let known = self.warm.content(run);
        let content = match stored {
            Some(None) => return Ok(()),
            Some(Some(stored)) if known.as_ref().is_some_and(|it| it.stored == stored) => {
                return Ok(());
            }
            Some(Some(stored)) => {
                let content = sound(aside(|| stored.open()).await)?;
                content.map(|content| Opened::new(stored, content))
            }
            None => None,
        };
        match content {
            Some(opened) => self.warm.keep_content(run, opened),
            None => self.warm.forget_content(run),
        }
        Ok(())
    }

    /// The large content of a run that was opened for a command.
    fn opened_content(&self, run: &RunId) -> Option<RunContent> {
        self.warm.content(run).map(|it| it.content.clone())
    }

    /// Reads a state that the writer would have to read otherwise.
    async fn warm_up(&self, run: &RunId) -> Result<(), Error> {
        // A small state that another server changed costs the writer less than asking costs here: a connection for each
        // commit, for which agents would wait behind readers.
        let current = match self.warm.newest(run) {
            None => false,
            Some((_, bytes)) if bytes < LONG => true,
            Some((known, _)) => !self.engine.is_shared() || self.is_newest(run, known).await?,
        };
        match current {
            true => Ok(()),
            false => self.at_hand(run).await.map(drop),
        }
    }

    /// Whether the run still has this snapshot and hash: another server may have written.
    async fn is_newest(&self, run: &RunId, known: (i64, Hash)) -> Result<bool, Error> {
        let mut conn = self.engine.read().await?;
        let sql = "SELECT snapshot, hash FROM runs WHERE id = $1";
        let row = conn.fetch_one(sql, params![run.as_str()]).await?;
        let now = row.map(|mut row| Ok::<_, Error>((row.int()?, row.hash()?)));
        // What cannot be read is said where the whole row is.
        Ok(sound(now.transpose())?.flatten() == Some(known))
    }

    pub async fn close(&self) {
        self.engine.close().await;
    }
}
