//! What SQLite itself can tell about a file: its pages and indexes, references, and the schema as it should be.

use sqlx::{Connection as _, SqliteConnection, migrate::Migrator};
use tokio::sync::OnceCell;

use crate::store::{
    Error,
    engine::{Connection, params},
};

/// Problems of one kind that are named.
const NAMED: usize = 20;
/// Statistics of the query planner and the like are not schema.
const SCHEMA: &str = "SELECT type, name, tbl_name, COALESCE(sql, '') FROM sqlite_schema \
     WHERE name NOT LIKE 'sqlite_stat%' ORDER BY type, name";

type Schema = Vec<[String; 4]>;

pub async fn file(conn: &mut dyn Connection, known: &Migrator) -> Result<Vec<String>, Error> {
    let mut problems = Vec::new();
    for mut row in conn.fetch("PRAGMA integrity_check(20)", params![]).await? {
        let said = row.text()?;
        if said != "ok" {
            problems.push(said);
        }
    }
    let orphans = conn.fetch("PRAGMA foreign_key_check", params![]).await?;
    for mut row in orphans.into_iter().take(NAMED) {
        problems.push(format!("a row of {} belongs to nothing", row.text()?));
    }
    let mut found = Schema::new();
    for mut row in conn.fetch(SCHEMA, params![]).await? {
        found.push([row.text()?, row.text()?, row.text()?, row.text()?]);
    }
    let expected = expected(known).await?;
    let odd = found.iter().filter(|it| !expected.contains(it));
    let gone = expected.iter().filter(|it| !found.contains(it));
    for [kind, name, ..] in odd.chain(gone).take(NAMED) {
        problems.push(format!("the schema of the {kind} {name} is another one"));
    }
    migrations(conn, known, &mut problems).await?;
    Ok(problems)
}

/// The schema that the migrations make.
async fn expected(known: &Migrator) -> Result<&'static Schema, Error> {
    static EXPECTED: OnceCell<Schema> = OnceCell::const_new();
    EXPECTED
        .get_or_try_init(|| async {
            let mut fresh = SqliteConnection::connect("sqlite::memory:").await?;
            known.run_direct(None, &mut fresh, false).await?;
            let rows: Vec<(String, String, String, String)> =
                sqlx::query_as(SCHEMA).fetch_all(&mut fresh).await?;
            Ok(rows.into_iter().map(|(a, b, c, d)| [a, b, c, d]).collect())
        })
        .await
}

async fn migrations(
    conn: &mut dyn Connection,
    known: &Migrator,
    problems: &mut Vec<String>,
) -> Result<(), Error> {
    let sql = "SELECT version, description, CAST(success AS INTEGER), checksum FROM _sqlx_migrations ORDER BY version";
    let mut found = Vec::new();
    for mut row in conn.fetch(sql, params![]).await? {
        found.push((row.int()?, row.text()?, row.int()?, row.bytes()?));
    }
    let expected = known.iter().map(|migration| {
        (
            migration.version,
            migration.description.to_string(),
            1,
            migration.checksum.to_vec(),
        )
    });
    if found != expected.collect::<Vec<_>>() {
        problems.push("the list of migrations is another one".to_owned());
    }
    Ok(())
}
