//! A state as someone edits it: its text, and what an edit of it is based on.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

use crate::domain::{
    diff::rebase::{Rebased, place_now, rebase},
    nouns::run::Run,
    rules::decision::DecisionKind,
    tree::Tree,
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

/// A value as the editor shows it.
pub fn typed(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
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
            text: typed(value),
            run,
            path,
            schema,
            next,
        })
    }

    /// The same value in the whole state as it is `now`, where `was` is the whole state that this sheet was read from: an item of
    /// a list may have another number by now. None if it is gone.
    pub fn found_in(&self, was: &str, now: Self) -> Option<Self> {
        let was = Tree::from(typed_json::read(was).ok()?);
        let state = typed_json::read(&now.text).ok()?;
        let path = place_now(&was, &Tree::from(state.clone()), &self.path)?;
        Self::of(now.run, &state, path, now.schema, now.next).ok()
    }

    /// What this text changes of the sheet, made on the sheet of the same value as it is `now`.
    pub fn rebased(
        &self,
        text: &str,
        now: &Self,
        mine_at: &BTreeSet<String>,
    ) -> Result<Rebased, Wrong> {
        let mine = typed_json::parse(text)?;
        let [base, theirs] = [typed_json::read(&self.text)?, typed_json::read(&now.text)?];
        let [base, mine, theirs] = [base, mine, theirs].map(Tree::from);
        Ok(rebase(&base, &mine, &theirs, mine_at))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::nouns::sample;
    use serde_json::json;

    fn sheet(state: &Value, path: &str) -> EditSheet {
        EditSheet::of(sample::run("r"), state, path.to_owned(), false, 1).unwrap()
    }

    #[test]
    fn a_text_keeps_what_a_colleague_changed_meanwhile() {
        let base = sheet(&json!({"note": "a", "total": 8}), "");
        let now = sheet(&json!({"note": "a", "total": 100}), "");
        let mine = r#"{ "note": "b", "total": 8 }"#;
        let made = base.rebased(mine, &now, &BTreeSet::new()).unwrap();
        assert!(made.conflicts.is_empty());
        let text = typed(&made.state);
        assert_eq!(text, sheet(&json!({"note": "b", "total": 100}), "").text);
        assert!(base.rebased("{", &now, &BTreeSet::new()).is_err());
    }

    #[test]
    fn an_item_is_edited_where_it_stands_by_now() {
        let item = |id: &str| json!({"id": id, "currency": "EUR"});
        let was = json!({"lines": [item("a"), item("b")]});
        let base = sheet(&was, "/lines/0");
        let now = sheet(&json!({"lines": [item("new"), item("a"), item("b")]}), "");
        let found = base.found_in(&was.to_string(), now).unwrap();
        assert_eq!(found.path, "/lines/1");
        assert_eq!(found.text, base.text);
        let gone = sheet(&json!({"lines": [item("b")]}), "");
        assert!(base.found_in(&was.to_string(), gone).is_none());
    }
}
