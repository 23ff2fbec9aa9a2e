//! What of a run is not in its row's seal, but behind hashes of its own: it may be megabytes.

use serde_json::Value;
use std::sync::Arc;

use super::RunRow;
use crate::{
    domain::{AgentError, RunId, wire::json},
    store::{
        Error,
        engine::{Connection, Row, params},
        seal,
    },
};

/// A copy is cheap: it shares the values.
#[derive(Debug, Clone)]
pub struct RunContent {
    pub input: Arc<Value>,
    pub state_schema: Option<Arc<Value>>,
    pub result: Option<Arc<Value>>,
    pub error: Option<AgentError>,
}

/// The same as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredContent {
    input: String,
    beside: [Option<String>; 3],
}

/// Of each part of the content the hash that stands before its text, and how many bytes it has: a part in which neither
/// changed is the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prints([Option<Print>; 4]);

type Print = (String, i64);

/// Content that was held against its hashes, and the text that this is true of.
#[derive(Debug)]
pub struct Opened {
    pub stored: StoredContent,
    prints: Prints,
    pub content: RunContent,
}

/// Letters of a hash.
const HASH: usize = 64;

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
        let value = |text: &Option<String>| {
            let value = text.as_deref().map(seal::open::<Value>).transpose()?;
            Ok::<_, Error>(value.map(Arc::new))
        };
        Ok(RunContent {
            input: Arc::new(seal::open(&self.input)?),
            state_schema: value(state_schema)?,
            result: value(result)?,
            error: error.as_deref().map(seal::open).transpose()?,
        })
    }

    fn prints(&self) -> Prints {
        let print =
            |text: &String| -> Print { (text.chars().take(HASH).collect(), text.len() as i64) };
        let [state_schema, result, error] = &self.beside;
        Prints([
            Some(print(&self.input)),
            state_schema.as_ref().map(print),
            result.as_ref().map(print),
            error.as_ref().map(print),
        ])
    }
}

impl Prints {
    pub async fn of(conn: &mut dyn Connection, run: &RunId) -> Result<Self, Error> {
        let sql = "SELECT substr(input, 1, 64), CAST(octet_length(input) AS BIGINT), \
             substr(state_schema, 1, 64), CAST(octet_length(state_schema) AS BIGINT), \
             substr(result, 1, 64), CAST(octet_length(result) AS BIGINT), \
             substr(error, 1, 64), CAST(octet_length(error) AS BIGINT) FROM runs WHERE id = $1";
        let row = conn.fetch_one(sql, params![run.as_str()]).await?;
        let mut row = row.ok_or_else(|| Error::damaged("a run vanished"))?;
        let mut print = || Ok::<_, Error>(row.opt_text()?.zip(row.opt_int()?));
        Ok(Self([print()?, print()?, print()?, print()?]))
    }
}

impl Opened {
    pub fn new(stored: StoredContent, content: RunContent) -> Self {
        Self {
            prints: stored.prints(),
            stored,
            content,
        }
    }

    /// The content of a run that is stored with these prints, if all that it has now is known. A part may be gone.
    pub fn still(&self, now: &Prints) -> Option<RunContent> {
        let ([input, beside @ ..], [known_input, known @ ..]) = (&now.0, &self.prints.0);
        let same = |(now, known): (&Option<Print>, &Option<Print>)| now.is_none() || now == known;
        if input != known_input || !beside.iter().zip(known).all(same) {
            return None;
        }
        let [state_schema, result, error] = beside;
        let known = self.content.clone();
        Some(RunContent {
            input: known.input,
            state_schema: known.state_schema.filter(|_| state_schema.is_some()),
            result: known.result.filter(|_| result.is_some()),
            error: known.error.filter(|_| error.is_some()),
        })
    }

    /// Roughly what it takes in memory.
    pub fn bytes(&self) -> usize {
        let RunContent {
            input,
            state_schema,
            result,
            ..
        } = &self.content;
        let given = [Some(input), state_schema.as_ref(), result.as_ref()];
        let values: usize = given.into_iter().flatten().map(|it| json::values(it)).sum();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::rows::sealed;
    use serde_json::json;

    fn stored(input: &Value, result: Option<&Value>) -> StoredContent {
        StoredContent {
            input: sealed(input),
            beside: [None, result.map(sealed), None],
        }
    }

    #[test]
    fn content_is_known_by_its_prints_until_a_part_of_it_changes() {
        let (input, result) = (json!([1, 2]), json!("found"));
        let text = stored(&input, Some(&result));
        let content = text.open().unwrap();
        let opened = Opened::new(text.clone(), content);
        let still = |input: &Value, result: Option<&Value>| {
            let now = stored(input, result).prints();
            opened.still(&now)
        };
        let same = still(&input, Some(&result)).unwrap();
        assert!(Arc::ptr_eq(&same.input, &opened.content.input), "shared");
        assert_eq!(same.result.as_deref(), Some(&result));
        let reopened = still(&input, None).unwrap();
        assert_eq!((&*reopened.input, reopened.result), (&input, None));
        assert!(still(&json!([1, 3]), Some(&result)).is_none());
        assert!(still(&input, Some(&json!("other"))).is_none());
    }
}
