//! The table `decisions`.

use crate::{
    domain::{DecisionKind, RunId, Time},
    store::table::table,
};

table! {
    /// A decision as it is stored. Those of the origin are not a fork's.
    pub struct DecisionRow in decisions by (id), listed by decision_columns, stays;

    since 7 {
        id: i64,                    once;
        run: RunId,                 once;
        kind: DecisionKind,         once;
        author: String,             once;
        reason: Option<String>,     once;
        step: Option<i64>,          once;
        version: i64,               once;
        /// The whole decision, behind its hash.
        body: String,               once;
        at: Time,                   once;
        snapshot: Option<i64>,      once;
        new_run: Option<RunId>,     once;
    }
}
pub(in crate::store) use decision_columns;
