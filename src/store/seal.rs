//! Seals: every row carries a hash of its own columns, so that a flipped bit in any of them is noticed when the row
//! is read, or when the store is verified.
//!
//! A row is written whole or amended by [`Table::amend`]; a statement that changes some columns of a sealed table
//! and leaves the seal as it was makes the row unreadable. Large JSON lies behind a hash of its own ([`sealed`]), or
//! beside one in the row, so that lists need not read it.

mod version;

pub use version::Hasher;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    content::Content,
    engine::{Connection, Param, params, read_json},
    error::Error,
    rows::text,
    table::Vouched,
};
use crate::domain::Hash;

pub use super::table::Table;

/// Bytes of a seal: enough against chance, and it is no secret against malice.
const LENGTH: usize = 16;

/// What was read of a row that matches its seal; another one is logged.
pub fn sound<T>(read: Result<T, Error>) -> Option<T> {
    read.inspect_err(|error| tracing::error!(%error, "a damaged row is left out"))
        .ok()
}

/// JSON behind its own hash: a flipped bit in either is noticed when it is read. An empty list is stored without a hash:
/// any flipped bit makes it no list.
pub fn sealed(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    Content::of(&value).sealed()
}

/// The same for text whose hash is known.
pub(super) fn seal_text(hash: Hash, text: &str) -> String {
    match text {
        EMPTY => EMPTY.to_owned(),
        text => format!("{hash}{text}"),
    }
}

const EMPTY: &str = "[]";

/// Reads what [`sealed`] wrote.
pub fn open<T: DeserializeOwned>(stored: &str) -> Result<T, Error> {
    if stored == EMPTY {
        return read_json(stored);
    }
    let broken = || Error::damaged("a value does not match its hash");
    let (hash, json) = stored.split_at_checked(64).ok_or_else(broken)?;
    let value: Value = read_json(json)?;
    // Compared as text: a hash with a flipped letter case would parse to the same number.
    if hash != Hash::of(&value).to_string() || text(&value) != json {
        return Err(broken());
    }
    serde_json::from_value(value).map_err(Error::damaged)
}

/// Seals what versions before seals wrote, a few rows at a time; done once.
pub async fn seal_older(
    conn: &mut dyn Connection,
    tables: &[&'static Table],
) -> Result<bool, Error> {
    let row = conn
        .fetch_one("SELECT sealed FROM counter WHERE id = 1", params![])
        .await?;
    let mut row = row.ok_or_else(|| Error::damaged("the counter row is missing"))?;
    if row.int()? != 0 {
        return Ok(true);
    }
    for table in tables {
        if table.seal_some(conn).await? {
            return Ok(false);
        }
    }
    conn.execute("UPDATE counter SET sealed = 1 WHERE id = 1", params![])
        .await?;
    Ok(true)
}

impl Table {
    /// Seals some rows that have no seal; answers whether there were any.
    async fn seal_some(&'static self, conn: &mut dyn Connection) -> Result<bool, Error> {
        let sql = format!("{} WHERE seal IS NULL LIMIT 500", self.whole_text());
        let rows = conn.fetch_built(sql.into(), params![]).await?;
        let any = !rows.is_empty();
        for row in rows {
            let mut values = row.rest();
            let beside = values.split_off(self.columns.len() + 1);
            values.truncate(self.columns.len());
            let mut params = vec![self.seal(&values)];
            let mut assigned = vec!["seal = $1".to_owned()];
            for (column, value) in self.beside.iter().zip(beside) {
                if let (Vouched::Sealed, Param::Text(Some(plain))) = (column.vouched, value)
                    && open::<Value>(&plain).is_err()
                {
                    params.push(sealed(&read_json::<Value>(&plain)?).into());
                    assigned.push(format!("{} = ${}", column.name, params.len()));
                }
            }
            let mut named = Vec::new();
            for (column, value) in self.key.iter().zip(self.key_of(&values)) {
                params.push(value);
                named.push(format!("{column} = ${}", params.len()));
            }
            let sql = format!(
                "UPDATE {} SET {} WHERE {}",
                self.name,
                assigned.join(", "),
                named.join(" AND ")
            );
            conn.execute_built(sql.into(), params).await?;
        }
        Ok(any)
    }
}
