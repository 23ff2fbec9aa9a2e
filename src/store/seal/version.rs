//! Which columns a seal covers. A table may get new columns; rows that were written before keep the seal they have.
//!
//! A seal of a table's first version is a bare hash. A later one begins with a byte that names its version, and its hash
//! covers that byte too. New columns stand behind all older ones and are NULL in rows that were written before them, so an
//! older seal vouches for its own columns by its hash, and for the newer ones by their being NULL.

use std::borrow::Cow;

use super::{LENGTH, Table};
use crate::store::engine::Param;

/// The hash over a row, column by column, with the hash that each earlier version of the table would have had.
pub struct Hasher {
    table: &'static Table,
    hasher: blake3::Hasher,
    /// Columns so far.
    count: usize,
    /// Seals of earlier versions that are complete, each with whether all columns behind it are NULL so far.
    earlier: Vec<(Vec<u8>, bool)>,
}

impl Hasher {
    pub fn new(table: &'static Table) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(table.name.as_bytes());
        Self {
            table,
            hasher,
            count: 0,
            earlier: Vec::new(),
        }
    }

    /// A missing value is the same whatever its type would be.
    pub fn update(&mut self, value: &Param) {
        if self.table.begins_version(self.count) {
            self.earlier.push((self.seal(), true));
        }
        self.count += 1;
        let (tag, bytes): (u8, Cow<'_, [u8]>) = match value {
            Param::Int(Some(v)) => (1, Cow::Owned(v.to_le_bytes().to_vec())),
            Param::Real(Some(v)) => (2, Cow::Owned(v.to_bits().to_le_bytes().to_vec())),
            Param::Text(Some(v)) => (3, Cow::Borrowed(v.as_bytes())),
            Param::Bytes(Some(v)) => (4, Cow::Borrowed(v)),
            Param::Int(None) | Param::Real(None) | Param::Text(None) | Param::Bytes(None) => {
                (0, Cow::Borrowed(&[]))
            }
        };
        if tag != 0 {
            self.earlier.iter_mut().for_each(|(_, null)| *null = false);
        }
        self.hasher.update(&[tag]);
        self.hasher.update(&(bytes.len() as u64).to_le_bytes());
        self.hasher.update(&bytes);
    }

    /// The seal over what was given so far, as the version that is complete here.
    fn seal(&self) -> Vec<u8> {
        match u8::try_from(self.earlier.len()).unwrap_or(u8::MAX) {
            0 => self.hasher.finalize().as_bytes()[..LENGTH].to_vec(),
            version => {
                let mut hasher = self.hasher.clone();
                hasher.update(&[version]);
                let mut seal = vec![version];
                seal.extend_from_slice(&hasher.finalize().as_bytes()[..LENGTH]);
                seal
            }
        }
    }

    /// The seal of a row that is written now.
    pub fn finish(self) -> Vec<u8> {
        self.seal()
    }

    /// Whether `stored` seals this row, under the version that it names.
    pub fn fits(&self, stored: &[u8]) -> bool {
        let earlier = |(seal, null): &(Vec<u8>, bool)| *null && seal == stored;
        self.seal() == stored || self.earlier.iter().any(earlier)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{
        engine::params,
        table::{Column, InFork, Kind, Texts, Written},
    };

    const fn column(name: &'static str, since: u16) -> Column {
        Column {
            name,
            kind: Kind::Int,
            since,
            written: Written::Once,
            fork: InFork::Stays,
        }
    }

    const COLUMNS: &[Column] = &[
        column("id", 1),
        column("a", 1),
        column("b", 2),
        column("c", 5),
        column("d", 5),
    ];

    const fn table(columns: &'static [Column]) -> Table {
        Table {
            name: "t",
            key: &["id"],
            seal: "seal",
            columns,
            beside: &[],
            texts: Texts::new(),
        }
    }

    static FIRST: Table = table(COLUMNS.split_at(2).0);
    static SECOND: Table = table(COLUMNS.split_at(3).0);
    static THIRD: Table = table(COLUMNS);

    fn seal(table: &'static Table, values: Vec<Param>) -> Vec<u8> {
        let mut hasher = Hasher::new(table);
        values.iter().for_each(|value| hasher.update(value));
        hasher.finish()
    }

    fn fits(table: &'static Table, values: Vec<Param>, stored: &[u8]) -> bool {
        let mut hasher = Hasher::new(table);
        values.iter().for_each(|value| hasher.update(value));
        hasher.fits(stored)
    }

    #[test]
    fn a_row_of_an_earlier_version_is_held_against_the_seal_it_was_given() {
        let first = seal(&FIRST, params![1i64, "x"]);
        let second = seal(&SECOND, params![1i64, "x", "y"]);
        let none = None::<i64>;
        assert_eq!(first.len(), LENGTH, "what lies in stores today");
        assert!(fits(&SECOND, params![1i64, "x", none], &first));
        assert!(fits(&THIRD, params![1i64, "x", none, none, none], &first));
        assert!(fits(&THIRD, params![1i64, "x", "y", none, none], &second));
    }

    #[test]
    fn damage_that_was_there_before_the_upgrade_is_still_found_after_it() {
        let first = seal(&FIRST, params![1i64, "x"]);
        let none = None::<i64>;
        assert!(!fits(&SECOND, params![1i64, "X", none], &first));
        assert!(!fits(&THIRD, params![2i64, "x", none, none, none], &first));
    }

    #[test]
    fn a_newer_column_that_an_older_seal_does_not_cover_must_be_null() {
        let first = seal(&FIRST, params![1i64, "x"]);
        let second = seal(&SECOND, params![1i64, "x", "y"]);
        let none = None::<i64>;
        assert!(!fits(&SECOND, params![1i64, "x", "y"], &first));
        assert!(!fits(&THIRD, params![1i64, "x", none, none, 4i64], &first));
        assert!(!fits(&THIRD, params![1i64, "x", "y", 3i64, none], &second));
    }

    #[test]
    fn a_seal_does_not_pass_for_one_of_another_version() {
        let third = seal(&THIRD, params![1i64, "x", "y", 3i64, 4i64]);
        for bit in 0..8 {
            let mut other = third.clone();
            other[0] ^= 1 << bit;
            assert!(!fits(&THIRD, params![1i64, "x", "y", 3i64, 4i64], &other));
        }
        assert!(!fits(
            &THIRD,
            params![1i64, "x", "y", 3i64, 4i64],
            &third[1..]
        ));
        assert!(!fits(&SECOND, params![1i64, "x", "y"], &third));
    }
}
