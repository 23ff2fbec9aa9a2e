//! What operators decide. Append-only: a decision never overwrites anything.

use serde::{Deserialize, Serialize};

use crate::domain::{
    nouns::{ids::RunId, time::Time},
    tree::hash::Hash,
};

mod chosen;
mod kind;

pub use chosen::{Chosen, Gist};
pub use kind::{DecisionKind, allowed};

/// What an operator asked a live worker to do at its next step boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Signal {
    Pause,
    Cancel,
}

crate::domain::nouns::status::words!(Signal { Pause = "pause", Cancel = "cancel" });

/// One decision as it was recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct Decision {
    pub id: i64,
    pub kind: DecisionKind,
    pub author: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<i64>,
    /// The run version it was based on.
    pub version: i64,
    pub at: Time,
    /// The snapshot that it made: its change is the difference to the one before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<i64>,
    /// What a note says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The run that a fork made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_run: Option<RunId>,
    /// What was chosen, step by step: one for a decision about a step, any number for a resume.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chosen: Vec<Chosen>,
    /// What an edit changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Gist>,
    /// Effects left behind by a rewind or fork that may happen again, by their steps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub again: Vec<i64>,
    /// The same with their names, where a step is read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<NamedStep>,
    /// The plan that a resume was based on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Hash>,
}

/// A step as people call it: "47 charge_card".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct NamedStep {
    pub step: i64,
    pub name: String,
}

impl Decision {
    /// With nothing but who decided what; fill in the rest by struct update.
    pub fn bare(id: i64, kind: DecisionKind, author: String, version: i64) -> Self {
        Self {
            id,
            kind,
            author,
            reason: None,
            step: None,
            version,
            at: Time(0),
            snapshot: None,
            text: None,
            new_run: None,
            chosen: Vec::new(),
            change: None,
            again: Vec::new(),
            effects: Vec::new(),
            plan: None,
        }
    }

    /// What it chose for this step, if it did.
    pub fn chosen_for(&self, seq: i64) -> Option<&Chosen> {
        self.chosen.iter().find(|it| it.step == seq)
    }

    /// The step at which the state was changed: where the run was, or the last one that a resume chose for.
    pub fn edited_at(&self) -> Option<i64> {
        self.step.or(self.chosen.last().map(|it| it.step))
    }

    /// It says something about this step, which began at `begun_at`.
    pub fn is_about(&self, seq: i64, begun_at: Time) -> bool {
        match self.kind {
            DecisionKind::Rewind => {
                self.at >= begun_at && self.step.is_some_and(|first| first <= seq)
            }
            DecisionKind::Fork | DecisionKind::Note => false,
            _ => self.step == Some(seq) || self.chosen_for(seq).is_some(),
        }
    }

    /// The snapshot that a person made by hand.
    pub fn edit(&self) -> Option<EditMark> {
        Some(EditMark {
            decision: self.id,
            kind: self.kind,
            author: self.author.clone(),
            reason: self.reason.clone(),
            at: self.at,
            step: self.edited_at(),
            snapshot: self.snapshot?,
            changes: None,
        })
    }
}

/// The decisions about one run, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecisionPage {
    pub decisions: Vec<Decision>,
    /// Where to read on: older ones than this.
    pub next: Option<i64>,
}

/// An edit of the state, as marked on the step where the run was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct EditMark {
    pub decision: i64,
    pub kind: DecisionKind,
    pub author: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub at: Time,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<i64>,
    pub snapshot: i64,
    /// How many values it changed, where that was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<i64>,
}

/// Somebody is looking at a run: advisory, and over by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct Looking {
    pub by: String,
    pub until: Time,
}

/// How long "I'm on it" lasts.
pub const LOOKING_MS: i64 = 15 * 60_000;
