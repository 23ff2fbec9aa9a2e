//! The rules between the nouns, as pure functions: what a begin is told, what the end of a lease means, what a decision
//! may do, what a resume would do.

pub mod begin;
pub mod decision;
pub mod doubt;
pub mod failure;
pub mod lease;
pub mod needs;
pub mod offer;
pub mod plan;
pub mod schema;
pub mod typed_state;
