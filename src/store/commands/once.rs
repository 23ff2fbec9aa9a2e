//! A request with an `Idempotency-Key`: sent again, it changes nothing and gets the first answer. That is read before the
//! transaction, which only asks whether it still is the first answer, or still none.

use async_trait::async_trait;
use serde::{Serialize, de::DeserializeOwned};
use std::sync::Mutex;

use super::packed::compressed;
use crate::{
    aside::aside,
    domain::{Code, Hash, Problem},
    store::{
        Error, Store,
        engine::{Param, Row, params, read_json},
        rows::request::{RequestRow, request_columns},
        table::Declared as _,
        tx::Tx,
        writer::Command,
    },
};

pub struct Once<C: Repeatable> {
    pub command: C,
    key: Option<Key>,
    /// What was answered before, as of the latest look.
    first: Option<First<C::Answer>>,
}

/// A first answer, and the seal of the row that it was read from.
struct First<A> {
    seal: Vec<u8>,
    answer: Mutex<Option<A>>,
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
        compressed(&plain).map(Some)
    }
}

impl<C: Repeatable> Once<C> {
    pub fn new(command: C, key: Option<Key>) -> Self {
        Self {
            command,
            key,
            first: None,
        }
    }
}

impl Key {
    /// What was answered to the request of this key.
    async fn answered<A: DeserializeOwned>(
        &self,
        store: &Store,
    ) -> Result<Option<First<A>>, Error> {
        let sql = concat!(
            "SELECT ",
            request_columns!(),
            " FROM requests WHERE scope = $1 AND key = $2"
        );
        let mut conn = store.engine.read().await?;
        let row = conn
            .fetch_one(sql, params![self.scope.as_str(), self.key.as_str()])
            .await?;
        drop(conn);
        match row {
            Some(row) => aside(|| self.first(row)).await.map(Some),
            None => Ok(None),
        }
    }

    fn first<A: DeserializeOwned>(&self, row: Row) -> Result<First<A>, Error> {
        let seal = match row.unread().last() {
            Some(Param::Bytes(Some(seal))) => seal.clone(),
            _ => Vec::new(),
        };
        let first = RequestRow::opened(row)?;
        if first.body != self.body {
            let detail = "this Idempotency-Key was used for another request";
            return Err(Problem::new(Code::IdempotencyConflict, detail).into());
        }
        let plain = zstd::stream::decode_all(first.answer.as_slice()).map_err(Error::damaged)?;
        let answer = read_json(&String::from_utf8(plain).map_err(Error::damaged)?)?;
        Ok(First {
            seal,
            answer: Mutex::new(Some(answer)),
        })
    }
}

impl<A> First<A> {
    /// The answer, if this is still the seal of its row. It is given once: a command that is applied again is prepared again.
    fn take(&self, seal: &[u8]) -> Result<A, Error> {
        let same = seal == self.seal;
        let answer = self.answer.lock().ok().filter(|_| same);
        let answer = answer.and_then(|mut answer| answer.take());
        answer.ok_or(Error::Outdated)
    }
}

#[async_trait]
impl<C: Repeatable> Command for Once<C> {
    type Answer = C::Answer;

    async fn prepare(&mut self, store: &Store) -> Result<(), Error> {
        let Some(key) = &self.key else {
            return self.command.prepare(store).await;
        };
        self.first = key.answered(store).await?;
        if self.first.is_some() {
            return Ok(());
        }
        self.command.prepare(store).await?;
        self.command.pack_ahead(store).await
    }

    fn heavy(&self) -> bool {
        self.first.is_none() && self.command.heavy()
    }

    async fn apply(&self, tx: &mut Tx) -> Result<C::Answer, Error> {
        let Some(key) = &self.key else {
            return self.command.apply(tx).await;
        };
        let sql = "SELECT seal FROM requests WHERE scope = $1 AND key = $2";
        let row = tx
            .conn()
            .fetch_one(sql, params![key.scope.as_str(), key.key.as_str()])
            .await?;
        let seal = row.map(|mut row| row.opt_bytes()).transpose()?;
        match (&self.first, seal) {
            (Some(first), Some(seal)) => return first.take(&seal.unwrap_or_default()),
            (None, None) => {}
            // It was answered, or its answer was let go, since the look.
            _ => return Err(Error::Outdated),
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
