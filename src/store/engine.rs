//! What the store asks of a database. Two engines answer; all SQL above this line serves both.

use async_trait::async_trait;
use std::borrow::Cow;

use super::{error::Error, seal, table::Kind};
use crate::domain::{Hash, Time};

/// One parameter of a statement. A missing value still has a type: PostgreSQL wants to know it.
#[derive(Debug, Clone)]
pub enum Param {
    Int(Option<i64>),
    Real(Option<f64>),
    Text(Option<String>),
    Bytes(Option<Vec<u8>>),
}

impl Param {
    /// Nothing, in a column of this kind.
    pub fn none(kind: Kind) -> Self {
        match kind {
            Kind::Int => Self::Int(None),
            Kind::Real => Self::Real(None),
            Kind::Text => Self::Text(None),
            Kind::Bytes => Self::Bytes(None),
        }
    }

    pub fn is_none(&self) -> bool {
        matches!(
            self,
            Self::Int(None) | Self::Real(None) | Self::Text(None) | Self::Bytes(None)
        )
    }

    /// The same to be written: what was read as missing has lost its type.
    pub fn of_kind(self, kind: Kind) -> Self {
        match self {
            Self::Text(None) => Self::none(kind),
            value => value,
        }
    }
}

macro_rules! param_from {
    ($($from:ty => |$v:ident| $to:expr),+ $(,)?) => {$(
        impl From<$from> for Param {
            fn from($v: $from) -> Self { $to }
        }
    )+};
}

param_from! {
    i64 => |v| Self::Int(Some(v)),
    Option<i64> => |v| Self::Int(v),
    bool => |v| Self::Int(Some(i64::from(v))),
    Time => |v| Self::Int(Some(v.0)),
    Option<Time> => |v| Self::Int(v.map(|t| t.0)),
    Option<f64> => |v| Self::Real(v),
    &str => |v| Self::Text(Some(v.to_owned())),
    String => |v| Self::Text(Some(v)),
    Option<String> => |v| Self::Text(v),
    Option<&str> => |v| Self::Text(v.map(str::to_owned)),
    Vec<u8> => |v| Self::Bytes(Some(v)),
    Hash => |v| Self::Bytes(Some(v.0.to_vec())),
    Option<Hash> => |v| Self::Bytes(v.map(|h| h.0.to_vec())),
}

/// `params![a, b]`: anything that fits in a column.
macro_rules! params {
    ($($value:expr),* $(,)?) => { vec![$($crate::store::engine::Param::from($value)),*] };
}
pub(crate) use params;

/// One row, read column by column in the order the statement names them.
pub struct Row {
    values: std::vec::IntoIter<Param>,
    /// What was read since [`Row::begin_seal`].
    seal: Option<seal::Hasher>,
}

impl Row {
    pub(super) fn new(values: Vec<Param>) -> Self {
        Self {
            values: values.into_iter(),
            seal: None,
        }
    }

    fn next(&mut self) -> Result<Param, Error> {
        let value = self.values.next();
        let value = value.ok_or_else(|| Error::damaged("a row is too short"))?;
        if let Some(seal) = &mut self.seal {
            seal.update(&value);
        }
        Ok(value)
    }

    /// Passes by the next columns.
    pub fn skip(&mut self, count: usize) -> Result<(), Error> {
        (0..count).try_for_each(|_| self.next().map(|_| ()))
    }

    /// What was not read yet.
    pub fn rest(self) -> Vec<Param> {
        self.values.collect()
    }

    /// The columns that were not read yet, without reading them.
    pub fn unread(&self) -> &[Param] {
        self.values.as_slice()
    }

    /// A copy of the next `count` columns; reading it does not read them here.
    pub fn ahead(&self, count: usize) -> Self {
        Self::new(self.values.as_slice().iter().take(count).cloned().collect())
    }

    /// The next column is the first that the row's seal covers.
    pub fn begin_seal(&mut self, table: &'static seal::Table) {
        self.seal = Some(seal::Hasher::new(table));
    }

    /// The next column is the seal: whether it is the one of what was read since [`Row::begin_seal`].
    pub fn end_seal(&mut self) -> Result<bool, Error> {
        let made = self.seal.take();
        let stored = self.next()?;
        Ok(matches!((made, stored), (Some(made), Param::Bytes(Some(stored))) if made.fits(&stored)))
    }

    pub fn opt_int(&mut self) -> Result<Option<i64>, Error> {
        match self.next()? {
            Param::Int(v) => Ok(v),
            Param::Text(None) => Ok(None),
            other => Err(Error::damaged(format!(
                "a number was expected, not {other:?}"
            ))),
        }
    }

    pub fn int(&mut self) -> Result<i64, Error> {
        self.opt_int()?.ok_or_else(missing)
    }

    pub fn flag(&mut self) -> Result<bool, Error> {
        Ok(self.int()? != 0)
    }

    pub fn opt_time(&mut self) -> Result<Option<Time>, Error> {
        Ok(self.opt_int()?.map(Time))
    }

    pub fn time(&mut self) -> Result<Time, Error> {
        self.int().map(Time)
    }

    pub fn opt_real(&mut self) -> Result<Option<f64>, Error> {
        match self.next()? {
            Param::Real(v) => Ok(v),
            Param::Text(None) => Ok(None),
            other => Err(Error::damaged(format!(
                "a real number was expected, not {other:?}"
            ))),
        }
    }

    pub fn opt_text(&mut self) -> Result<Option<String>, Error> {
        match self.next()? {
            Param::Text(v) => Ok(v),
            other => Err(Error::damaged(format!("text was expected, not {other:?}"))),
        }
    }

    pub fn text(&mut self) -> Result<String, Error> {
        self.opt_text()?.ok_or_else(missing)
    }

    pub fn opt_bytes(&mut self) -> Result<Option<Vec<u8>>, Error> {
        match self.next()? {
            Param::Bytes(v) => Ok(v),
            Param::Text(None) => Ok(None),
            other => Err(Error::damaged(format!(
                "bytes were expected, not {other:?}"
            ))),
        }
    }

    pub fn bytes(&mut self) -> Result<Vec<u8>, Error> {
        self.opt_bytes()?.ok_or_else(missing)
    }

    pub fn opt_hash(&mut self) -> Result<Option<Hash>, Error> {
        self.opt_bytes()?
            .map(|b| Hash::from_slice(&b).ok_or_else(|| Error::damaged("a hash of another length")))
            .transpose()
    }

    pub fn hash(&mut self) -> Result<Hash, Error> {
        self.opt_hash()?.ok_or_else(missing)
    }

    /// A word of one of the domain's enums.
    pub fn word<T: std::str::FromStr<Err = String>>(&mut self) -> Result<T, Error> {
        self.text()?.parse().map_err(Error::Damaged)
    }

    pub fn opt_word<T: std::str::FromStr<Err = String>>(&mut self) -> Result<Option<T>, Error> {
        self.opt_text()?
            .map(|word| word.parse().map_err(Error::Damaged))
            .transpose()
    }

    pub fn json<T: serde::de::DeserializeOwned>(&mut self) -> Result<T, Error> {
        self.opt_json()?.ok_or_else(missing)
    }

    /// JSON that was stored behind its hash; what does not match it is never served.
    pub fn opt_sealed<T: serde::de::DeserializeOwned>(&mut self) -> Result<Option<T>, Error> {
        let Some(text) = self.opt_text()? else {
            return Ok(None);
        };
        seal::open(&text).map(Some)
    }

    pub fn sealed<T: serde::de::DeserializeOwned>(&mut self) -> Result<T, Error> {
        self.opt_sealed()?.ok_or_else(missing)
    }

    pub fn opt_json<T: serde::de::DeserializeOwned>(&mut self) -> Result<Option<T>, Error> {
        self.opt_text()?.map(|text| read_json(&text)).transpose()
    }
}

fn missing() -> Error {
    Error::damaged("a value is missing")
}

/// Reads stored JSON; what was accepted once may nest deeper than the parser's own limit.
pub fn read_json<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, Error> {
    let mut parser = serde_json::Deserializer::from_str(text);
    parser.disable_recursion_limit();
    let read = T::deserialize(&mut parser).and_then(|value| parser.end().map(|()| value));
    read.map_err(|e| Error::damaged(format!("stored JSON: {e}")))
}

#[async_trait]
pub trait Connection: Send {
    /// Runs a statement; answers how many rows it touched.
    async fn execute(&mut self, sql: &'static str, params: Vec<Param>) -> Result<u64, Error> {
        self.execute_built(Cow::Borrowed(sql), params).await
    }
    /// Runs a statement that was put together from static parts.
    async fn execute_built(
        &mut self,
        sql: Cow<'static, str>,
        params: Vec<Param>,
    ) -> Result<u64, Error>;
    async fn fetch(&mut self, sql: &'static str, params: Vec<Param>) -> Result<Vec<Row>, Error> {
        self.fetch_built(Cow::Borrowed(sql), params).await
    }
    /// Reads by a statement that was put together from static parts.
    async fn fetch_built(
        &mut self,
        sql: Cow<'static, str>,
        params: Vec<Param>,
    ) -> Result<Vec<Row>, Error>;

    /// The database's clock.
    async fn now(&mut self) -> Result<Time, Error>;

    async fn fetch_one(
        &mut self,
        sql: &'static str,
        params: Vec<Param>,
    ) -> Result<Option<Row>, Error> {
        Ok(self.fetch(sql, params).await?.into_iter().next())
    }
}

/// How the end of a transaction went.
#[derive(Debug)]
pub enum CommitError {
    /// Nothing was written.
    RolledBack(Error),
    /// The connection died on the way: it may or may not have been written.
    Unknown(Error),
}

impl CommitError {
    pub fn into_error(self) -> Error {
        match self {
            Self::RolledBack(error) | Self::Unknown(error) => error,
        }
    }
}

/// A writing transaction that holds the counter row, with the clock read after that lock.
#[async_trait]
pub trait Transaction: Connection {
    /// When it took the counter row.
    fn began(&self) -> Time;
    async fn commit(self: Box<Self>) -> Result<(), CommitError>;
    async fn rollback(self: Box<Self>);
}

#[async_trait]
pub trait Engine: Send + Sync + 'static {
    fn name(&self) -> &'static str;
    /// Names this process among the servers of the store.
    fn id(&self) -> &str;
    /// Where the store is, as errors name it: never with a password.
    fn place(&self) -> &str;
    /// Other servers may write to the store while this one does.
    fn is_shared(&self) -> bool;
    /// The newest tick after `since` of another server that is still connected.
    async fn others(&self, conn: &mut dyn Connection, since: Time) -> Result<Option<Time>, Error>;
    async fn migrate(&self) -> Result<(), Error>;
    /// Migrations are applied: none is missing.
    async fn migrated(&self) -> Result<bool, Error>;
    /// What the engine itself finds wrong with its files and schema.
    async fn check(&self) -> Result<Vec<String>, Error>;
    async fn read(&self) -> Result<Box<dyn Connection>, Error>;
    async fn write(&self) -> Result<Box<dyn Transaction>, Error>;
    /// Waits until another process may have written; `None` where this process is the only writer.
    async fn listen(&self) -> Result<Option<Box<dyn Wake>>, Error>;
    async fn close(&self);
}

/// A wake-up from the database. It is no queue: the table is always read.
#[async_trait]
pub trait Wake: Send {
    async fn woken(&mut self) -> Result<(), Error>;
}
