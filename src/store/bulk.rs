//! Many rows by one statement: a transaction keeps what it will write and sends it table by table at its end.
//!
//! On PostgreSQL each statement is a round trip, and a group of commands would pay for each of its rows. A statement is
//! put together from the table's declaration, once for each number of rows.

use std::sync::OnceLock;

use super::{
    engine::{Connection, Param},
    error::Error,
    table::{Column, Table, Written},
};
use crate::domain::Hash;

/// Rows in one statement; smaller rests go in powers of two, so that few statements are prepared.
const ROWS: usize = 32;
const SIZES: usize = ROWS.ilog2() as usize + 1;

/// A statement for any number of rows.
pub struct Bulk {
    table: &'static Table,
    what: What,
    /// Columns beside the seal that it writes, in the order in which [`Bulk::row`] is given them.
    beside: &'static [&'static str],
    after: &'static str,
    texts: [OnceLock<String>; SIZES],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    /// A new row. Columns that are only written later are NULL in it, and left out of the statement.
    Insert,
    /// A fork's copy of a row. All columns are written, also those that are NULL in a new row.
    Copy,
    Update,
}

impl Bulk {
    const fn new(
        table: &'static Table,
        what: What,
        beside: &'static [&'static str],
        after: &'static str,
    ) -> Self {
        Self {
            table,
            what,
            beside,
            after,
            texts: [const { OnceLock::new() }; SIZES],
        }
    }

    pub const fn insert(table: &'static Table, beside: &'static [&'static str]) -> Self {
        Self::new(table, What::Insert, beside, "")
    }

    /// Writes every column, also those beside the seal in the order of their declaration.
    pub const fn copy(table: &'static Table) -> Self {
        Self::new(table, What::Copy, &[], "")
    }

    pub const fn update(table: &'static Table, beside: &'static [&'static str]) -> Self {
        Self::new(table, What::Update, beside, "")
    }

    /// An insert that leaves a row alone which is there already.
    pub const fn insert_new(table: &'static Table) -> Self {
        Self::new(table, What::Insert, &[], " ON CONFLICT DO NOTHING")
    }

    #[cfg(test)]
    pub fn beside(&self) -> &'static [&'static str] {
        self.beside
    }

    fn writes(&self, column: &Column) -> bool {
        match self.what {
            What::Insert => column.written != Written::Later,
            What::Copy => true,
            What::Update => column.written != Written::Once || self.table.is_key(column.name),
        }
    }

    /// The columns of `VALUES`, in their order.
    fn columns(&self) -> Vec<&'static str> {
        let columns = self.table.columns.iter().filter(|it| self.writes(it));
        let columns = columns.map(|it| it.name);
        let copied = self.table.beside.iter().map(|it| it.name);
        let copied = copied.filter(|_| self.what == What::Copy);
        let beside = self.beside.iter().copied().chain(copied);
        columns.chain(beside).chain([self.table.seal]).collect()
    }

    /// One row: the values of all columns that the seal covers, and of those beside it that this writes.
    pub fn row(&self, values: Vec<Param>, beside: Vec<Param>) -> Vec<Param> {
        let seal = self.table.seal(&values);
        self.row_under(values, beside, seal)
    }

    /// A row of a chain: its hash covers more than the row.
    pub fn link(&self, values: Vec<Param>, hash: Hash) -> Vec<Param> {
        self.row_under(values, Vec::new(), hash.into())
    }

    fn row_under(&self, values: Vec<Param>, beside: Vec<Param>, seal: Param) -> Vec<Param> {
        let columns = self.table.columns.iter().zip(values);
        let mut row = Vec::with_capacity(self.table.columns.len() + beside.len() + 1);
        for (column, value) in columns {
            if self.writes(column) {
                row.push(value);
            } else if self.what == What::Insert {
                debug_assert!(
                    value.is_none(),
                    "{}.{} is written later, and has a value in a new row",
                    self.table.name,
                    column.name
                );
            }
        }
        row.extend(beside);
        row.push(seal);
        row
    }

    fn text(&self, rows: usize) -> String {
        let (name, columns) = (self.table.name, self.columns());
        let row = |row: usize| {
            let first = row * columns.len() + 1;
            let places: Vec<_> = (first..first + columns.len())
                .map(|n| format!("${n}"))
                .collect();
            format!("({})", places.join(", "))
        };
        let values: Vec<_> = (0..rows).map(row).collect();
        let values = values.join(", ");
        if self.what != What::Update {
            let columns = columns.join(", ");
            return format!(
                "INSERT INTO {name} ({columns}) VALUES {values}{}",
                self.after
            );
        }
        // Both engines name the columns of VALUES `column1`, `column2`, ….
        let (mut set, mut named) = (Vec::new(), Vec::new());
        for (column, n) in columns.into_iter().zip(1..) {
            match self.table.is_key(column) {
                true => named.push(format!("{name}.{column} = v.column{n}")),
                false => set.push(format!("{column} = v.column{n}")),
            }
        }
        let (set, named) = (set.join(", "), named.join(" AND "));
        format!("UPDATE {name} SET {set} FROM (VALUES {values}) AS v WHERE {named}")
    }

    pub async fn execute(
        &'static self,
        conn: &mut dyn Connection,
        rows: Vec<Vec<Param>>,
    ) -> Result<(), Error> {
        let mut rest = rows.into_iter();
        while rest.len() > 0 {
            let size = rest.len().min(ROWS).ilog2() as usize;
            let rows = 1 << size;
            let params = rest.by_ref().take(rows).flatten().collect();
            let text = self.texts[size].get_or_init(|| self.text(rows));
            conn.execute(text, params).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{engine::params, rows::sealed, table::table};

    table! {
        struct Line in lines by (id), listed by line_columns, stays;
        since 7 {
            id: i64, once;
            text: String, once;
            count: i64, changes;
            ended: Option<i64>, later;
        }
        beside {
            body: Text, sealed;
        }
    }

    static INSERT: Bulk = Bulk::insert(&TABLE, &["body"]);
    static UPDATE: Bulk = Bulk::update(&TABLE, &[]);

    fn line(ended: Option<i64>) -> Line {
        Line {
            id: 1,
            text: "a".into(),
            count: 2,
            ended,
        }
    }

    #[test]
    fn an_insert_writes_all_but_what_comes_later() {
        let sql = "INSERT INTO lines (id, text, count, body, seal) VALUES ($1, $2, $3, $4, $5), ($6, $7, $8, $9, $10)";
        assert_eq!(INSERT.text(2), sql);
        let row = INSERT.row(line(None).values(), params![sealed(&1)]);
        assert_eq!(row.len(), 5, "as many values as columns");
    }

    #[test]
    fn an_update_writes_all_but_what_never_changes() {
        let sql = "UPDATE lines SET count = v.column2, ended = v.column3, seal = v.column4 \
             FROM (VALUES ($1, $2, $3, $4)) AS v WHERE lines.id = v.column1";
        assert_eq!(UPDATE.text(1), sql);
        let row = UPDATE.row(line(Some(4)).values(), params![]);
        assert_eq!(row.len(), 4, "as many values as columns");
    }

    #[test]
    #[should_panic(expected = "lines.ended is written later")]
    fn a_new_row_that_its_insert_would_not_write_whole_is_noticed() {
        INSERT.row(line(Some(4)).values(), params![sealed(&1)]);
    }
}
