//! The table `seen`: when a token or a session was last used. Apart from their own rows, which change rarely.

use crate::{
    domain::{Hash, Time},
    store::table::table,
};

table! {
    /// When a secret was last used: sealed, because sessions end when they were idle for long.
    pub struct SeenRow in seen by (hash), listed by columns, stays;

    since 8 {
        hash: Hash,  once;
        at: Time,    changes;
    }
}
