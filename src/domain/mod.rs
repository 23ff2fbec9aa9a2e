//! The nouns of Step47 and the rules between them: no I/O, shared by server, browser and agents.

pub mod access;
pub mod as_of;
pub mod attempt;
pub mod begin;
pub mod counts;
pub mod decision;
pub mod event;
pub mod failure;
pub mod hash;
pub mod ids;
pub mod json;
pub mod lease;
pub mod needs;
pub mod patch;
pub mod problem;
pub mod protocol;
pub mod query;
pub mod run;
#[cfg(test)]
pub mod sample;
pub mod search;
pub mod sheet;
pub mod status;
pub mod step;
pub mod time;
pub mod tree;
pub mod words;
pub mod worker;

pub use access::{Action, Principal, Role};
pub use as_of::AsOf;
pub use attempt::{Attempt, LogLine, Outcome, Usage};
pub use counts::Counts;
pub use decision::{DecisionKind, Signal};
pub use event::{Event, EventKind};
pub use hash::Hash;
pub use ids::{Epoch, RunId, StepKey};
pub use problem::{Code, Problem};
pub use query::RunQuery;
pub use run::{Run, RunDetail};
pub use status::{RunStatus, StepStatus};
pub use step::{AgentError, Effect, Gate, Kind, Recovery, Reference, Step, StepDetail};
pub use time::Time;
