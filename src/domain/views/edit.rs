//! A state as someone edits it: its text, and what an edit of it is based on.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::{
    nouns::run::Run,
    rules::decision::DecisionKind,
    views::typed_json::{self, Wrong},
    wire::{patch::Op, problem::Problem, protocol::Decide},
};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EditSheet {
    pub run: Run,
    /// The value to edit: the whole state, or what stands at `path`; as indented JSON.
    pub text: String,
    /// A JSON pointer; empty is the whole state.
    pub path: String,
    /// The state is checked by a schema.
    pub schema: bool,
    /// The step that begins next with the edited state.
    pub next: i64,
}

impl EditSheet {
    /// What stands at `path` in the run's current state.
    pub fn of(
        run: Run,
        state: &Value,
        path: String,
        schema: bool,
        next: i64,
    ) -> Result<Self, Problem> {
        let value = state
            .pointer(&path)
            .ok_or_else(|| Problem::not_found("value in the state"))?;
        Ok(Self {
            text: serde_json::to_string_pretty(value).unwrap_or_default(),
            run,
            path,
            schema,
            next,
        })
    }

    /// The decision that this text makes; one value is a patch of one line.
    pub fn order(&self, text: &str, reason: &str) -> Result<Decide, Wrong> {
        let value = typed_json::parse(text)?;
        let edit = Decide {
            if_version: Some(self.run.version),
            reason: Some(reason.trim().to_owned()),
            ..Decide::new(DecisionKind::Edit)
        };
        Ok(match self.path.as_str() {
            "" => Decide {
                state: Some(value),
                ..edit
            },
            path => Decide {
                patch: Some(vec![Op::Replace {
                    path: path.to_owned(),
                    value,
                }]),
                ..edit
            },
        })
    }
}
