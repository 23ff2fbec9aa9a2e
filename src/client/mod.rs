//! The Rust SDK for agents.
