//! The table `tokens`.

use crate::{
    domain::{Hash, Role, Time},
    store::table::table,
};

table! {
    /// A token as it is stored: never its secret.
    pub struct TokenRow in tokens by (id), listed by columns, stays;

    since 7 {
        id: String,                 once;
        name: String,               once;
        role: Role,                 once;
        hash: Hash,                 once;
        created_at: Time,           once;
        revoked_at: Option<Time>,   later;
    }
    since 8 {
        /// The person whose token it is, and with whom it ends.
        owner: Option<String>,      once;
        expires_at: Option<Time>,   once;
    }
}
