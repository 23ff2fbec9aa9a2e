//! The table `terms`: the words that runs are found by.

use crate::store::{bulk::Bulk, table::table};

table! {
    /// A word as it is stored. Those of the origin are mentioned again for a fork, under its own place in the list.
    pub struct TermRow in terms by (ord, term), listed by columns, stays;

    since 7 {
        ord: i64,       once;
        term: String,   once;
    }
}

/// A term that the run has already is left alone.
pub static INSERT: Bulk = Bulk::insert_new(&TABLE);
