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
    engine::{Connection, Param, Row, params, read_json},
    error::Error,
    rows::text,
};
use crate::domain::{Hash, RunId};

/// Bytes of a seal: enough against chance, and it is no secret against malice.
const LENGTH: usize = 16;

/// A table whose rows are sealed.
pub struct Table {
    pub name: &'static str,
    /// The columns that name a row, in the order of its key.
    pub key: &'static str,
    /// The columns that the seal covers, in its order. The column `seal` is not among them. A new column comes last and
    /// is NULL in rows that were written before it.
    pub columns: &'static str,
    /// How many of these columns each earlier version of the table had, oldest first. See `seal/version.rs`.
    pub earlier: &'static [usize],
    /// JSON that lies behind its own hash.
    pub sealed: &'static [&'static str],
    /// Columns that verification checks against something else than a seal.
    pub checked: &'static [&'static str],
}

impl Table {
    pub fn columns(&self) -> impl Iterator<Item = &'static str> {
        self.columns.split(", ")
    }

    fn hasher(&'static self, values: &[Param]) -> Hasher {
        let mut hasher = Hasher::new(self);
        values.iter().for_each(|value| hasher.update(value));
        hasher
    }

    /// The seal of a row with these values, in the order of `columns`.
    pub fn seal(&'static self, values: &[Param]) -> Param {
        Param::Bytes(Some(self.hasher(values).finish()))
    }

    /// The values with their seal.
    pub fn row(&'static self, mut values: Vec<Param>) -> Vec<Param> {
        let seal = self.seal(&values);
        values.push(seal);
        values
    }

    /// Inserts one row.
    pub async fn insert(
        &'static self,
        conn: &mut dyn Connection,
        values: Vec<Param>,
    ) -> Result<(), Error> {
        let row = self.row(values);
        let places: Vec<_> = (1..=row.len()).map(|i| format!("${i}")).collect();
        let sql = format!(
            "INSERT INTO {} ({}, seal) VALUES ({})",
            self.name,
            self.columns,
            places.join(", ")
        );
        conn.execute_built(sql.into(), row).await?;
        Ok(())
    }

    /// Changes columns of the row of this key; answers whether there is one. A damaged row stays as it is.
    pub async fn amend(
        &'static self,
        conn: &mut dyn Connection,
        key: Vec<Param>,
        set: Vec<(&'static str, Param)>,
    ) -> Result<bool, Error> {
        let mut named = (1..).zip(self.key.split(", "));
        let named: Vec<_> = named
            .by_ref()
            .take(key.len())
            .map(|(i, column)| format!("{column} = ${i}"))
            .collect();
        let named = named.join(" AND ");
        let sql = format!(
            "SELECT {}, seal FROM {} WHERE {named}",
            self.columns, self.name
        );
        let rows = conn.fetch_built(sql.into(), key.clone()).await?;
        let Some(row) = rows.into_iter().next() else {
            return Ok(false);
        };
        let mut values = self.opened(row)?;
        for (column, value) in &set {
            if let Some(at) = self.columns().position(|it| it == *column) {
                values[at] = value.clone();
            }
        }
        let mut params = key;
        let mut assigned = Vec::new();
        let seal = ("seal", self.seal(&values));
        for (column, value) in set.into_iter().chain([seal]) {
            params.push(value);
            assigned.push(format!("{column} = ${}", params.len()));
        }
        let sql = format!(
            "UPDATE {} SET {} WHERE {named}",
            self.name,
            assigned.join(", ")
        );
        conn.execute_built(sql.into(), params).await?;
        Ok(true)
    }

    /// The values of a row that was read as `columns, seal`.
    pub fn opened(&'static self, row: Row) -> Result<Vec<Param>, Error> {
        let mut values = row.rest();
        let seal = values.pop();
        match seal {
            Some(Param::Bytes(Some(stored))) if self.hasher(&values).fits(&stored) => Ok(values),
            _ => Err(Error::damaged(self.place(&values))),
        }
    }

    /// A row that was read as `columns, seal`, ready to be read column by column.
    pub fn open(&'static self, row: Row) -> Result<Row, Error> {
        self.opened(row).map(Row::new)
    }

    /// The rows that the rest of the statement chooses, each held against its seal, ready to be read in the order of
    /// `columns`.
    pub async fn select(
        &'static self,
        conn: &mut dyn Connection,
        rest: &'static str,
        params: Vec<Param>,
    ) -> Result<Vec<Row>, Error> {
        let rows = self.stored(conn, rest, params).await?;
        rows.into_iter().map(|row| self.open(row)).collect()
    }

    /// The same for what is only shown: a damaged row is left out, and verification names it.
    pub async fn sound_ones(
        &'static self,
        conn: &mut dyn Connection,
        rest: &'static str,
        params: Vec<Param>,
    ) -> Result<Vec<Row>, Error> {
        let rows = self.stored(conn, rest, params).await?;
        let opened = rows.into_iter().map(|row| self.open(row));
        Ok(opened.filter_map(sound).collect())
    }

    async fn stored(
        &self,
        conn: &mut dyn Connection,
        rest: &'static str,
        params: Vec<Param>,
    ) -> Result<Vec<Row>, Error> {
        let sql = format!("SELECT {}, seal FROM {} {rest}", self.columns, self.name);
        conn.fetch_built(sql.into(), params).await
    }

    /// A page of rows as `columns, seal` and the JSON beside; after the row of this key, of one run or of all.
    pub async fn page(
        &self,
        conn: &mut dyn Connection,
        run: Option<&RunId>,
        after: &[Param],
        limit: i64,
    ) -> Result<Vec<Row>, Error> {
        let mut wanted = Vec::new();
        let mut params = Vec::new();
        if let Some(run) = run {
            params.push(run.as_str().into());
            wanted.push("run = $1".to_owned());
        }
        if !after.is_empty() {
            let first = params.len() + 1;
            params.extend(after.iter().cloned());
            let places: Vec<_> = (first..=params.len()).map(|i| format!("${i}")).collect();
            wanted.push(format!("({}) > ({})", self.key, places.join(", ")));
        }
        let wanted = match wanted.is_empty() {
            true => String::new(),
            false => format!("WHERE {}", wanted.join(" AND ")),
        };
        params.push(limit.into());
        let beside: String = self.sealed.iter().map(|it| format!(", {it}")).collect();
        let sql = format!(
            "SELECT {}, seal{beside} FROM {} {wanted} ORDER BY {} LIMIT ${}",
            self.columns,
            self.name,
            self.key,
            params.len()
        );
        conn.fetch_built(sql.into(), params).await
    }

    /// The key of a row that begins with `columns`.
    pub fn key_of(&self, values: &[Param]) -> Vec<Param> {
        let place = |column| self.columns().position(|it| it == column);
        let key = self.key.split(", ").filter_map(place);
        key.filter_map(|at| values.get(at).cloned()).collect()
    }

    /// A row of [`Table::page`] matches its seal, and so does the JSON beside.
    pub fn sound(&'static self, mut values: Vec<Param>) -> Result<(), Error> {
        let beside = values.split_off(self.columns().count() + 1);
        let values = self.opened(Row::new(values))?;
        for (column, value) in self.sealed.iter().zip(beside) {
            let fits = match value {
                Param::Text(None) => true,
                Param::Text(Some(stored)) => open::<Value>(&stored).is_ok(),
                _ => false,
            };
            if !fits {
                let place = self.place(&values);
                return Err(Error::damaged(format!("the {column} of {place}")));
            }
        }
        Ok(())
    }

    /// Which row it is, in words.
    pub fn place(&self, values: &[Param]) -> String {
        let mut words = vec![format!("a row of {}", self.name)];
        for column in self.key.split(", ") {
            let at = self.columns().position(|it| it == column);
            match at.and_then(|at| values.get(at)) {
                Some(Param::Int(Some(v))) => words.push(format!("{column} {v}")),
                Some(Param::Text(Some(v))) => words.push(format!("{column} {v}")),
                _ => {}
            }
        }
        words.join(", ")
    }
}

/// What was read of a row that matches its seal; another one is logged.
pub fn sound<T>(read: Result<T, Error>) -> Option<T> {
    read.inspect_err(|error| tracing::error!(%error, "a damaged row is left out"))
        .ok()
}

/// JSON behind its own hash: a flipped bit in either is noticed when it is read. An empty list says it all.
pub fn sealed(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    Content::of(&value).sealed()
}

/// The same of what was hashed before.
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
    // Letter by letter: a hash reads the same in capitals, which nobody wrote.
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
    /// Seals the rows of a run that were copied from another one.
    pub async fn seal_run(
        &'static self,
        conn: &mut dyn Connection,
        run: &RunId,
    ) -> Result<(), Error> {
        while self
            .seal_where(conn, "run = $1 AND", params![run.as_str()])
            .await?
        {}
        Ok(())
    }

    /// Seals some rows that have no seal; answers whether there were any.
    async fn seal_some(&'static self, conn: &mut dyn Connection) -> Result<bool, Error> {
        self.seal_where(conn, "", params![]).await
    }

    async fn seal_where(
        &'static self,
        conn: &mut dyn Connection,
        wanted: &str,
        params: Vec<Param>,
    ) -> Result<bool, Error> {
        let beside: String = self.sealed.iter().map(|it| format!(", {it}")).collect();
        let sql = format!(
            "SELECT {}{beside} FROM {} WHERE {wanted} seal IS NULL LIMIT 500",
            self.columns, self.name
        );
        let rows = conn.fetch_built(sql.into(), params).await?;
        let count = self.columns().count();
        let any = !rows.is_empty();
        for row in rows {
            let mut values = row.rest();
            let texts = values.split_off(count);
            let mut params = vec![self.seal(&values)];
            let mut assigned = vec!["seal = $1".to_owned()];
            for (column, value) in self.sealed.iter().zip(texts) {
                if let Param::Text(Some(plain)) = value
                    && open::<Value>(&plain).is_err()
                {
                    params.push(sealed(&read_json::<Value>(&plain)?).into());
                    assigned.push(format!("{column} = ${}", params.len()));
                }
            }
            let mut named = Vec::new();
            for column in self.key.split(", ") {
                let at = self.columns().position(|it| it == column);
                params.push(values[at.unwrap_or(0)].clone());
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
