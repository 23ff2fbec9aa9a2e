//! What a decision chose, as history, audit and pages keep it: bounded in length, vouched for by a hash.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Decision, DecisionKind};
use crate::domain::{
    nouns::step::Step,
    tree::hash::Hash,
    wire::protocol::{Choice, Decide},
};

/// Text kept of one value.
const TEXT_MAX: usize = 400;
/// Steps of one resume whose choices are told apart; its body in the store has all of them.
const CHOSEN_MAX: usize = 100;

/// The beginning of a value as JSON, its length, and the hash of all of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct Gist {
    pub text: String,
    pub bytes: i64,
    pub hash: Hash,
}

impl Gist {
    pub fn of(value: &impl Serialize) -> Self {
        let value = json!(value);
        let text = value.to_string();
        let end = text.floor_char_boundary(TEXT_MAX);
        Self {
            text: text[..end].to_owned(),
            bytes: text.len() as i64,
            hash: Hash::of(&value),
        }
    }

    /// An answer at a gate as it was offered: "Refund €120.00" of `{"choice": "Refund €120.00"}`; any other value as JSON.
    pub fn as_answer(&self) -> String {
        let value: Option<Value> = serde_json::from_str(&self.text).ok();
        let choice = value.as_ref().and_then(|it| match it.as_object()? {
            fields if fields.len() == 1 => fields.get("choice")?.as_str(),
            _ => None,
        });
        choice.map_or_else(|| self.said(), str::to_owned)
    }

    /// The text, marked where it was cut.
    pub fn said(&self) -> String {
        match self.text.len() as i64 == self.bytes {
            true => self.text.clone(),
            false => format!("{}…", self.text),
        }
    }

    /// The same, vouched for where it was cut: two values that begin alike are told apart by their hashes.
    pub fn vouched(&self) -> String {
        let said = self.said();
        match self.text.len() as i64 == self.bytes {
            true => said,
            false => {
                let hash: String = self.hash.to_string().chars().take(12).collect();
                format!("{said} (hash {hash}…)")
            }
        }
    }
}

/// What was chosen for one step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct Chosen {
    pub step: i64,
    pub kind: DecisionKind,
    /// The outside provider sees a new idempotency key.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub new_key: bool,
    /// The result that was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Gist>,
    /// The change of state that came with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Gist>,
}

impl Chosen {
    fn of(choice: &Choice) -> Self {
        Self {
            step: choice.step,
            kind: choice.kind,
            new_key: choice.new_key,
            result: choice.result.as_ref().map(Gist::of),
            change: choice.patch.as_ref().map(Gist::of),
        }
    }

    /// The choice in the words of the plan: "it did not happen, and nothing is still under way".
    pub fn in_words(&self) -> &'static str {
        match (self.kind, self.new_key) {
            (DecisionKind::Retry, true) => "it did not happen, and nothing is still under way",
            (DecisionKind::Retry, false) => "retry with the same key",
            (DecisionKind::Commit, _) => "it happened",
            (DecisionKind::Skip, _) => "skip it",
            (DecisionKind::Approve, _) => "approve",
            (DecisionKind::Reject, _) => "reject",
            (DecisionKind::Answer, _) => "answer",
            (kind, _) => kind.as_str(),
        }
    }

    /// What follows from it for this step.
    pub fn then(&self, step: &Step) -> String {
        let name = &step.name;
        match (self.kind, self.new_key) {
            (DecisionKind::Retry, true) => {
                format!("{name} is executed again with a new key, by the next worker")
            }
            (DecisionKind::Retry, false) => {
                format!("{name} is executed again with the same key, by the next worker")
            }
            (DecisionKind::Skip, _) => {
                // An attempt that crashed mid-flight may have been executed.
                let executed = match step.skipped_in_doubt() {
                    true => "executed again",
                    false => "executed",
                };
                format!("{name} is not {executed}; later steps see the result below, or null")
            }
            _ => format!("{name} is not executed; the agent gets the result below"),
        }
    }
}

impl Decision {
    /// With what its body says, so that it can be read without the body.
    pub fn saying(self, body: &Decide) -> Self {
        use DecisionKind::{Answer, Approve, Commit, Reject, Retry, Skip};
        let own = match (body.kind, body.step) {
            (Retry | Commit | Skip | Approve | Reject | Answer, Some(step)) => {
                Some(body.choice(step))
            }
            _ => None,
        };
        let choices = own.iter().chain(&body.choices).take(CHOSEN_MAX);
        Self {
            chosen: choices.map(Chosen::of).collect(),
            change: match (body.kind, &body.patch) {
                (DecisionKind::Edit, Some(patch)) => Some(Gist::of(patch)),
                _ => self.change.clone(),
            },
            again: body.again.clone(),
            plan: body.plan,
            text: body.text.clone(),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_result_is_cut_and_vouched_for_by_its_hash() {
        let long = "é".repeat(10_000);
        let gist = Gist::of(&long);
        assert!(gist.text.len() <= TEXT_MAX && gist.said().ends_with('…'));
        assert_eq!(gist.bytes, 20_002);
        assert_eq!(gist.hash, Hash::of(&json!(long)));
        let hash = gist.hash.to_string();
        let said = gist.vouched();
        assert!(
            said.ends_with(&format!("… (hash {}…)", &hash[..12])),
            "{said}"
        );
        assert_eq!(Gist::of(&json!({"a": 1})).vouched(), r#"{"a":1}"#);
        assert_eq!(Gist::of(&json!({"a": 1})).said(), r#"{"a":1}"#);
    }
}
