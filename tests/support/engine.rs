//! The two engines, and a fresh store on each.

use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use std::{env, path::Path};

use super::unique;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    Sqlite,
    Postgres,
}

impl Engine {
    /// `STEP47_TEST_ENGINES=sqlite` leaves the other one out; by default both run.
    pub fn chosen(self) -> bool {
        let name = format!("{self:?}").to_lowercase();
        match env::var("STEP47_TEST_ENGINES") {
            Ok(engines) => engines.split(',').any(|engine| engine.trim() == name),
            Err(_) => true,
        }
    }

    /// The URL of a store that nobody used yet.
    pub async fn fresh_store(self, dir: &Path) -> Result<String, String> {
        match self {
            Self::Sqlite => Ok(format!("sqlite:{}", dir.join("step47.db").display())),
            Self::Postgres => fresh_database().await,
        }
    }
}

async fn fresh_database() -> Result<String, String> {
    let admin = admin_url()?;
    let name = unique("step47_test").replace('-', "_");
    execute(&admin, format!("CREATE DATABASE {name}")).await?;
    let (server, _) = split(&admin)?;
    Ok(format!("{server}/{name}{}", query(&admin)))
}

/// Runs a statement as the administrator of the test's PostgreSQL.
pub async fn administer(statement: String) {
    let admin = admin_url().expect("an admin URL");
    execute(&admin, statement).await.expect("a statement");
}

fn admin_url() -> Result<String, String> {
    env::var("STEP47_TEST_POSTGRES").map_err(|_| {
        "STEP47_TEST_POSTGRES is not set: run `cargo xtask test`, which starts a PostgreSQL, \
         or set STEP47_TEST_ENGINES=sqlite to leave PostgreSQL out"
            .to_owned()
    })
}

async fn execute(url: &str, statement: String) -> Result<(), String> {
    let why = |error: sqlx::Error| format!("{statement}: {error}");
    let mut connection = PgConnection::connect(url).await.map_err(why)?;
    connection
        .execute(AssertSqlSafe(statement.clone()))
        .await
        .map_err(why)?;
    connection.close().await.map_err(why)
}

/// `postgres://user@host:port` and the name of the database.
fn split(url: &str) -> Result<(&str, &str), String> {
    let end = url.find('?').unwrap_or(url.len());
    let host = url.find("://").map_or(0, |at| at + 3);
    match url[host..end].find('/') {
        Some(slash) => Ok((&url[..host + slash], &url[host + slash + 1..end])),
        None => Ok((&url[..end], "")),
    }
}

fn query(url: &str) -> &str {
    url.find('?').map_or("", |at| &url[at..])
}

/// The name of the database that a store's URL points at.
pub fn database(url: &str) -> &str {
    split(url).map_or("", |(_, name)| name)
}
