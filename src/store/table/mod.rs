//! Declared tables: each column is written down once, and everything else follows from that line.
//!
//! ```text
//! table! {
//!     /// A run as it is stored.
//!     pub struct RunRow in runs by (id), listed by run_columns, (made from NewRun);
//!
//!     since 7 {
//!         id: RunId,                                      once,    given;
//!         title: Option<String>,                          once,    copied;
//!         parent(parent_run parent_seq): Option<Parent>,  once,    given;
//!         worker: Option<String>,                         later,   fresh;
//!     }
//!     since 8 {
//!         tags: Option<String>,                           changes, copied;
//!     }
//!     beside {
//!         input: Text, sealed, given;
//!         needs: Int, checked, fresh;
//!     }
//!     noted {
//!         damaged: bool;
//!     }
//! }
//! ```
//!
//! A line is a field of the row's struct: its name, its column (or columns, in brackets, where the type fills several: see
//! [`Field`]), its type, what writes it, and how a fork gets it. The order of the lines is the order of the seal.
//!
//! * **since** names the migration whose columns these are. A new column goes into a new block at the end, is NULL in older
//!   rows, and so has a type that may be missing. Rows keep the seal of their time (`seal/version.rs`).
//! * **what writes it**: `once`, when the row is inserted; `changes`, then and by every update; `later`, only by updates,
//!   because it is NULL in a new row. An insert writes all but `later`, an update all but `once`: no statement can leave
//!   out a column that its seal covers ([`Bulk`](super::bulk::Bulk)).
//! * **in a fork**: `copied` from the origin; `given`: whoever makes a row must say it, it is a field of the struct that is
//!   named in the first line (or, where that says `copied by statements`, has its value in
//!   `commands/decide/fork/copies.rs`); `fresh`: as in a row that nothing happened to. A line without it does not compile,
//!   unless the first line says `stays` (a fork gets no rows of that table) or `chained` (the same, and the rows form a chain: see
//!   `rows/event.rs`).
//! * **beside** are columns that the seal leaves out: `sealed` is JSON behind a hash of its own, `checked` is compared with
//!   something else by `verify`. Statements name those that they write.
//! * **noted** are fields of the struct that are no columns.
//!
//! So a new column costs two migrations and one line here. `tables.rs` lists all tables for `verify`, and its test compares
//! names and types with the schema.

mod declare;
mod field;
mod rows;

pub(in crate::store) use declare::*;
pub use field::Field;
pub use rows::Declared;

use std::sync::OnceLock;

use super::{engine::Param, error::Error, seal};

/// What a column holds. Numbers are 64 bits, times and flags are numbers, JSON and words are text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Int,
    Real,
    Text,
    Bytes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    Once,
    Changes,
    Later,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InFork {
    Copied,
    Given,
    Fresh,
    /// Forks have no row of this table.
    Stays,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vouched {
    /// JSON that lies behind its own hash.
    Sealed,
    /// Verification holds it against something else.
    Checked,
}

/// A column that the seal covers.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    pub name: &'static str,
    pub kind: Kind,
    /// The migration that sealed it first.
    pub since: u16,
    pub written: Written,
    pub fork: InFork,
}

/// A column beside the seal.
#[derive(Debug)]
pub struct Beside {
    pub name: &'static str,
    pub kind: Kind,
    pub vouched: Vouched,
    pub fork: InFork,
}

/// The columns of one field, as the declaration gives them.
pub struct Group {
    pub names: &'static [&'static str],
    pub kinds: &'static [Kind],
    pub since: u16,
    pub written: Written,
    pub fork: InFork,
}

/// How many columns these fields fill.
pub const fn width(groups: &[Group]) -> usize {
    let (mut width, mut at) = (0, 0);
    while at < groups.len() {
        width += groups[at].names.len();
        at += 1;
    }
    width
}

/// Column by column. It runs when the program is compiled, and so do its assertions.
pub const fn flat<const N: usize>(groups: &[Group]) -> [Column; N] {
    let mut columns = [Column {
        name: "",
        kind: Kind::Int,
        since: 0,
        written: Written::Once,
        fork: InFork::Stays,
    }; N];
    let (mut to, mut at) = (0, 0);
    while at < groups.len() {
        let group = &groups[at];
        assert!(
            group.names.len() == group.kinds.len(),
            "a field fills another number of columns than are named"
        );
        assert!(
            at == 0 || groups[at - 1].since <= group.since,
            "newer columns stand behind older ones"
        );
        let mut part = 0;
        while part < group.names.len() {
            columns[to] = Column {
                name: group.names[part],
                kind: group.kinds[part],
                since: group.since,
                written: group.written,
                fork: group.fork,
            };
            part += 1;
            to += 1;
        }
        at += 1;
    }
    columns
}

/// A table whose rows are sealed, or links of a chain.
pub struct Table {
    pub name: &'static str,
    /// The columns that name a row, in the order of its key.
    pub key: &'static [&'static str],
    /// The column behind all others: `seal`, or the `hash` that links a row to the one before it.
    pub seal: &'static str,
    /// The columns that the seal covers, in its order. The seal is not among them.
    pub columns: &'static [Column],
    pub beside: &'static [Beside],
    pub texts: Texts,
}

/// Parts of statements, put together once.
pub struct Texts {
    select: OnceLock<String>,
    whole: OnceLock<String>,
    insert: OnceLock<String>,
}

impl Texts {
    #[allow(clippy::new_without_default, reason = "it is made where statics are")]
    pub const fn new() -> Self {
        Self {
            select: OnceLock::new(),
            whole: OnceLock::new(),
            insert: OnceLock::new(),
        }
    }
}

impl Table {
    pub fn columns(&self) -> impl Iterator<Item = &'static str> {
        self.columns.iter().map(|it| it.name)
    }

    /// Where a column stands in the order of the seal.
    pub fn position(&self, column: &str) -> Option<usize> {
        self.columns().position(|it| it == column)
    }

    pub fn is_key(&self, column: &str) -> bool {
        self.key.contains(&column)
    }

    /// A new version of the table begins with the column of this place.
    pub fn begins_version(&self, at: usize) -> bool {
        match (
            at.checked_sub(1).map(|before| &self.columns[before]),
            self.columns.get(at),
        ) {
            (Some(before), Some(column)) => before.since < column.since,
            _ => false,
        }
    }

    /// `SELECT columns, seal FROM table`.
    pub fn select_text(&'static self) -> &'static str {
        self.texts.select.get_or_init(|| {
            let columns: Vec<_> = self.columns().collect();
            format!(
                "SELECT {}, {} FROM {}",
                columns.join(", "),
                self.seal,
                self.name
            )
        })
    }

    /// `SELECT columns, seal, all that lies beside FROM table`.
    pub fn whole_text(&'static self) -> &'static str {
        self.texts.whole.get_or_init(|| {
            let columns = self.columns().chain([self.seal]);
            let columns: Vec<_> = columns
                .chain(self.beside.iter().map(|it| it.name))
                .collect();
            format!("SELECT {} FROM {}", columns.join(", "), self.name)
        })
    }

    /// `INSERT INTO table (columns, seal) VALUES (…)`.
    fn insert_text(&'static self) -> &'static str {
        self.texts.insert.get_or_init(|| {
            let columns: Vec<_> = self.columns().chain([self.seal]).collect();
            let places: Vec<_> = (1..=columns.len()).map(|n| format!("${n}")).collect();
            let (columns, places) = (columns.join(", "), places.join(", "));
            format!("INSERT INTO {} ({columns}) VALUES ({places})", self.name)
        })
    }

    pub(in crate::store) fn hasher(&'static self, values: &[Param]) -> seal::Hasher {
        let mut hasher = seal::Hasher::new(self);
        values.iter().for_each(|value| hasher.update(value));
        hasher
    }

    /// The seal of a row with these values, in the order of `columns`.
    pub fn seal(&'static self, values: &[Param]) -> Param {
        Param::Bytes(Some(self.hasher(values).finish()))
    }

    /// What lies beside a row, as a fork gets it; what is given is named.
    pub fn beside_in_fork(
        &self,
        stored: Vec<Param>,
        given: &[(&str, Param)],
    ) -> Result<Vec<Param>, Error> {
        let made = self.beside.iter().zip(stored).map(|(it, stored)| {
            let said = given.iter().find(|(name, _)| *name == it.name);
            match (it.fork, said) {
                (InFork::Copied, None) => Ok(stored.of_kind(it.kind)),
                (InFork::Fresh, None) => Ok(Param::none(it.kind)),
                (InFork::Given, Some((_, value))) => Ok(value.clone()),
                _ => Err(Error::damaged(format!(
                    "{}.{} in a fork is not as it was declared",
                    self.name, it.name
                ))),
            }
        });
        made.collect()
    }
}
