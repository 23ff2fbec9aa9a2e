//! Bits that flip on disk, behind the server's back.

use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, SqliteConnection, query_as};
use std::fs;

/// Flips a bit of `marker` wherever the store keeps it, while no server runs; gives the number of places.
pub async fn flip(url: &str, marker: &str) -> usize {
    let flipped = flipped(marker);
    match url.strip_prefix("sqlite:") {
        Some(file) => flip_in_file(url, file, marker, &flipped).await,
        None => flip_in_tables(url, marker, &flipped).await,
    }
}

/// What `marker` reads like afterwards.
pub fn flipped(marker: &str) -> String {
    let mut bytes = marker.as_bytes().to_vec();
    bytes[0] ^= 1;
    String::from_utf8(bytes).expect("still text")
}

async fn flip_in_file(url: &str, file: &str, marker: &str, flipped: &str) -> usize {
    let mut connection = SqliteConnection::connect(url).await.expect("the store");
    let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
    connection.execute(checkpoint).await.expect("a checkpoint");
    connection.close().await.expect("closed");
    let mut bytes = fs::read(file).expect("the file");
    let mut places = 0;
    let mut at = 0;
    while let Some(found) = position(&bytes[at..], marker.as_bytes()) {
        at += found;
        bytes[at..at + flipped.len()].copy_from_slice(flipped.as_bytes());
        places += 1;
    }
    fs::write(file, bytes).expect("the file");
    places
}

fn position(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

async fn flip_in_tables(url: &str, marker: &str, flipped: &str) -> usize {
    let mut connection = PgConnection::connect(url).await.expect("the store");
    let columns: Vec<(String, String, String)> = query_as(
        "SELECT table_name::text, column_name::text, data_type::text FROM information_schema.columns \
         WHERE table_schema = 'public' AND data_type IN ('text', 'bytea')",
    )
    .fetch_all(&mut connection)
    .await
    .expect("columns");
    let mut places = 0;
    for (table, column, kind) in columns {
        let (set, holds) = match kind.as_str() {
            "text" => (
                format!("replace({column}, '{marker}', '{flipped}')"),
                format!("position('{marker}' in {column})"),
            ),
            _ => {
                let place = format!("position('{marker}'::bytea in {column})");
                let set = format!("overlay({column} placing '{flipped}'::bytea from {place})");
                (set, place)
            }
        };
        let sql = format!("UPDATE {table} SET {column} = {set} WHERE {holds} > 0");
        let done = connection.execute(AssertSqlSafe(sql)).await;
        places += done.expect("an update").rows_affected() as usize;
    }
    places
}
