//! The tables of the store whose rows are sealed; a test compares their declarations with the schema.

use super::{
    rows::{
        announced, attempt, decision, lease, log_line, reference, request, run, seen, session,
        signin_link, step, tag, term, token, user,
    },
    snapshots::stored,
    table::Table,
};

pub use super::rows::{
    seen::TABLE as SEEN, session::TABLE as SESSIONS, signin_link::TABLE as SIGNIN_LINKS,
    token::TABLE as TOKENS, user::TABLE as USERS,
};

pub static SEALED: &[&Table] = &[
    &run::TABLE,
    &announced::TABLE,
    &lease::TABLE,
    &step::TABLE,
    &attempt::TABLE,
    &log_line::TABLE,
    &stored::TABLE,
    &decision::TABLE,
    &reference::TABLE,
    &tag::TABLE,
    &request::TABLE,
    &term::TABLE,
    &user::TABLE,
    &token::TABLE,
    &session::TABLE,
    &signin_link::TABLE,
    &seen::TABLE,
];

/// Tables whose rows need no more than their seals. The others are walked run by run: a run's row, its steps and its states.
pub fn by_seals() -> impl Iterator<Item = &'static Table> {
    let walked = [run::TABLE.name, step::TABLE.name, stored::TABLE.name];
    let tables = SEALED.iter().copied();
    tables.filter(move |table| !walked.contains(&table.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{
        Store,
        engine::params,
        rows::{audited, event},
        table::{Kind, Written},
    };
    use std::collections::BTreeMap;

    /// Tables that neither seals nor chains cover, and why that is enough.
    const OTHERWISE: &[(&str, &str)] = &[
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

    /// Name and type of every column of every table that is declared.
    fn declared() -> BTreeMap<(String, String), Kind> {
        let chained = [&event::TABLE, &audited::TABLE];
        let tables = SEALED.iter().copied().chain(chained);
        let columns = tables.flat_map(|table| {
            let columns = table.columns.iter().map(|it| (it.name, it.kind));
            let beside = table.beside.iter().map(|it| (it.name, it.kind));
            let all = columns.chain(beside).chain([(table.seal, Kind::Bytes)]);
            all.map(move |(name, kind)| ((table.name.to_owned(), name.to_owned()), kind))
        });
        columns.collect()
    }

    #[tokio::test]
    async fn every_column_of_every_table_is_vouched_for() {
        let store = Store::open("sqlite::memory:").await.unwrap();
        let mut conn = store.engine.write().await.unwrap();
        let sql = "SELECT t.name, c.name, c.type FROM sqlite_schema t, pragma_table_info(t.name) c \
             WHERE t.type = 'table' ORDER BY 1, 2";
        let mut declared = declared();
        for mut row in conn.fetch(sql, params![]).await.unwrap() {
            let (table, column) = (row.text().unwrap(), row.text().unwrap());
            if OTHERWISE.iter().any(|(it, _)| *it == table) {
                continue;
            }
            let kind = match row.text().unwrap().as_str() {
                "INTEGER" => Kind::Int,
                "REAL" => Kind::Real,
                "TEXT" => Kind::Text,
                "BLOB" => Kind::Bytes,
                other => panic!("{table}.{column} is {other}"),
            };
            let column = (table, column);
            let known = declared.remove(&column);
            assert_eq!(known, Some(kind), "{column:?} as it is declared");
        }
        let gone: Vec<_> = declared.keys().collect();
        assert!(gone.is_empty(), "declared, and not in the schema: {gone:?}");
    }

    /// A server of the version before leaves a new column NULL, and so are rows that were written before it.
    #[test]
    fn what_names_a_row_is_under_its_first_seal_and_never_changes() {
        for table in SEALED {
            let first = table.columns[0].since;
            for key in table.key {
                let column = table.columns.iter().find(|it| it.name == *key);
                let column = column.unwrap_or_else(|| panic!("{}.{key}", table.name));
                let named = (column.since, column.written);
                assert_eq!(named, (first, Written::Once), "{}.{key}", table.name);
            }
        }
    }
}
