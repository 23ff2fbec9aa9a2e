//! The nouns of Step47 and the rules between them: no I/O, shared by server, browser and agents.

pub mod diff;
pub mod nouns;
pub mod rules;
pub mod tree;
pub mod views;
pub mod wire;

pub use nouns::{
    access::{Action, Principal, Role},
    attempt::{Attempt, LogLine, Outcome, Usage},
    event::{Event, EventKind},
    ids::{Epoch, RunId, StepKey},
    run::{Run, RunDetail},
    status::{RunStatus, StepStatus},
    step::{AgentError, Effect, Gate, Kind, Recovery, Reference, Step, StepDetail},
    time::Time,
    trouble::Trouble,
};
pub use rules::decision::{DecisionKind, Signal};
pub use tree::hash::Hash;
pub use views::counts::Counts;
pub use wire::{
    as_of::AsOf,
    frame::Frame,
    problem::{Code, Problem},
    query::RunQuery,
};
