//! Bits that flip anywhere: in the file of an embedded store, or in any column of either engine. Each is reported by
//! verification, or changes nothing that is ever read.

use serde_json::json;
use sqlx::{
    AssertSqlSafe, Column, Connection, Executor, PgConnection, Row, SqliteConnection, TypeInfo,
    ValueRef, query, query_as,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    sync::Arc,
};
use step47::store::Store;

use crate::support::{Engine, Server, both_engines, run};

/// Written again every second by whoever is alive; a wrong bit in them is overwritten, and no run relies on it.
const EPHEMERAL: [&str; 3] = ["servers", "workers", "worker_agents"];
/// What only SQLite's planner or nobody reads.
const UNREAD: [&str; 2] = ["sqlite_stat1", "sqlite_stat4"];

/// Runs of every sort, so that every table has rows.
async fn history(server: &Server) {
    let api = server.api();
    let plan = json!([{"name": "load"}, {"key": "k2", "name": "charge"}, {"name": "later"}]);
    let agent = api
        .agent(
            json!({"title": "Reconcile invoices", "labels": {"team": "billing"}, "plan": plan,
            "input": {"month": "2026-10"}, "state": {"messages": []},
            "links": [{"label": "ticket", "url": "https://example.com/1"}]}),
        )
        .await;
    for i in 1..=12 {
        let message = format!("message {i}: {}", "paid in full. ".repeat(i * 3));
        let patch = json!([{"op": "add", "path": "/messages/-", "value": message}]);
        let usage = json!({"input_tokens": 10 * i, "output_tokens": i, "cost_usd": 0.25});
        agent
            .does(
                &format!("k{i}"),
                json!({"result": {"ok": i}, "patch": patch, "usage": usage}),
            )
            .await;
    }
    let effect = json!({"target": "bank", "description": "pays"});
    let seq = agent
        .executes(
            "pay",
            json!({"effect": effect, "refs": [{"uri": "file:a", "hash": "1"}]}),
        )
        .await;
    let log = json!([{"level": "info", "message": "calling the bank"}]);
    agent
        .progress(seq, 1, json!({"partial": {"sent": true}, "log": log}))
        .await
        .is(204);
    let error = json!({"kind": "Bank", "message": "no answer"});
    agent
        .fail(seq, 1, json!({"error": error, "effect": "none"}))
        .await
        .is(200);
    let gate = json!({"kind": "gate", "gate": {"title": "Go on?", "choices": ["yes", "no"]}});
    agent.begin("ask", gate).await.is(200);
    agent.release(json!({})).await.is(200);
    api.decide(
        &agent.run,
        json!({"kind": "note", "text": "looked at it", "reason": "to know"}),
    )
    .await
    .is(200);
    let other = api.agent(json!({"state": {"n": 0}})).await;
    other
        .does(
            "one",
            json!({"result": 1, "state": {"n": 1, "text": "x".repeat(600)}}),
        )
        .await;
    other.finish(json!({"result": {"total": 7}})).await.is(200);
    api.post_once("idem-1", "/v1/runs", json!({"agent": "once"}))
        .await
        .is(201);
    server
        .store
        .command(&["user", "add", "ana", "--role", "operator"])
        .await;
}

/// The file of a stopped store, its log folded in.
async fn settled(url: &str) -> Vec<u8> {
    let file = url.strip_prefix("sqlite:").expect("an embedded store");
    let mut connection = SqliteConnection::connect(url).await.expect("the store");
    let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
    connection.execute(checkpoint).await.expect("a checkpoint");
    connection.close().await.expect("closed");
    fs::read(file).expect("the file")
}

/// Puts these bytes where a store is looked for.
fn place(file: &Path, bytes: &[u8]) {
    for rest in ["-wal", "-shm"] {
        let mut name = file.as_os_str().to_owned();
        name.push(rest);
        let _ = fs::remove_file(name);
    }
    fs::write(file, bytes).expect("the file");
}

/// What verification says: the damages, or why it could not even look.
async fn found(url: &str) -> Vec<String> {
    let store = match Store::connect(url, 16 << 20).await {
        Ok(store) => store,
        Err(error) => return vec![error.to_string()],
    };
    let verified = store.verify(None, &mut |_| {}).await;
    store.close().await;
    match verified {
        Ok(verified) => verified.damages.iter().map(|it| it.to_string()).collect(),
        Err(error) => vec![error.to_string()],
    }
}

/// All that the tables hold, row by row, as it is on disk.
async fn content(url: &str) -> Result<BTreeMap<String, Vec<String>>, sqlx::Error> {
    let mut connection = SqliteConnection::connect(url).await?;
    let tables: Vec<(String,)> =
        query_as("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
            .fetch_all(&mut connection)
            .await?;
    let mut all = BTreeMap::new();
    for (table,) in tables
        .into_iter()
        .filter(|(it,)| !UNREAD.contains(&it.as_str()))
    {
        // When and how fast a migration ran is for people who look into the file.
        let columns = match table.as_str() {
            "_sqlx_migrations" => "version, description, success, checksum",
            _ => "*",
        };
        let sql = format!("SELECT {columns} FROM {table}");
        let mut rows = Vec::new();
        for row in query(AssertSqlSafe(sql)).fetch_all(&mut connection).await? {
            let mut said = String::new();
            for column in row.columns() {
                let raw = row.try_get_raw(column.ordinal())?;
                let kind = raw.type_info().name().to_owned();
                let bytes: Option<Vec<u8>> = match raw.is_null() {
                    true => None,
                    false => match kind.as_str() {
                        "INTEGER" | "BOOLEAN" => Some(
                            row.try_get_unchecked::<i64, _>(column.ordinal())?
                                .to_le_bytes()
                                .into(),
                        ),
                        "REAL" => Some(
                            row.try_get_unchecked::<f64, _>(column.ordinal())?
                                .to_le_bytes()
                                .into(),
                        ),
                        _ => Some(row.try_get_unchecked(column.ordinal())?),
                    },
                };
                said.push_str(&format!("{}={bytes:?};", column.name()));
            }
            rows.push(said);
        }
        rows.sort();
        all.insert(table, rows);
    }
    connection.close().await?;
    Ok(all)
}

#[derive(Debug, Default)]
struct Tally {
    reported: usize,
    harmless: usize,
    ephemeral: usize,
    missed: Vec<String>,
}

impl Tally {
    fn join(mut self, other: Self) -> Self {
        self.reported += other.reported;
        self.harmless += other.harmless;
        self.ephemeral += other.ephemeral;
        self.missed.extend(other.missed);
        self
    }
}

/// Flips single bits at random places of the file, each in a fresh copy; on all processors at once.
async fn flip_bits(server: &mut Server, flips: usize, seed: u64) -> Tally {
    server.kill();
    let whole = Arc::new(settled(&server.store.url).await);
    let parts = std::thread::available_parallelism().map_or(1, usize::from);
    let part = |at: usize| {
        let whole = whole.clone();
        let many = flips / parts + usize::from(at < flips % parts);
        tokio::task::spawn_blocking(move || {
            let alone = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            alone.block_on(flip_some(&whole, many, seed.wrapping_add(at as u64)))
        })
    };
    let mut tally = Tally::default();
    for part in (0..parts).map(part).collect::<Vec<_>>() {
        tally = tally.join(part.await.expect("its part"));
    }
    tally
}

async fn flip_some(whole: &[u8], flips: usize, seed: u64) -> Tally {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("flipped.db");
    let url = format!("sqlite:{}", file.display());
    place(&file, whole);
    assert_eq!(
        found(&url).await,
        Vec::<String>::new(),
        "nothing is flipped yet"
    );
    let good = content(&url).await.expect("the content");
    let mut tally = Tally::default();
    let mut random = seed;
    for done in 1..=flips {
        // SplitMix64: a campaign that found something can be run again.
        random = random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let bit = ((z ^ (z >> 31)) % (whole.len() as u64 * 8)) as usize;
        let mut bytes = whole.to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        place(&file, &bytes);
        match outcome(&url, &good).await {
            Outcome::Reported => tally.reported += 1,
            Outcome::Harmless => tally.harmless += 1,
            Outcome::Ephemeral => tally.ephemeral += 1,
            Outcome::Missed(why) => {
                println!("missed: bit {bit}: {why}");
                tally.missed.push(format!("bit {bit}: {why}"));
            }
        }
        if done % 5_000 == 0 {
            println!("{done} of {flips} flips, {} missed", tally.missed.len());
        }
    }
    tally
}

enum Outcome {
    Reported,
    /// Nothing that is read changed.
    Harmless,
    Ephemeral,
    Missed(String),
}

/// What became of a store that verification passed, or did not.
async fn outcome(url: &str, good: &BTreeMap<String, Vec<String>>) -> Outcome {
    if !found(url).await.is_empty() {
        return Outcome::Reported;
    }
    let now = match content(url).await {
        Ok(now) => now,
        Err(error) => return Outcome::Missed(error.to_string()),
    };
    let tables: BTreeSet<&String> = good.keys().chain(now.keys()).collect();
    let changed: Vec<&String> = tables
        .into_iter()
        .filter(|table| good.get(*table) != now.get(*table))
        .collect();
    match changed.as_slice() {
        [] => Outcome::Harmless,
        some if some.iter().all(|it| EPHEMERAL.contains(&it.as_str())) => Outcome::Ephemeral,
        some => Outcome::Missed(format!("{some:?}")),
    }
}

async fn no_flipped_bit_in_the_file_goes_unnoticed(on: Engine) {
    let mut server = Server::start(on).await;
    history(&server).await;
    let flips = match std::env::var_os("STEP47_TORTURE") {
        Some(_) => 100_000,
        None => 150,
    };
    let seed = rand::random();
    let tally = flip_bits(&mut server, flips, seed).await;
    println!(
        "{flips} flips, seed {seed}: {} reported, {} changed nothing that is read, {} in what is written again every second",
        tally.reported, tally.harmless, tally.ephemeral
    );
    assert!(tally.missed.is_empty(), "seed {seed}: {:#?}", tally.missed);
    assert!(tally.reported > 0, "{tally:?}");
}

#[test]
fn no_flipped_bit_in_an_embedded_store_goes_unnoticed() {
    run(Engine::Sqlite, no_flipped_bit_in_the_file_goes_unnoticed);
}

mod torture {
    use super::*;

    #[test]
    #[ignore = "a long campaign: cargo xtask torture"]
    fn a_hundred_thousand_flipped_bits() {
        run(Engine::Sqlite, no_flipped_bit_in_the_file_goes_unnoticed);
    }
}

/// Columns as `(table, column, type)`.
async fn columns(url: &str) -> Vec<(String, String, String)> {
    match url.starts_with("sqlite:") {
        true => {
            let mut connection = SqliteConnection::connect(url).await.expect("the store");
            let sql = "SELECT t.name, c.name, lower(c.type) FROM sqlite_schema t, pragma_table_info(t.name) c \
                 WHERE t.type = 'table' ORDER BY 1, c.cid";
            query_as(sql)
                .fetch_all(&mut connection)
                .await
                .expect("columns")
        }
        false => {
            let mut connection = PgConnection::connect(url).await.expect("the store");
            let sql = "SELECT table_name::text, column_name::text, data_type::text FROM information_schema.columns \
                 WHERE table_schema = 'public' ORDER BY 1, ordinal_position";
            query_as(sql)
                .fetch_all(&mut connection)
                .await
                .expect("columns")
        }
    }
}

/// Runs a statement behind the server's back; `None` where the database refuses it.
pub async fn behind(url: &str, sql: String) -> Option<u64> {
    let sql = AssertSqlSafe(sql);
    match url.starts_with("sqlite:") {
        true => {
            let mut connection = SqliteConnection::connect(url).await.expect("the store");
            let done = connection.execute(sql).await.ok()?.rows_affected();
            connection.close().await.expect("closed");
            Some(done)
        }
        false => {
            let mut connection = PgConnection::connect(url).await.expect("the store");
            Some(connection.execute(sql).await.ok()?.rows_affected())
        }
    }
}

/// One row, whose value in this column becomes another one.
fn flip_one(sqlite: bool, table: &str, column: &str, kind: &str) -> String {
    let other = match (sqlite, kind) {
        (true, "text") => format!(
            "char((unicode({column}) | 1) - (unicode({column}) & 1)) || substr({column}, 2)"
        ),
        (true, "integer" | "bigint") => format!("({column} | 1) - ({column} & 1)"),
        (true, "blob") => format!(
            "unhex(CASE hex(substr({column}, 1, 1)) WHEN '00' THEN '01' ELSE '00' END || hex(substr({column}, 2)))"
        ),
        (false, "text") => format!("chr(ascii({column}) # 1) || substr({column}, 2)"),
        (false, "bigint" | "integer") => format!("{column} # 1"),
        (false, "bytea") => format!("set_byte({column}, 0, get_byte({column}, 0) # 1)"),
        _ => format!("{column} + 1"),
    };
    let empty = match kind {
        "text" | "bytea" | "blob" => format!(" AND length({column}) > 0"),
        _ => String::new(),
    };
    let row = match (sqlite, table) {
        (true, "terms") => "(ord, term) = (SELECT ord, term",
        (true, "decided") => "(author, ord) = (SELECT author, ord",
        (true, _) => "rowid = (SELECT rowid",
        (false, _) => "ctid = (SELECT ctid",
    };
    format!(
        "UPDATE {table} SET {column} = {other} WHERE {row} FROM {table} WHERE {column} IS NOT NULL{empty} LIMIT 1)"
    )
}

async fn no_flipped_bit_in_a_column_goes_unnoticed(on: Engine) {
    let mut server = Server::start(on).await;
    history(&server).await;
    server.kill();
    let url = server.store.url.clone();
    let sqlite = on == Engine::Sqlite;
    let whole = match sqlite {
        true => Some(settled(&url).await),
        false => None,
    };
    assert_eq!(
        found(&url).await,
        Vec::<String>::new(),
        "nothing is flipped yet"
    );
    let mut flipped = 0;
    for (table, column, kind) in columns(&url).await {
        let unread = table.starts_with("sqlite_") || table == "_sqlx_migrations";
        if unread || EPHEMERAL.contains(&table.as_str()) {
            continue;
        }
        let sql = flip_one(sqlite, &table, &column, &kind);
        // Rows of one table are undone by a copy of it, which the database itself keeps.
        if !sqlite {
            behind(
                &url,
                format!("DROP TABLE IF EXISTS kept; CREATE TABLE kept AS SELECT * FROM {table}"),
            )
            .await;
        }
        if behind(&url, sql).await.is_none_or(|rows| rows == 0) {
            continue;
        }
        let told = found(&url).await;
        assert!(
            !told.is_empty(),
            "{table}.{column} was changed, and nobody noticed"
        );
        flipped += 1;
        match &whole {
            Some(bytes) => place(
                Path::new(url.strip_prefix("sqlite:").expect("a file")),
                bytes,
            ),
            None => {
                let undo = format!(
                    "SET session_replication_role = replica; DELETE FROM {table}; \
                     INSERT INTO {table} SELECT * FROM kept; DROP TABLE kept"
                );
                behind(&url, undo).await.expect("undone");
            }
        }
    }
    assert!(flipped > 100, "only {flipped} columns hold something");
}

both_engines!(no_flipped_bit_in_a_column_goes_unnoticed);
