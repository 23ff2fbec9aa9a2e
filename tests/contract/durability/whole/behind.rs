//! A store behind its server's back: all that is in it, and one value of it damaged and mended.

use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row, SqliteConnection};
use std::{collections::BTreeMap, fmt};

/// Written every second by whoever is alive, or as a token is used.
const EPHEMERAL: [&str; 4] = ["servers", "workers", "worker_agents", "seen"];

/// What can be damaged of a run: table, columns that name a row of the run, and the column.
const VALUES: &[(&str, &str, &str, &str)] = &[
    ("runs", "id", "id", "seal"),
    ("runs", "id", "id", "input"),
    ("runs", "id", "id", "state_schema"),
    ("steps", "run", "seq", "seal"),
    ("steps", "run", "seq", "input"),
    ("steps", "run", "seq", "result"),
    ("steps", "run", "seq", "error"),
    ("steps", "run", "seq", "gate"),
    ("attempts", "run", "seq || '.' || attempt", "seal"),
    ("attempts", "run", "seq || '.' || attempt", "partial"),
    ("attempts", "run", "seq || '.' || attempt", "error"),
    (
        "log_lines",
        "run",
        "seq || '.' || attempt || '.' || n",
        "seal",
    ),
    ("announced", "run", "idx", "seal"),
    ("announced", "run", "idx", "skipped"),
    ("refs", "run", "uri", "seal"),
    ("tags", "run", "n", "seal"),
    ("leases", "run", "epoch", "seal"),
    ("decisions", "run", "id", "seal"),
    ("snapshots", "run", "n", "seal"),
];

/// One value of one row.
#[derive(Debug)]
pub struct RowValue {
    table: &'static str,
    column: &'static str,
    named: String,
}

impl fmt::Display for RowValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{} where {}", self.table, self.column, self.named)
    }
}

pub enum Behind {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

impl Behind {
    pub async fn of(url: &str) -> Self {
        match url.starts_with("sqlite:") {
            true => Self::Sqlite(SqliteConnection::connect(url).await.expect("the store")),
            false => Self::Postgres(PgConnection::connect(url).await.expect("the store")),
        }
    }

    /// The first column of each row, as text.
    async fn texts(&mut self, sql: String) -> Vec<String> {
        let sql = AssertSqlSafe(sql);
        match self {
            Self::Sqlite(conn) => {
                let rows = sqlx::query(sql).fetch_all(conn).await.expect("rows");
                rows.iter().map(|row| row.get(0)).collect()
            }
            Self::Postgres(conn) => {
                let rows = sqlx::query(sql).fetch_all(conn).await.expect("rows");
                rows.iter().map(|row| row.get(0)).collect()
            }
        }
    }

    async fn execute(&mut self, sql: String) {
        let text = AssertSqlSafe(sql.clone());
        let rows = match self {
            Self::Sqlite(conn) => conn.execute(text).await.expect("an update").rows_affected(),
            Self::Postgres(conn) => conn.execute(text).await.expect("an update").rows_affected(),
        };
        assert_eq!(rows, 1, "{sql}");
    }

    /// All values of the run that are there to be damaged, always in the same order.
    pub async fn places(&mut self, run: &str) -> Vec<RowValue> {
        let mut places = Vec::new();
        for (table, of, key, column) in VALUES {
            let sql = format!(
                "SELECT CAST({key} AS TEXT) FROM {table} WHERE {of} = '{run}' AND {column} IS NOT NULL ORDER BY {key}"
            );
            places.extend(self.texts(sql).await.into_iter().map(|row| RowValue {
                table,
                column,
                named: format!("{of} = '{run}' AND CAST({key} AS TEXT) = '{row}'"),
            }));
        }
        places
    }

    /// Damages the value; answers what it was, for [`Behind::mend`].
    pub async fn damage(&mut self, place: &RowValue) -> String {
        let RowValue {
            table,
            column,
            named,
        } = place;
        let quote = match self {
            Self::Sqlite(_) => "quote",
            Self::Postgres(_) => "quote_literal",
        };
        let was = format!("SELECT {quote}({column}) FROM {table} WHERE {named}");
        let was = self.texts(was).await.pop().expect("the value");
        let other = match (*column, &*self) {
            ("seal", Self::Sqlite(_)) => "X'00'",
            ("seal", Self::Postgres(_)) => r"'\x00'",
            _ => "'x'",
        };
        self.mend(place, other).await;
        was
    }

    pub async fn mend(&mut self, place: &RowValue, value: &str) {
        let RowValue {
            table,
            column,
            named,
        } = place;
        self.execute(format!(
            "UPDATE {table} SET {column} = {value} WHERE {named}"
        ))
        .await;
    }

    /// All rows of all tables, as text, but for the run's own row of the run `but`: its heartbeats go on.
    pub async fn dump(&mut self, but: &str) -> BTreeMap<String, String> {
        let tables = match self {
            Self::Sqlite(_) => {
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            }
            Self::Postgres(_) => {
                "SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'public'"
            }
        };
        let mut dump = BTreeMap::new();
        for table in self.texts(tables.into()).await {
            if !EPHEMERAL.contains(&&*table) {
                dump.insert(table.clone(), self.rows(&table, but).await);
            }
        }
        assert!(dump.len() > 10, "{:?}", dump.keys());
        dump
    }

    /// A refused decision is an entry of the audit trail, written by a command of its own after the refusal.
    async fn rows(&mut self, table: &str, but: &str) -> String {
        let source = match table {
            "audit" => "(SELECT * FROM audit WHERE kind <> 'refused')".to_owned(),
            "counter" => "(SELECT id, event, head, sealed FROM counter)".to_owned(),
            "runs" => format!("(SELECT * FROM runs WHERE id <> '{but}')"),
            table => table.to_owned(),
        };
        let sql = match self {
            Self::Sqlite(_) => {
                let columns = match table {
                    "counter" => {
                        "SELECT value FROM json_each('[\"event\", \"head\", \"sealed\"]')".into()
                    }
                    _ => format!("SELECT name FROM pragma_table_info('{table}')"),
                };
                let columns = self.texts(columns).await;
                let quoted: Vec<_> = columns.iter().map(|it| format!("quote({it})")).collect();
                let row = quoted.join(" || ',' || ");
                format!(
                    "SELECT COALESCE(group_concat(it, char(10)), '') FROM (SELECT {row} AS it FROM {source} ORDER BY 1)"
                )
            }
            Self::Postgres(_) => format!(
                "SELECT COALESCE(string_agg(t::text, chr(10) ORDER BY t::text), '') FROM {source} t"
            ),
        };
        self.texts(sql).await.pop().unwrap_or_default()
    }
}
