//! The checkpoint store: two engines behind one interface, picked by URL.
//!
//! Writes go through one writer that groups them; reads take any connection. SQL lives only here.

pub mod access;
pub mod audit;
mod bulk;
pub mod commands;
mod decisions;
mod driver;
pub mod engine;
pub mod error;
pub mod follow;
mod fresh;
mod inbox;
mod lease_end;
mod lists;
mod look;
mod migrations;
mod place;
mod plan;
mod postgres;
mod reads;
mod rows;
mod schema;
mod seal;
mod snapshots;
mod sqlite;
mod steps;
mod tables;
mod timeline;
mod tx;
pub mod verify;
mod warm;
mod workers;
mod writer;

use std::sync::Arc;
use tokio::sync::watch;

pub use error::Error;
pub use place::redacted;
pub use writer::Command;

use crate::domain::{Time, protocol::STATE_MAX};
use engine::Engine;
use writer::Writer;

/// A handle on the store; clones share it.
#[derive(Clone)]
pub struct Store {
    engine: Arc<dyn Engine>,
    writer: Writer,
    /// The newest event number that this process knows of.
    head: watch::Receiver<i64>,
    wake: watch::Sender<i64>,
    recent: timeline::Recent,
    looked: look::Looked,
    whole: verify::Whole,
    repeats: audit::Repeats,
}

impl Store {
    /// Opens and migrates: `sqlite:step47.db` or `postgres://…` picks the engine.
    pub async fn open(url: &str) -> Result<Self, Error> {
        let store = Self::connect(url, STATE_MAX).await?;
        store.migrate().await?;
        Ok(store)
    }

    /// Opens without migrating.
    pub async fn connect(url: &str, state_max: usize) -> Result<Self, Error> {
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
        let writer = Writer::start(engine.clone(), wake.clone(), state_max);
        Ok(Self {
            engine,
            writer,
            head,
            wake,
            recent: timeline::Recent::default(),
            looked: look::Looked::default(),
            whole: verify::Whole::default(),
            repeats: audit::Repeats::default(),
        })
    }

    pub async fn migrate(&self) -> Result<(), Error> {
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

    pub fn engine_name(&self) -> &'static str {
        self.engine.name()
    }

    /// The database's clock.
    pub async fn now(&self) -> Result<Time, Error> {
        self.engine.read().await?.now().await
    }

    pub async fn write<C: Command>(&self, command: C) -> Result<C::Answer, Error> {
        self.writer.write(command).await
    }

    pub async fn close(&self) {
        self.engine.close().await;
    }
}
