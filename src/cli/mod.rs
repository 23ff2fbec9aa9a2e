//! One file per command.

pub mod agent;
pub mod demo;

/// What a command ends with when it cannot do what it was asked to.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;
