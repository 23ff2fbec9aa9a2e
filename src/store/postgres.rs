//! The engine for more than one machine: any number of servers and workers on one PostgreSQL.

use async_trait::async_trait;
use sqlx::{
    ConnectOptions, Connection as _, PgConnection, PgPool, Postgres,
    migrate::Migrator,
    postgres::{PgConnectOptions, PgListener, PgPoolOptions, PgRow},
};
use std::{str::FromStr, time::Duration};

use super::{
    driver::driver,
    engine::{CommitError, Connection, Engine, Transaction, Wake, params},
    error::{Error, cut_off},
    lent::Lent,
    migrations,
};
use crate::domain::{Time, Trouble};

static MIGRATIONS: Migrator = sqlx::migrate!("migrations/postgres");
const READERS: u32 = 12;
const CHANNEL: &str = "step47";

driver!(
    Postgres,
    PgRow,
    clock,
    "INT8" | "INT4",
    "FLOAT8",
    "TEXT" | "VARCHAR" | "NAME",
    "BYTEA"
);

async fn clock(conn: &mut dyn Connection) -> Result<Time, Error> {
    let sql = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)";
    let row = conn.fetch_one(sql, params![]).await?;
    row.ok_or_else(|| Error::damaged("no clock"))?.time()
}

pub struct PostgresEngine {
    id: String,
    place: String,
    /// Its own connection: readers never keep the writer waiting.
    writer: PgPool,
    pool: PgPool,
}

impl PostgresEngine {
    pub async fn open(url: &str) -> Result<Self, Error> {
        let id = uuid::Uuid::now_v7().simple().to_string();
        let options = PgConnectOptions::from_str(&super::store_url::connectable(url))?
            .application_name(&format!("step47-{id}"))
            // An acknowledged commit is on disk, whatever the server's default says.
            .options([("synchronous_commit", "on"), ("lock_timeout", "20s")])
            .log_slow_statements(log::LevelFilter::Warn, Duration::from_secs(2));
        let place = place(&options);
        let pool = |connections| {
            PgPoolOptions::new()
                .max_connections(connections)
                .acquire_timeout(Duration::from_secs(10))
        };
        let pools = async {
            let writer = pool(1).connect_with(options.clone()).await?;
            Ok((writer, pool(READERS).connect_with(options.clone()).await?))
        };
        let (writer, pool) = match pools.await {
            Ok(pools) => pools,
            Err(error) => return Err(why(error, &options).await.at(&place)),
        };
        Ok(Self {
            id,
            place,
            writer,
            pool,
        })
    }
}

/// Which database it is, without the password.
fn place(options: &PgConnectOptions) -> String {
    let host = match options.get_socket() {
        Some(socket) => socket.display().to_string(),
        None => format!("{}:{}", options.get_host(), options.get_port()),
    };
    let user = options.get_username();
    let database = options.get_database().unwrap_or(user);
    format!("the database {database} at {host} (as {user})")
}

/// A pool that waited in vain does not say for what: one more try does.
async fn why(error: sqlx::Error, options: &PgConnectOptions) -> Error {
    match error {
        sqlx::Error::PoolTimedOut => {
            let again = PgConnection::connect_with(options);
            match tokio::time::timeout(Duration::from_secs(5), again).await {
                Ok(Err(error)) => error.into(),
                Ok(Ok(_)) | Err(_) => Error::Setup("it does not answer in time".into()),
            }
        }
        error => error.into(),
    }
}

/// A write that cannot reach the database is in the same trouble as every other one.
fn unreachable(error: sqlx::Error) -> Error {
    match cut_off(&error) {
        true => {
            tracing::debug!(%error, "no connection to write by");
            Error::Unwritable(Trouble::Away)
        }
        false => error.into(),
    }
}

struct Open {
    tx: Lent<Postgres>,
    now: Time,
    /// The transaction's own number: tells after a lost connection whether it was committed.
    xid: String,
    pool: PgPool,
}

#[async_trait]
impl Transaction for Open {
    fn began(&self) -> Time {
        self.now
    }

    async fn commit(mut self: Box<Self>) -> Result<(), CommitError> {
        let notified = self
            .execute("SELECT pg_notify('step47', '')", params![])
            .await;
        if let Err(error) = notified {
            return Err(CommitError::RolledBack(error));
        }
        let Err(error) = self.tx.commit().await else {
            return Ok(());
        };
        match committed(&self.pool, &self.xid).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(CommitError::RolledBack(error.into())),
            Err(_) => Err(CommitError::Unknown(error.into())),
        }
    }

    async fn rollback(self: Box<Self>) {
        self.tx.rollback().await;
    }
}

/// Asks the database what became of a transaction whose COMMIT was not answered.
async fn committed(pool: &PgPool, xid: &str) -> Result<bool, Error> {
    let mut conn = pool.acquire().await?;
    for _ in 0..50 {
        let row = conn
            .fetch_one("SELECT pg_xact_status($1::text::xid8)", params![xid])
            .await?;
        match row
            .map(|mut row| row.opt_text())
            .transpose()?
            .flatten()
            .as_deref()
        {
            Some("committed") => return Ok(true),
            Some("aborted") => return Ok(false),
            _ => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
    Err(Error::Busy)
}

#[async_trait]
impl Engine for PostgresEngine {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn id(&self) -> &str {
        &self.id
    }

    fn place(&self) -> &str {
        &self.place
    }

    fn is_shared(&self) -> bool {
        true
    }

    /// A server that was killed has lost its connections, or will in a moment.
    async fn others(&self, conn: &mut dyn Connection, since: Time) -> Result<Option<Time>, Error> {
        let sql = "SELECT MAX(s.ticked_at) FROM servers s \
             JOIN pg_stat_activity a ON a.application_name = 'step47-' || s.id \
             WHERE s.id <> $1 AND s.ticked_at > $2 AND a.datname = current_database()";
        let row = conn
            .fetch_one(sql, params![self.id.as_str(), since])
            .await?;
        Ok(row.map(|mut row| row.opt_time()).transpose()?.flatten())
    }

    async fn migrate(&self) -> Result<(), Error> {
        Ok(MIGRATIONS.run(&self.pool).await?)
    }

    async fn migrated(&self) -> Result<bool, Error> {
        migrations::applied(&mut *self.read().await?, &MIGRATIONS).await
    }

    /// PostgreSQL checks its own pages when it is set up to.
    async fn check(&self) -> Result<Vec<String>, Error> {
        Ok(Vec::new())
    }

    async fn read(&self) -> Result<Box<dyn Connection>, Error> {
        Ok(Box::new(self.pool.acquire().await?))
    }

    async fn write(&self) -> Result<Box<dyn Transaction>, Error> {
        let tx = Lent::begin(&self.writer, "BEGIN")
            .await
            .map_err(unreachable)?;
        let mut open = Open {
            tx,
            now: Time(0),
            xid: String::new(),
            pool: self.pool.clone(),
        };
        open.execute("SELECT id FROM counter WHERE id = 1 FOR UPDATE", params![])
            .await?;
        // Read after the lock: now() would be the moment before the wait.
        let row = open
            .fetch_one(
                "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT), \
                 pg_current_xact_id()::text",
                params![],
            )
            .await?;
        let mut row = row.ok_or_else(|| Error::damaged("no clock"))?;
        open.now = row.time()?;
        open.xid = row.text()?;
        Ok(Box::new(open))
    }

    async fn listen(&self) -> Result<Option<Box<dyn Wake>>, Error> {
        let mut listener = PgListener::connect_with(&self.pool).await?;
        listener.listen(CHANNEL).await?;
        Ok(Some(Box::new(Notified(listener))))
    }

    async fn close(&self) {
        self.writer.close().await;
        self.pool.close().await;
    }
}

struct Notified(PgListener);

#[async_trait]
impl Wake for Notified {
    async fn woken(&mut self) -> Result<(), Error> {
        self.0.recv().await?;
        Ok(())
    }
}
