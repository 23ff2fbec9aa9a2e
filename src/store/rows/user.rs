//! The table `users`.

use crate::{
    domain::{Role, Time},
    store::table::table,
};

table! {
    /// A person as they are stored.
    pub struct UserRow in users by (name), listed by columns, stays;

    since 7 {
        name: String,               once;
        role: Role,                 changes;
        created_at: Time,           once;
        disabled_at: Option<Time>,  later;
    }
}
