//! The table `leases`.

use crate::{
    domain::{Epoch, Hash, RunId, Time},
    store::table::table,
};

table! {
    /// A lease as it is stored; a fork has had none.
    pub struct LeaseRow in leases by (run, epoch), listed by columns, stays;

    since 7 {
        run: RunId,                 once;
        epoch: Epoch,               once;
        worker: String,             once;
        version: Option<String>,    once;
        model: Option<String>,      once;
        granted_at: Time,           once;
        ended_at: Option<Time>,     later;
        ended_by: Option<String>,   later;
        /// The request that ended it, as a hash: a repeat is known by it.
        body: Option<Hash>,         later;
    }
}
