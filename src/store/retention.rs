//! Tables whose rows are kept for a time only, and the command that lets the old ones go.

use async_trait::async_trait;

use super::{Error, engine::params, tx::Tx, writer::Command};

const DAY_MS: i64 = 24 * 3_600_000;

struct Kept {
    table: &'static str,
    /// From the time in its column `at` on.
    for_ms: i64,
}

const KEPT: &[Kept] = &[
    // First answers, for requests that are sent again.
    Kept {
        table: "requests",
        for_ms: DAY_MS,
    },
];

/// Lets old rows go.
pub struct Purge;

#[async_trait]
impl Command for Purge {
    type Answer = ();

    async fn apply(&self, tx: &mut Tx) -> Result<(), Error> {
        for Kept { table, for_ms } in KEPT {
            let before = tx.now.plus_ms(-for_ms);
            let sql = format!("DELETE FROM {table} WHERE at < $1");
            tx.conn().execute_built(sql.into(), params![before]).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tables::SEALED;

    /// Tables whose rows do not go by their age alone.
    const OTHERWISE: &[&str] = &[
        "runs",
        "announced",
        "leases",
        "steps",
        "attempts",
        "log_lines",
        "snapshots",
        "decisions",
        "refs",
        "tags",
        "terms",
        "users",
        "tokens",
        "sessions",
        "signin_links",
        "seen",
    ];

    #[test]
    fn of_every_table_it_is_said_how_long_its_rows_are_kept() {
        for table in SEALED {
            let kept = KEPT.iter().any(|it| it.table == table.name);
            let otherwise = OTHERWISE.contains(&table.name);
            assert!(kept != otherwise, "{}", table.name);
        }
    }
}
