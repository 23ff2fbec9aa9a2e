//! JSON Schemas as agents send them: what it costs to check a value against one, known before it is done.
//!
//! A checker visits a value once for each subschema that applies to it. A schema of 2 kB can name another one twice,
//! which names another one twice, and so on: 2^25 visits of a single number. No checker can be stopped halfway, so
//! its work is counted first, and what is too much is refused with the reason: when the schema is registered, by what
//! it may ask of one value ([`check`]), and when it is used, by what it asks of this very value ([`Graph::work`]).

mod cost;
mod graph;
mod keywords;
mod pattern;
mod refs;
mod work;

pub use graph::Graph;
pub use work::Work;

use serde_json::Value;

use crate::domain::wire::{json, problem::Problem};

/// Bytes of a schema.
pub const SIZE_MAX: usize = 1 << 20;
/// Subschemas of a schema.
pub const SUBSCHEMAS_MAX: usize = 20_000;
/// Visits of one value, with all that the schema says in place (`$ref`, `allOf`, `anyOf`, …).
pub const VISITS_MAX: u64 = 50_000;
/// How many subschemas may be inside each other before the value is descended into.
pub const NESTING_MAX: usize = 64;
/// Characters of a pattern, and how many it may stand for when its counted repetitions are written out.
pub const PATTERN_MAX: usize = 4_000;
pub const PATTERN_STATES_MAX: u64 = 20_000;

/// A place in the schema and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// A JSON pointer.
    pub place: String,
    pub why: String,
}

impl Wrong {
    fn new(place: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            why: why.into(),
        }
    }
}

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.place.as_str() {
            "" => f.write_str(&self.why),
            place => write!(f, "{place}: {}", self.why),
        }
    }
}

/// Refuses a schema that could not be used; `path` names it.
pub fn check(path: &str, schema: &Value) -> Result<(), Problem> {
    json::check_depth(path, schema)?;
    let graph = Graph::of(schema);
    graph
        .map(drop)
        .map_err(|wrong| Problem::invalid(format!("{path}{}", wrong.place), wrong.why))
}

#[cfg(test)]
mod tests;
