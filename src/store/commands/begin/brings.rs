//! What a step brings that may be large, as it is written.

use crate::{
    domain::wire::{json::is_long, protocol::NextStep},
    store::{content::Content, rows::step},
};

pub struct Brings {
    pub input: Content,
    pub gate: Option<String>,
}

impl Brings {
    pub fn of(step: &NextStep) -> Self {
        Self {
            input: Content::of(&step.input),
            gate: step.gate.as_ref().map(step::gate::stored),
        }
    }

    /// Whether the step brings so many bytes.
    pub fn are_long(step: &NextStep, bytes: usize) -> bool {
        let context = step.gate.as_ref().and_then(|gate| gate.context.as_ref());
        is_long(&step.input, bytes) || context.is_some_and(|it| is_long(it, bytes))
    }
}
