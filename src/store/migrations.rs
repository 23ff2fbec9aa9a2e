//! Whether a database has the schema that this program knows.

use sqlx::migrate::Migrator;

use super::{
    engine::{Connection, params},
    error::Error,
};

pub async fn applied(conn: &mut dyn Connection, known: &Migrator) -> Result<bool, Error> {
    let row = conn
        .fetch_one(
            "SELECT MAX(version) FROM _sqlx_migrations WHERE success",
            params![],
        )
        .await?;
    let newest = row.map(|mut row| row.opt_int()).transpose()?.flatten();
    Ok(newest >= known.iter().map(|m| m.version).max())
}
