//! One value of every column of every table, on both engines.

use sqlx::{Connection, PgConnection, SqliteConnection, query_as};
use std::path::Path;

use super::{EPHEMERAL, behind, found, history, place, settled, unharmed};
use crate::support::{Engine, Server, both_engines, campaigns, rounds};

/// What is read over all runs: one damaged row does not take it down.
const LISTS: [&str; 3] = ["runs", "needs you", "inbox"];

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

/// One row, whose value in this column becomes another one; as a `wild` one, it is no text any more.
fn flip_one(sqlite: bool, table: &str, column: &str, kind: &str, wild: bool) -> String {
    let other = match (sqlite, kind) {
        (true, "text") if wild => format!("CAST(x'ff' AS TEXT) || substr({column}, 2)"),
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

/// Which columns are flipped. A row's seal is made and checked by the same code on both engines, so PostgreSQL, where each
/// flip takes a second, gets the first column of every table and each fourth one; campaigns flip all.
fn is_flipped(on: Engine, number: usize) -> bool {
    on == Engine::Sqlite || rounds(1) > 1 || number.is_multiple_of(4)
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
    let good = unharmed(&url).await;
    let (mut flipped, mut missed) = (0, Vec::new());
    let columns = columns(&url).await;
    for (table, column, kind) in &columns {
        let number = columns
            .iter()
            .filter(|it| it.0 == *table)
            .position(|it| it.1 == *column);
        if !is_flipped(on, number.unwrap_or_default()) {
            continue;
        }
        let unread = table.starts_with("sqlite_") || *table == "_sqlx_migrations";
        if unread || EPHEMERAL.contains(&table.as_str()) {
            continue;
        }
        // PostgreSQL itself refuses what is no text.
        let wild: &[bool] = match sqlite && *kind == "text" {
            true => &[false, true],
            false => &[false],
        };
        for wild in wild {
            let sql = flip_one(sqlite, table, column, kind, *wild);
            // Rows of one table are undone by a copy of it, which the database itself keeps.
            if !sqlite {
                behind(
                    &url,
                    format!(
                        "DROP TABLE IF EXISTS kept; CREATE TABLE kept AS SELECT * FROM {table}"
                    ),
                )
                .await;
            }
            if behind(&url, sql).await.is_none_or(|rows| rows == 0) {
                continue;
            }
            let (damages, served) = found(&url).await;
            if damages.is_empty() {
                missed.push(format!("{table}.{column} was changed, and nobody noticed"));
            }
            for list in served.refused(LISTS) {
                missed.push(format!(
                    "{table}.{column} was changed, and takes {list} down"
                ));
            }
            if let Some(wrong) = served.wrong(&good) {
                let reported = format!("{table}.{column} was changed ({damages:?})");
                missed.push(format!("{reported}, and is served as good: {wrong}"));
            }
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
    }
    assert!(missed.is_empty(), "{missed:#?}");
    let least = columns.len() / if is_flipped(on, 1) { 2 } else { 8 };
    assert!(flipped > least, "only {flipped} columns hold something");
}

both_engines!(no_flipped_bit_in_a_column_goes_unnoticed);
campaigns!(no_flipped_bit_in_a_column_goes_unnoticed);
