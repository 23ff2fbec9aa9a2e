//! Effects in a plan: what may happen again, and what a rewind or fork leaves behind.

use serde::{Deserialize, Serialize};

use super::facts::StepFacts;
use crate::domain::{
    nouns::{ids::RunId, status::StepStatus, step::Effect, time::Time},
    views::words,
};

/// A change of the world outside that a step makes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct EffectAhead {
    /// "charge €1,249.00 to cus_R91": the agent's words, or the target.
    pub words: String,
    pub target: String,
    /// The idempotency key that the provider saw, and will see again after a retry with the same key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// How long the provider recognises it, as the agent's author says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dedupe_ms: Option<i64>,
    /// Until when; after it, the same key may charge twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_ends: Option<Time>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub window_over: bool,
    /// Nobody knows whether it happened.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unknown: bool,
}

impl EffectAhead {
    pub fn announced(effect: &Effect) -> Self {
        Self {
            words: in_words(effect),
            target: effect.target.clone(),
            key: None,
            dedupe_ms: effect.dedupe_ms,
            window_ends: None,
            window_over: false,
            unknown: false,
        }
    }

    pub(super) fn of(step: &StepFacts, now: Time) -> Option<Self> {
        let effect = step.effect.as_ref()?;
        let ends = effect.dedupe_ms.map(|ms| step.keyed_at.plus_ms(ms));
        Some(Self {
            key: Some(step.idempotency_key.clone()),
            window_ends: ends,
            window_over: ends.is_some_and(|ends| ends <= now),
            unknown: step.unknown,
            ..Self::announced(effect)
        })
    }

    /// "charge €1,249.00 to cus_R91 (stripe.charges), key r:47"
    pub fn in_full(&self) -> String {
        let target = match self.words == self.target {
            true => String::new(),
            false => format!(" ({})", self.target),
        };
        let key = self.key.as_ref();
        let key = key.map_or(String::new(), |key| format!(", key {key}"));
        format!("{}{target}{key}", self.words)
    }

    /// What a retry with the same key risks, in words.
    pub fn same_key(&self) -> &'static str {
        match (self.dedupe_ms, self.window_over) {
            (None, _) => {
                "nobody stated how long the provider recognises this key: it may happen twice"
            }
            (Some(_), true) => "the provider stopped recognising this key: it may happen twice",
            (Some(_), false) => {
                "the agent's author says that the provider deduplicates by this key"
            }
        }
    }
}

fn in_words(effect: &Effect) -> String {
    let said = effect.description.as_deref().filter(|it| !it.is_empty());
    said.unwrap_or(&effect.target).to_owned()
}

/// An effect that a rewind or fork does not undo.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct LeftBehind {
    /// The run that did it, where it is another: the origin of a fork.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    pub seq: i64,
    pub name: String,
    pub status: StepStatus,
    pub effect: EffectAhead,
}

impl LeftBehind {
    /// "happened", or "unknown" where nobody can tell.
    pub fn known(&self) -> &'static str {
        match (self.effect.unknown, self.status) {
            (false, StepStatus::Committed) => "happened",
            _ => "unknown",
        }
    }

    /// A step of which only its number is known for certain: it may have done anything.
    pub fn damaged(seq: i64) -> Self {
        let unknown = || words::DAMAGED.to_owned();
        Self {
            run: None,
            seq,
            name: unknown(),
            status: StepStatus::Crashed,
            effect: EffectAhead {
                words: unknown(),
                target: unknown(),
                key: None,
                dedupe_ms: None,
                window_ends: None,
                window_over: false,
                unknown: true,
            },
        }
    }
}

/// Effects that are named one by one; of more it is only said that there are more.
pub const NAMED_MAX: usize = 50;

/// The effects among these steps that happened, or may have.
pub fn left_behind(steps: &[StepFacts], now: Time) -> Vec<LeftBehind> {
    let happened = |step: &&StepFacts| step.status.may_have_acted(step.unknown);
    let left = steps.iter().filter(happened).filter_map(|step| {
        Some(LeftBehind {
            run: None,
            seq: step.seq,
            name: step.name.clone(),
            status: step.status,
            effect: EffectAhead::of(step, now)?,
        })
    });
    left.collect()
}
