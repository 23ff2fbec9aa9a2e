//! Rows of a declared table: inserted, amended, read and held against their seals.

use serde_json::Value;

use super::{Beside, Table, Vouched};
use crate::{
    domain::RunId,
    store::{
        Error,
        engine::{Connection, Param, Row},
        seal::{open, sound},
    },
};

/// A row of a declared table that nothing lies beside. Runs, steps and attempts have readers of their own: damaged ones
/// are shown.
pub trait Declared: Sized {
    fn table() -> &'static Table;
    fn read_fields(row: &mut Row) -> Result<Self, Error>;
    fn column_values(&self) -> Vec<Param>;

    /// A row that was read as `columns, seal` and matches its seal.
    fn opened(row: Row) -> Result<Self, Error> {
        let mut row = Self::table().open(row)?;
        Self::read_fields(&mut row)
    }

    /// The rows that the rest of the statement chooses, each held against its seal.
    #[allow(
        async_fn_in_trait,
        reason = "it is called by name only, so that its future is known to be Send"
    )]
    async fn select(
        conn: &mut dyn Connection,
        rest: &'static str,
        params: Vec<Param>,
    ) -> Result<Vec<Self>, Error> {
        let rows = Self::table().select(conn, rest, params).await?;
        let read = rows.into_iter().map(|mut row| Self::read_fields(&mut row));
        read.collect()
    }

    /// The same for what is only shown: a damaged row is left out, and verification names it.
    #[allow(async_fn_in_trait, reason = "as above")]
    async fn sound_ones(
        conn: &mut dyn Connection,
        rest: &'static str,
        params: Vec<Param>,
    ) -> Result<Vec<Self>, Error> {
        let rows = Self::table().sound_ones(conn, rest, params).await?;
        let read = rows.into_iter().map(|mut row| Self::read_fields(&mut row));
        read.collect()
    }

    #[allow(async_fn_in_trait, reason = "as above")]
    async fn insert(&self, conn: &mut dyn Connection) -> Result<(), Error> {
        Self::table().insert(conn, self.column_values()).await
    }
}

impl Table {
    /// Inserts one row.
    pub async fn insert(
        &'static self,
        conn: &mut dyn Connection,
        mut values: Vec<Param>,
    ) -> Result<(), Error> {
        values.push(self.seal(&values));
        conn.execute(self.insert_text(), values).await?;
        Ok(())
    }

    /// Changes columns of the row of this key; answers whether there is one. A damaged row stays as it is.
    pub async fn amend(
        &'static self,
        conn: &mut dyn Connection,
        key: Vec<Param>,
        set: Vec<(&'static str, Param)>,
    ) -> Result<bool, Error> {
        let named = self.key.iter().zip(1..);
        let named: Vec<_> = named
            .take(key.len())
            .map(|(column, n)| format!("{column} = ${n}"))
            .collect();
        let named = named.join(" AND ");
        let sql = format!("{} WHERE {named}", self.select_text());
        let rows = conn.fetch_built(sql.into(), key.clone()).await?;
        let Some(row) = rows.into_iter().next() else {
            return Ok(false);
        };
        let mut values = self.opened(row)?;
        for (column, value) in &set {
            let at = self.position(column);
            let at =
                at.ok_or_else(|| Error::damaged(format!("{} has no column {column}", self.name)))?;
            values[at] = value.clone();
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
        &'static self,
        conn: &mut dyn Connection,
        rest: &'static str,
        params: Vec<Param>,
    ) -> Result<Vec<Row>, Error> {
        let sql = format!("{} {rest}", self.select_text());
        conn.fetch_built(sql.into(), params).await
    }

    /// A page of rows as `columns, seal` and what lies beside; after the row of this key, of one run or of all.
    pub async fn page(
        &'static self,
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
        let key = self.key.join(", ");
        if !after.is_empty() {
            let first = params.len() + 1;
            params.extend(after.iter().cloned());
            let places: Vec<_> = (first..=params.len()).map(|n| format!("${n}")).collect();
            wanted.push(format!("({key}) > ({})", places.join(", ")));
        }
        let wanted = match wanted.is_empty() {
            true => String::new(),
            false => format!("WHERE {}", wanted.join(" AND ")),
        };
        params.push(limit.into());
        let sql = format!(
            "{} {wanted} ORDER BY {key} LIMIT ${}",
            self.whole_text(),
            params.len()
        );
        conn.fetch_built(sql.into(), params).await
    }

    /// The key of a row that begins with `columns`.
    pub fn key_of(&self, values: &[Param]) -> Vec<Param> {
        let key = self.key.iter().filter_map(|it| self.position(it));
        key.filter_map(|at| values.get(at).cloned()).collect()
    }

    /// A row of [`Table::page`] matches its seal, and so does the JSON beside.
    pub fn sound(&'static self, mut values: Vec<Param>) -> Result<(), Error> {
        let beside = values.split_off(values.len().min(self.columns.len() + 1));
        let values = self.opened(Row::new(values))?;
        let unchecked = self
            .beside_sound(beside)
            .map_err(|column| Error::damaged(format!("the {column} of {}", self.place(&values))))?;
        match unchecked.as_slice() {
            [] => Ok(()),
            [(column, _), ..] => Err(Error::damaged(format!(
                "nothing checks {}.{}",
                self.name, column.name
            ))),
        }
    }

    /// Holds the JSON beside a row against its hashes; answers what is left to be checked otherwise, or the name of the
    /// column that does not match.
    pub fn beside_sound(
        &self,
        beside: Vec<Param>,
    ) -> Result<Vec<(&'static Beside, Param)>, &'static str> {
        let mut unchecked = Vec::new();
        for (column, value) in self.beside.iter().zip(beside) {
            let fits = match (column.vouched, &value) {
                (Vouched::Checked, _) => {
                    unchecked.push((column, value));
                    continue;
                }
                (Vouched::Sealed, Param::Text(None)) => true,
                (Vouched::Sealed, Param::Text(Some(stored))) => open::<Value>(stored).is_ok(),
                (Vouched::Sealed, _) => false,
            };
            if !fits {
                return Err(column.name);
            }
        }
        Ok(unchecked)
    }

    /// Which row it is, in words.
    pub fn place(&self, values: &[Param]) -> String {
        let mut words = vec![format!("a row of {}", self.name)];
        for column in self.key {
            match self.position(column).and_then(|at| values.get(at)) {
                Some(Param::Int(Some(v))) => words.push(format!("{column} {v}")),
                Some(Param::Text(Some(v))) => words.push(format!("{column} {v}")),
                _ => {}
            }
        }
        words.join(", ")
    }
}
