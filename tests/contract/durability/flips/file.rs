//! Single bits of the file of an embedded store.

use sqlx::{
    AssertSqlSafe, Column, Connection, Row, SqliteConnection, TypeInfo, ValueRef, query, query_as,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{EPHEMERAL, found, history, place, served::Served, settled, unharmed};
use crate::support::{Engine, Server, run, seed};

/// What only SQLite's planner or nobody reads.
const UNREAD: [&str; 2] = ["sqlite_stat1", "sqlite_stat4"];

/// The rows of each table, column by column.
type Content = BTreeMap<String, Vec<Vec<Option<Vec<u8>>>>>;

/// All that the tables hold, row by row, as it is on disk.
async fn content(url: &str) -> Result<Content, sqlx::Error> {
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
            let mut values = Vec::new();
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
                values.push(bytes);
            }
            rows.push(values);
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
    // Each waits half of the time, for the thread that SQLite works on.
    let parts = 2 * std::thread::available_parallelism().map_or(1, usize::from);
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
    let good = Good {
        served: unharmed(&url).await,
        content: content(&url).await.expect("the content"),
    };
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

/// A store before anything happened to it.
struct Good {
    served: Served,
    content: Content,
}

/// What became of a store that verification passed, or did not.
async fn outcome(url: &str, good: &Good) -> Outcome {
    let (damages, served) = found(url).await;
    if !damages.is_empty() {
        return match served.wrong(&good.served) {
            None => Outcome::Reported,
            Some(wrong) => Outcome::Missed(format!("{damages:?}, but served: {wrong}")),
        };
    }
    let now = match content(url).await {
        Ok(now) => now,
        Err(error) => return Outcome::Missed(error.to_string()),
    };
    let good = &good.content;
    let tables: BTreeSet<&String> = good.keys().chain(now.keys()).collect();
    let changed: Vec<&String> = tables
        .into_iter()
        .filter(|table| good.get(*table) != now.get(*table))
        .collect();
    let rows = |all: &Content, table: &String| all.get(table).cloned().unwrap_or_default();
    match changed.as_slice() {
        [] => Outcome::Harmless,
        some if some.iter().all(|it| EPHEMERAL.contains(&it.as_str())) => Outcome::Ephemeral,
        some => {
            let differs = |table: &&&String| {
                let (was, is) = (rows(good, table), rows(&now, table));
                let new = is.into_iter().filter(|row| !was.contains(row));
                let text = |it: &Option<Vec<u8>>| {
                    it.as_deref().map(String::from_utf8_lossy).map(String::from)
                };
                let new: Vec<Vec<_>> = new.map(|row| row.iter().map(text).collect()).collect();
                format!("{table}: {new:?}")
            };
            Outcome::Missed(some.iter().map(|it| differs(&it)).collect())
        }
    }
}

async fn no_flipped_bit_in_the_file_goes_unnoticed(on: Engine) {
    let mut server = Server::start(on).await;
    history(&server).await;
    let flips = match std::env::var_os("STEP47_TORTURE") {
        Some(_) => 100_000,
        None => 150,
    };
    let seed = seed();
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
