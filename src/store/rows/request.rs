//! The table `requests`: first answers to requests that carried an `Idempotency-Key`.

use crate::{
    domain::{Hash, Time},
    store::table::table,
};

table! {
    /// A first answer as it is stored.
    pub struct RequestRow in requests by (scope, key), listed by request_columns, stays;

    since 7 {
        scope: String,      once;
        key: String,        once;
        body: Hash,         once;
        /// Packed.
        answer: Vec<u8>,    once;
        at: Time,           once;
    }
}
pub(in crate::store) use request_columns;
