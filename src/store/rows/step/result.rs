//! A step's result, read without what else lies beside its row: input and result may be megabytes each.

use serde_json::Value;

use super::StepRow;
use crate::{
    domain::{AgentError, Hash, RunId},
    store::{
        Error,
        engine::{Connection, Row, params, read_json},
        rows::Glance,
    },
};

/// A result as it is stored, and the hash beside it.
pub struct StoredResult {
    text: Option<String>,
    hash: Option<Hash>,
}

impl StoredResult {
    pub fn read(row: &mut Row) -> Result<Self, Error> {
        Ok(Self {
            text: row.opt_text()?,
            hash: row.opt_hash()?,
        })
    }

    pub async fn of(conn: &mut dyn Connection, run: &RunId, seq: i64) -> Result<Self, Error> {
        let sql = "SELECT result, result_hash FROM steps WHERE run = $1 AND seq = $2";
        let row = conn.fetch_one(sql, params![run.as_str(), seq]).await?;
        Self::read(&mut row.ok_or_else(vanished)?)
    }

    /// The result only if it has fewer than `long` bytes.
    pub async fn glance(
        conn: &mut dyn Connection,
        run: &RunId,
        seq: i64,
        long: usize,
    ) -> Result<Glance<Self>, Error> {
        let sql = "SELECT CAST(COALESCE(octet_length(result), 0) AS BIGINT), \
             CASE WHEN octet_length(result) < $3 THEN result END, result_hash \
             FROM steps WHERE run = $1 AND seq = $2";
        let row = conn
            .fetch_one(sql, params![run.as_str(), seq, long as i64])
            .await?;
        let mut row = row.ok_or_else(vanished)?;
        let bytes = row.int()?;
        let stored = Self::read(&mut row)?;
        Ok(match bytes < long as i64 {
            true => Glance::Short(stored),
            false => Glance::Long {
                mark: stored.mark(),
            },
        })
    }

    /// By what the result is known again: its hash.
    pub fn mark(&self) -> String {
        self.hash.map(|hash| hash.to_string()).unwrap_or_default()
    }

    pub fn bytes(&self) -> usize {
        self.text.as_ref().map_or(0, String::len)
    }

    /// A result that does not match its hash is never served.
    pub fn open(&self, run: &RunId, seq: i64) -> Result<Option<Value>, Error> {
        let result = self.text.as_deref().map(read_json::<Value>).transpose()?;
        match result.as_ref().map(Hash::of) == self.hash {
            true => Ok(result),
            false => Err(Error::damaged(format!(
                "the result of step {seq} of run {run}"
            ))),
        }
    }
}

impl StepRow {
    /// Its error: three texts, which are quickly read however long they are.
    pub async fn error(&self, conn: &mut dyn Connection) -> Result<Option<AgentError>, Error> {
        let sql = "SELECT error FROM steps WHERE run = $1 AND seq = $2";
        let key = params![self.run.as_str(), self.seq];
        let row = conn.fetch_one(sql, key).await?;
        row.ok_or_else(vanished)?.opt_sealed()
    }
}

fn vanished() -> Error {
    Error::damaged("a step vanished")
}
