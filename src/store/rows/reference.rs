//! The table `refs`: what steps rely on outside.

use crate::{
    domain::{Epoch, RunId, Time},
    store::{bulk::Bulk, table::table},
};

table! {
    /// A reference as it is stored. A fork copies its hashes; no lease of the fork has registered it yet.
    pub struct RefRow in refs by (run, uri), listed by columns, (forked by RefInFork);

    since 7 {
        run: RunId,             once,    given;
        uri: String,            once,    copied;
        /// How it looked first.
        was: String,            once,    copied;
        hash: String,           changes, copied;
        first: Epoch,           once,    fresh;
        epoch: Epoch,           changes, fresh;
        checked_at: Time,       changes, copied;
        checked_by: String,     changes, copied;
    }
}

/// A reference of a fork.
pub static COPY: Bulk = Bulk::copy(&TABLE);
