//! The newest partial result of a step's attempts: what the next attempt may go on from.

use serde_json::Value;

use crate::{
    domain::RunId,
    store::{
        Error,
        engine::{Connection, params},
        rows::Glance,
        seal,
    },
};

/// A partial result as it is stored, behind its hash, and the attempt that sent it.
pub struct StoredPartial {
    attempt: i64,
    text: String,
}

impl StoredPartial {
    pub async fn newest(
        conn: &mut dyn Connection,
        run: &RunId,
        seq: i64,
    ) -> Result<Option<Self>, Error> {
        let sql = "SELECT attempt, partial FROM attempts WHERE run = $1 AND seq = $2 AND partial IS NOT NULL \
             ORDER BY attempt DESC LIMIT 1";
        let row = conn.fetch_one(sql, params![run.as_str(), seq]).await?;
        let Some(mut row) = row else { return Ok(None) };
        Ok(Some(Self {
            attempt: row.int()?,
            text: row.text()?,
        }))
    }

    /// The partial result only if it has fewer than `long` bytes.
    pub async fn glance(
        conn: &mut dyn Connection,
        run: &RunId,
        seq: i64,
        long: usize,
    ) -> Result<Option<Glance<Self>>, Error> {
        let sql = "SELECT attempt, CASE WHEN octet_length(partial) < $3 THEN partial END, substr(partial, 1, 64) \
             FROM attempts WHERE run = $1 AND seq = $2 AND partial IS NOT NULL ORDER BY attempt DESC LIMIT 1";
        let row = conn
            .fetch_one(sql, params![run.as_str(), seq, long as i64])
            .await?;
        let Some(mut row) = row else { return Ok(None) };
        let attempt = row.int()?;
        Ok(Some(match row.opt_text()? {
            Some(text) => Glance::Short(Self { attempt, text }),
            None => Glance::Long {
                mark: mark(attempt, &row.text()?),
            },
        }))
    }

    /// By what the partial result is known again: its attempt, and the hash before its text.
    pub fn mark(&self) -> String {
        mark(self.attempt, self.text.get(..64).unwrap_or_default())
    }

    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    pub fn open(&self) -> Result<Value, Error> {
        seal::open(&self.text)
    }
}

fn mark(attempt: i64, hash: &str) -> String {
    format!("{attempt} {hash}")
}
