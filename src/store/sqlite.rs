//! The embedded engine: WAL, synchronous=FULL, one writer and several readers.

use async_trait::async_trait;
use sqlx::{
    ConnectOptions, Connection as _, Sqlite, SqliteConnection, SqlitePool,
    migrate::Migrator,
    sqlite::{
        SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteRow, SqliteSynchronous,
    },
};
use std::{path::PathBuf, str::FromStr, sync::Arc, time::Duration};

use super::{
    driver::driver,
    engine::{CommitError, Connection, Engine, Transaction, Wake},
    error::Error,
    lent::Lent,
    migrations,
};
use crate::domain::{Time, Trouble};

mod check;
mod files;

use files::Files;

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
    place: String,
    writer: SqlitePool,
    readers: SqlitePool,
    /// Does nothing but stay open, so that SQLite never takes a connection for the last one and removes the `-wal`:
    /// the files at the store's path stay the ones that are open.
    anchor: tokio::sync::Mutex<Option<SqliteConnection>>,
    files: Arc<Files>,
}

/// The file that this URL names, if it is not there.
pub fn missing(url: &str) -> Result<Option<PathBuf>, Error> {
    let options = SqliteConnectOptions::from_str(url)?;
    let file = options.get_filename();
    Ok(files::missing(file).then(|| file.to_owned()))
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
            .create_if_missing(false)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(Duration::from_secs(20))
            .pragma("cell_size_check", "ON")
            .log_slow_statements(log::LevelFilter::Warn, Duration::from_secs(2));
        let file = options.get_filename().to_owned();
        let place = format!("the store {}", file.display());
        files::create(&file)
            .map_err(|why| Error::Setup(format!("{place} cannot be made or opened: {why}")))?;
        Self::connect(options, &place)
            .await
            .map_err(|error| error.at(&place))
    }

    /// The file is there: from here on none is made, so that a lost store is never replaced by an empty one.
    async fn connect(options: SqliteConnectOptions, place: &str) -> Result<Self, Error> {
        let file = options.get_filename().to_owned();
        let mut anchor = SqliteConnection::connect_with(&options).await?;
        // Reading is what opens the `-wal` and the `-shm`.
        let tables = "SELECT COUNT(*) = 0 OR SUM(name = 'runs') > 0 FROM sqlite_schema";
        let ours: bool = sqlx::query_scalar(tables).fetch_one(&mut anchor).await?;
        if ours {
            files::close_to_others(&file);
        }
        let files = Arc::new(Files::opened(&file)?);
        let pool = |connections| {
            SqlitePoolOptions::new()
                .max_connections(connections)
                .idle_timeout(None)
                .max_lifetime(None)
        };
        let writer = pool(1).connect_with(options.clone()).await?;
        let readers = pool(READERS)
            .min_connections(READERS)
            .connect_with(options.pragma("query_only", "ON"))
            .await?;
        Ok(Self {
            id: uuid::Uuid::now_v7().simple().to_string(),
            place: place.to_owned(),
            writer,
            readers,
            anchor: Some(anchor).into(),
            files,
        })
    }
}

struct Open {
    tx: Lent<Sqlite>,
    now: Time,
    files: Arc<Files>,
}

#[async_trait]
impl Transaction for Open {
    fn began(&self) -> Time {
        self.now
    }

    async fn commit(self: Box<Self>) -> Result<(), CommitError> {
        if let Err(error) = self.tx.commit().await {
            let error = Error::from(error);
            return Err(match error.trouble() {
                // After a failed sync the commit may still be in the file, and a restart would find it: its outcome is unknown.
                Some(Trouble::Io) => CommitError::Unknown(error),
                _ => CommitError::RolledBack(error),
            });
        }
        // The commit went into a file that is no longer at the store's path: it is not acknowledged.
        self.files.are_in_place().map_err(CommitError::Unknown)
    }

    async fn rollback(self: Box<Self>) {
        self.tx.rollback().await;
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

    fn place(&self) -> &str {
        &self.place
    }

    fn is_shared(&self) -> bool {
        false
    }

    /// An embedded store has one server.
    async fn others(&self, _: &mut dyn Connection, _: Time) -> Result<Option<Time>, Error> {
        Ok(None)
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
        self.files.are_in_place()?;
        let tx = Lent::begin(&self.writer, "BEGIN IMMEDIATE").await?;
        Ok(Box::new(Open {
            tx,
            now: Time::now(),
            files: self.files.clone(),
        }))
    }

    async fn listen(&self) -> Result<Option<Box<dyn Wake>>, Error> {
        Ok(None)
    }

    async fn close(&self) {
        self.readers.close().await;
        if let Ok(mut conn) = self.writer.acquire().await {
            // Statistics for the next start; without them it only starts with older ones.
            let _ = sqlx::query("PRAGMA optimize").execute(&mut *conn).await;
        }
        // The last connection, the writer's, brings the `-wal` into the store and removes it.
        if let Some(anchor) = self.anchor.lock().await.take()
            && let Err(error) = anchor.close().await
        {
            tracing::error!(%error, "{} was not closed in good order: its -wal may stay beside it until the next start", self.place);
        }
        self.writer.close().await;
    }
}
