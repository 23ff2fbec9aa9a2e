//! The axum server: what answers a request.

pub mod site;
