//! What of a run is not in its row's seal, but behind hashes of its own: it may be megabytes.

use serde_json::Value;

use super::RunRow;
use crate::{
    domain::{AgentError, RunId, wire::json},
    store::{
        Error,
        engine::{Connection, Row, params},
        seal,
    },
};

#[derive(Debug, Clone)]
pub struct RunContent {
    pub input: Value,
    pub state_schema: Option<Value>,
    pub result: Option<Value>,
    pub error: Option<AgentError>,
}

/// The same as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredContent {
    input: String,
    beside: [Option<String>; 3],
}

/// Content that was held against its hashes, and the text that this is true of.
#[derive(Debug)]
pub struct Opened {
    pub stored: StoredContent,
    pub content: RunContent,
}

impl StoredContent {
    fn read(mut row: Row) -> Result<Self, Error> {
        Ok(Self {
            input: row.text()?,
            beside: [row.opt_text()?, row.opt_text()?, row.opt_text()?],
        })
    }

    /// Only if it has so many bytes.
    pub async fn of_long(
        conn: &mut dyn Connection,
        run: &RunId,
        bytes: usize,
    ) -> Result<Option<Self>, Error> {
        let sql = "SELECT input, state_schema, result, error FROM runs WHERE id = $1 AND octet_length(input) \
             + COALESCE(octet_length(state_schema), 0) + COALESCE(octet_length(result), 0) > $2";
        let row = conn
            .fetch_one(sql, params![run.as_str(), bytes as i64])
            .await?;
        row.map(Self::read).transpose()
    }

    pub fn bytes(&self) -> usize {
        let beside = self.beside.iter().flatten().map(String::len);
        self.input.len() + beside.sum::<usize>()
    }

    /// Holds all of it against its hashes.
    pub fn open(&self) -> Result<RunContent, Error> {
        let [state_schema, result, error] = &self.beside;
        let value = |text: &Option<String>| text.as_deref().map(seal::open).transpose();
        Ok(RunContent {
            input: seal::open(&self.input)?,
            state_schema: value(state_schema)?,
            result: value(result)?,
            error: error.as_deref().map(seal::open).transpose()?,
        })
    }
}

impl Opened {
    /// Roughly what it takes in memory.
    pub fn bytes(&self) -> usize {
        let RunContent {
            input,
            state_schema,
            result,
            ..
        } = &self.content;
        let given = [Some(input), state_schema.as_ref(), result.as_ref()];
        let values: usize = given.into_iter().flatten().map(json::values).sum();
        2 * self.stored.bytes() + 64 * values
    }
}

impl RunRow {
    pub async fn stored_content(&self, conn: &mut dyn Connection) -> Result<StoredContent, Error> {
        let sql = "SELECT input, state_schema, result, error FROM runs WHERE id = $1";
        let row = conn.fetch_one(sql, params![self.id.as_str()]).await?;
        StoredContent::read(row.ok_or_else(|| Error::damaged("a run vanished"))?)
    }
}
