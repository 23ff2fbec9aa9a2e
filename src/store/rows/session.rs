//! The table `sessions`.

use crate::{
    domain::{Hash, Time},
    store::table::table,
};

table! {
    /// A session as it is stored: never its secret.
    pub struct SessionRow in sessions by (hash), listed by columns, stays;

    since 7 {
        hash: Hash,         once;
        user_name: String,  once;
        expires_at: Time,   changes;
        created_at: Time,   once;
    }
}
