//! Bodies as programs make them: with what must be said, and the rest as if it were absent.

use serde_json::Value;
use std::collections::BTreeMap;

use super::{Choice, CreateRun, Decide, NextStep, three};
use crate::domain::{
    nouns::{ids::StepKey, run::OnCrash, step::Kind},
    rules::decision::DecisionKind,
};

impl NextStep {
    /// A step with nothing but its names; fill in the rest by struct update.
    pub fn new(key: StepKey, name: impl Into<String>) -> Self {
        Self {
            key,
            name: name.into(),
            kind: Kind::Code,
            tool: None,
            input: Value::Null,
            effect: None,
            recovery: None,
            retry: None,
            gate: None,
            refs: Vec::new(),
            links: Vec::new(),
        }
    }
}

impl Decide {
    /// A decision with nothing but its kind; fill in the rest by struct update.
    pub fn new(kind: DecisionKind) -> Self {
        Self {
            kind,
            if_version: None,
            step: None,
            result: None,
            state: None,
            patch: None,
            new_key: false,
            choices: Vec::new(),
            plan: None,
            again: Vec::new(),
            new_run_id: None,
            reason: None,
            text: None,
        }
    }

    /// The same, as a choice about one step.
    pub fn choice(&self, step: i64) -> Choice {
        Choice {
            kind: self.kind,
            step,
            result: self.result.clone(),
            state: self.state.clone(),
            patch: self.patch.clone(),
            new_key: self.new_key,
        }
    }
}

impl Choice {
    /// A choice with nothing but its kind; fill in the rest by struct update.
    pub fn new(kind: DecisionKind, step: i64) -> Self {
        Decide::new(kind).choice(step)
    }
}

impl CreateRun {
    /// A run with nothing but its agent; fill in the rest by struct update.
    pub fn new(agent: impl Into<String>) -> Self {
        Self {
            id: None,
            agent: agent.into(),
            title: None,
            version: None,
            model: None,
            input: Value::Null,
            state: None,
            state_schema: None,
            labels: BTreeMap::new(),
            links: Vec::new(),
            parent: None,
            plan: Vec::new(),
            on_crash: OnCrash::Resume,
            max_recoveries: three(),
        }
    }

    /// Texts that may be absent and are no longer than a name, by their fields.
    pub fn short_texts(&self) -> [(&'static str, Option<&String>); 2] {
        [
            ("version", self.version.as_ref()),
            ("model", self.model.as_ref()),
        ]
    }
}
