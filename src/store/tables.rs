//! The tables of the store and what vouches for their rows; a test compares this list with both schemas.

use super::{
    rows::{announced, attempt, log_line, run, step},
    seal::Table,
    snapshots::stored,
};

/// A table whose rows hold nothing large: the seal covers all of it.
const fn plain(name: &'static str, key: &'static str, columns: &'static str) -> Table {
    Table {
        name,
        key,
        columns,
        earlier: &[],
        sealed: &[],
        checked: &[],
    }
}

pub static LEASES: Table = plain(
    "leases",
    "run, epoch",
    "run, epoch, worker, version, model, granted_at, ended_at, ended_by, body",
);
pub static DECISIONS: Table = plain(
    "decisions",
    "id",
    "id, run, kind, author, reason, step, version, body, at, snapshot, new_run",
);
/// First answers to requests that carried an `Idempotency-Key`.
pub static REQUESTS: Table = plain("requests", "scope, key", "scope, key, body, answer, at");
pub static REFS: Table = plain(
    "refs",
    "run, uri",
    "run, uri, was, hash, first, epoch, checked_at, checked_by",
);
pub static TERMS: Table = plain("terms", "ord, term", "ord, term");
pub static USERS: Table = plain("users", "name", "name, role, created_at, disabled_at");
pub static TOKENS: Table = Table {
    earlier: &[6],
    ..plain(
        "tokens",
        "id",
        "id, name, role, hash, created_at, revoked_at, owner, expires_at",
    )
};
/// When a token or a session was last used: sealed, because sessions end when they were idle for long.
pub static SEEN: Table = plain("seen", "hash", "hash, at");
pub static SESSIONS: Table = plain(
    "sessions",
    "hash",
    "hash, user_name, expires_at, created_at",
);
pub static SIGNIN_LINKS: Table = plain(
    "signin_links",
    "hash",
    "hash, user_name, expires_at, created_at, used_at",
);

pub static SEALED: &[&Table] = &[
    &run::TABLE,
    &announced::TABLE,
    &LEASES,
    &step::TABLE,
    &attempt::TABLE,
    &log_line::TABLE,
    &stored::TABLE,
    &DECISIONS,
    &REFS,
    &REQUESTS,
    &TERMS,
    &USERS,
    &TOKENS,
    &SESSIONS,
    &SIGNIN_LINKS,
    &SEEN,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Store, engine::params};
    use std::collections::BTreeSet;

    /// Columns that no seal covers, and why that is enough.
    const OTHERWISE: &[(&str, &str)] = &[
        ("events", "chained: each row's hash covers all of it"),
        ("audit", "chained: each row's hash covers all of it"),
        ("counter", "held against the chains of events and audit"),
        ("run_labels", "held against the labels of the run"),
        ("decided", "held against the decisions"),
        ("servers", "who is alive now, written again every second"),
        (
            "workers",
            "who was heard of lately, written again as they speak",
        ),
        ("worker_agents", "as workers"),
        ("_sqlx_migrations", "held against the migrations"),
    ];

    #[tokio::test]
    async fn every_column_of_every_table_is_vouched_for() {
        let store = Store::open("sqlite::memory:").await.unwrap();
        let mut conn = store.engine.write().await.unwrap();
        let sql = "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c \
             WHERE t.type = 'table' ORDER BY 1, 2";
        for mut row in conn.fetch(sql, params![]).await.unwrap() {
            let (table, column) = (row.text().unwrap(), row.text().unwrap());
            if column == "seal" || OTHERWISE.iter().any(|(it, _)| *it == table) {
                continue;
            }
            let sealed = SEALED.iter().find(|it| it.name == table);
            let sealed = sealed.unwrap_or_else(|| panic!("the table {table} is not sealed"));
            let covered: BTreeSet<_> = sealed
                .columns()
                .chain(sealed.sealed.iter().copied())
                .chain(sealed.checked.iter().copied())
                .collect();
            assert!(
                covered.contains(column.as_str()),
                "{table}.{column} is not sealed"
            );
        }
    }
}
