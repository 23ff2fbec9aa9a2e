//! A request with an `Idempotency-Key`: sent again, it changes nothing and gets the first answer.

use async_trait::async_trait;
use serde::{Serialize, de::DeserializeOwned};

use super::granted::packed;
use crate::{
    domain::{Code, Hash, Problem},
    store::{
        Error, Store,
        engine::{params, read_json},
        rows::request::{RequestRow, request_columns},
        table::Declared as _,
        tx::Tx,
        writer::Command,
    },
};

/// How long a first answer is kept.
const KEPT_MS: i64 = 24 * 3_600_000;

pub struct Once<C> {
    pub command: C,
    pub key: Option<Key>,
}

/// Whose request it is, what it is called, and what it says.
pub struct Key {
    pub scope: String,
    pub key: String,
    pub body: Hash,
}

/// A command whose first answer can be kept, compressed.
#[async_trait]
pub trait Repeatable: Command<Answer: Serialize + DeserializeOwned + Sync> {
    /// Compresses before the transaction what of the answer is large and known by then.
    async fn pack_ahead(&mut self, _store: &Store) -> Result<(), Error> {
        Ok(())
    }

    /// The answer as it is kept; `None` if a repeat is to be carried out.
    fn pack(&self, answer: &Self::Answer) -> Result<Option<Vec<u8>>, Error> {
        let plain = serde_json::to_vec(answer).map_err(Error::damaged)?;
        packed(&plain).map(Some)
    }
}

#[async_trait]
impl<C: Repeatable> Command for Once<C> {
    type Answer = C::Answer;

    async fn prepare(&mut self, store: &Store) -> Result<(), Error> {
        self.command.prepare(store).await?;
        match self.key {
            Some(_) => self.command.pack_ahead(store).await,
            None => Ok(()),
        }
    }

    fn heavy(&self) -> bool {
        self.command.heavy()
    }

    async fn apply(&self, tx: &mut Tx) -> Result<C::Answer, Error> {
        let Some(key) = &self.key else {
            return self.command.apply(tx).await;
        };
        let sql = concat!(
            "SELECT ",
            request_columns!(),
            " FROM requests WHERE scope = $1 AND key = $2"
        );
        let known = tx
            .conn()
            .fetch_one(sql, params![key.scope.as_str(), key.key.as_str()])
            .await?;
        if let Some(row) = known {
            let first = RequestRow::opened(row)?;
            if first.body != key.body {
                let detail = "this Idempotency-Key was used for another request";
                return Err(Problem::new(Code::IdempotencyConflict, detail).into());
            }
            let plain =
                zstd::stream::decode_all(first.answer.as_slice()).map_err(Error::damaged)?;
            return read_json(&String::from_utf8(plain).map_err(Error::damaged)?);
        }
        let answer = self.command.apply(tx).await?;
        if let Some(packed) = self.command.pack(&answer)? {
            let first = RequestRow {
                scope: key.scope.clone(),
                key: key.key.clone(),
                body: key.body,
                answer: packed,
                at: tx.now,
            };
            first.insert(tx.conn()).await?;
        }
        Ok(answer)
    }
}

/// Lets old first answers go.
pub struct PurgeRequests;

#[async_trait]
impl Command for PurgeRequests {
    type Answer = ();

    async fn apply(&self, tx: &mut Tx) -> Result<(), Error> {
        let before = tx.now.plus_ms(-KEPT_MS);
        tx.conn()
            .execute("DELETE FROM requests WHERE at < $1", params![before])
            .await?;
        Ok(())
    }
}
