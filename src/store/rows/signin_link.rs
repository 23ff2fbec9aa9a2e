//! The table `signin_links`.

use crate::{
    domain::{Hash, Time},
    store::table::table,
};

table! {
    /// A link as it is stored: never its secret.
    pub struct LinkRow in signin_links by (hash), listed by columns, stays;

    since 7 {
        hash: Hash,             once;
        user_name: String,      once;
        expires_at: Time,       once;
        created_at: Time,       once;
        used_at: Option<Time>,  later;
    }
}
