//! The same bytes committed without Step47: what the engine and the disk can do.

use std::{
    fs::File,
    io::Write,
    path::Path,
    time::{Duration, Instant},
};

use sqlx::{
    Executor, PgPool, SqlitePool,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

use super::{GROWTH, report::Rate};

const INSERT: &str = "INSERT INTO raw (run, body) VALUES ($1, $2)";
const SECONDS: Duration = Duration::from_secs(3);

/// A bare append of one step's bytes with a sync to disk.
pub fn fsync(dir: &Path) -> Rate {
    let mut file = File::create(dir.join("raw.log")).expect("a file");
    let body = vec![b'x'; GROWTH];
    let began = Instant::now();
    let mut times = Vec::new();
    while began.elapsed() < SECONDS {
        let write = Instant::now();
        file.write_all(&body).expect("a write");
        file.sync_data().expect("a sync");
        times.push(write.elapsed());
    }
    Rate::new(times, began.elapsed())
}

enum Pool {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

impl Pool {
    async fn open(url: &str, dir: &Path, connections: u32) -> Self {
        if url.starts_with("postgres") {
            let pool = sqlx::postgres::PgPoolOptions::new().max_connections(connections);
            let pool = pool.connect(url).await.expect("PostgreSQL");
            pool.execute("CREATE TABLE IF NOT EXISTS raw (run BIGINT, body BYTEA)")
                .await
                .expect("a table");
            return Self::Postgres(pool);
        }
        let options = SqliteConnectOptions::new()
            .filename(dir.join("raw.db"))
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full);
        // One writer is the best that SQLite can do: more connections only wait for its lock.
        let pool = SqlitePoolOptions::new()
            .max_connections(1)
            .connect_with(options)
            .await
            .expect("SQLite");
        pool.execute("CREATE TABLE IF NOT EXISTS raw (run INTEGER, body BLOB)")
            .await
            .expect("a table");
        Self::Sqlite(pool)
    }

    /// `rows` rows in one transaction.
    async fn commit(&self, rows: usize, body: &[u8]) {
        macro_rules! insert {
            ($pool:expr) => {{
                let mut tx = $pool.begin().await.expect("a transaction");
                for row in 0..rows {
                    let query = sqlx::query(INSERT).bind(row as i64).bind(body);
                    query.execute(&mut *tx).await.expect("a row");
                }
                tx.commit().await.expect("a commit");
            }};
        }
        match self {
            Self::Sqlite(pool) => insert!(pool),
            Self::Postgres(pool) => insert!(pool),
        }
    }
}

async fn rate(pool: &Pool, writers: usize, rows: usize) -> Rate {
    let body = vec![b'x'; GROWTH];
    let began = Instant::now();
    let write = || async {
        let mut times = Vec::new();
        while began.elapsed() < SECONDS {
            let commit = Instant::now();
            pool.commit(rows, &body).await;
            times.extend(std::iter::repeat_n(commit.elapsed(), rows));
        }
        times
    };
    let all = futures::future::join_all((0..writers).map(|_| write())).await;
    Rate::new(all.into_iter().flatten().collect(), began.elapsed())
}

/// One transaction per step, from as many connections as there are agents.
pub async fn alone(url: &str, dir: &Path, agents: usize) -> Rate {
    rate(&Pool::open(url, dir, agents as u32).await, agents, 1).await
}

/// One transaction for one step of each agent.
pub async fn grouped(url: &str, dir: &Path, agents: usize) -> Rate {
    rate(&Pool::open(url, dir, 1).await, 1, agents).await
}
