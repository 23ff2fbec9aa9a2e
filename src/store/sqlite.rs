//! The embedded engine: WAL, synchronous=FULL, one writer and several readers.

use async_trait::async_trait;
use sqlx::{
    ConnectOptions, Sqlite, SqlitePool,
    migrate::Migrator,
    sqlite::{
        SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteRow, SqliteSynchronous,
    },
};
use std::{str::FromStr, time::Duration};

use super::{
    driver::driver,
    engine::{CommitError, Connection, Engine, Transaction, Wake},
    error::Error,
    migrations,
};
use crate::domain::Time;

mod check;

static MIGRATIONS: Migrator = sqlx::migrate!("migrations/sqlite");
const READERS: u32 = 4;
/// 3.51.3 is the first release that cannot corrupt a WAL database on reset.
const OLDEST: i32 = 3_051_003;

driver!(Sqlite, SqliteRow, clock, "INTEGER", "REAL", "TEXT", "BLOB");

/// The store lives in this process, and so does its clock.
async fn clock(_: &mut dyn Connection) -> Result<Time, Error> {
    Ok(Time::now())
}

pub struct SqliteEngine {
    id: String,
    writer: SqlitePool,
    readers: SqlitePool,
}

impl SqliteEngine {
    pub async fn open(url: &str) -> Result<Self, Error> {
        // SAFETY: takes no arguments and reads a constant of the linked library.
        let version = unsafe { libsqlite3_sys::sqlite3_libversion_number() };
        if version < OLDEST {
            return Err(Error::Setup(format!(
                "the linked SQLite {version} can corrupt WAL databases; 3.51.3 or newer is needed"
            )));
        }
        let options = SqliteConnectOptions::from_str(url)?
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(Duration::from_secs(20))
            .pragma("cell_size_check", "ON")
            .log_slow_statements(log::LevelFilter::Warn, Duration::from_secs(2));
        let writer = SqlitePoolOptions::new()
            .max_connections(1)
            .connect_with(options.clone().optimize_on_close(true, None))
            .await?;
        let readers = SqlitePoolOptions::new()
            .max_connections(READERS)
            .connect_lazy_with(options.pragma("query_only", "ON"));
        Ok(Self {
            id: uuid::Uuid::now_v7().simple().to_string(),
            writer,
            readers,
        })
    }
}

struct Open {
    tx: sqlx::Transaction<'static, Sqlite>,
    now: Time,
}

#[async_trait]
impl Transaction for Open {
    fn began(&self) -> Time {
        self.now
    }

    async fn commit(self: Box<Self>) -> Result<(), CommitError> {
        self.tx
            .commit()
            .await
            .map_err(|e| CommitError::RolledBack(e.into()))
    }

    async fn rollback(self: Box<Self>) {
        // A transaction that cannot be rolled back is rolled back when its connection closes.
        let _ = self.tx.rollback().await;
    }
}

#[async_trait]
impl Engine for SqliteEngine {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    fn id(&self) -> &str {
        &self.id
    }

    /// An embedded store has one server.
    async fn others_alive(&self, _: Time) -> Result<bool, Error> {
        Ok(false)
    }

    async fn migrate(&self) -> Result<(), Error> {
        Ok(MIGRATIONS.run(&self.writer).await?)
    }

    async fn migrated(&self) -> Result<bool, Error> {
        migrations::applied(&mut *self.read().await?, &MIGRATIONS).await
    }

    async fn check(&self) -> Result<Vec<String>, Error> {
        check::file(&mut *self.read().await?, &MIGRATIONS).await
    }

    async fn read(&self) -> Result<Box<dyn Connection>, Error> {
        Ok(Box::new(self.readers.acquire().await?))
    }

    async fn write(&self) -> Result<Box<dyn Transaction>, Error> {
        let tx = self.writer.begin_with("BEGIN IMMEDIATE").await?;
        Ok(Box::new(Open {
            tx,
            now: Time::now(),
        }))
    }

    async fn listen(&self) -> Result<Option<Box<dyn Wake>>, Error> {
        Ok(None)
    }

    async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }
}
