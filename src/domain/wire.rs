//! What travels: the bodies of `/v1` and their limits, strict JSON, patches, refusals, frames of the live stream.

pub mod as_of;
pub mod bulk_order;
pub mod frame;
pub mod json;
pub mod patch;
pub mod problem;
pub mod protocol;
pub mod query;
pub mod step_query;
#[cfg(feature = "ssr")]
pub mod whole;
