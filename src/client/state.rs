//! The run's state as the agent sees it (its own type) and as the store has it (JSON), side by side.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use std::sync::Arc;

use super::error::Error;
use crate::domain::{diff, tree::Tree, wire::patch::Op};

/// What an agent may use as its state: any plain data with a default to start from.
pub trait State: Serialize + DeserializeOwned + Default + Clone + Send + Sync + 'static {}

impl<T: Serialize + DeserializeOwned + Default + Clone + Send + Sync + 'static> State for T {}

/// The state after the newest commit.
#[derive(Debug)]
pub(super) struct Live<S> {
    pub typed: Arc<S>,
    pub snapshot: i64,
    /// `typed` as JSON.
    plain: Value,
    /// What the store has: it may hold more than the agent's type knows.
    stored: Value,
    tree: Tree,
}

/// A change that is not committed yet.
pub(super) struct Draft<S> {
    next: Live<S>,
    pub patch: Vec<Op>,
}

impl<S: State> Live<S> {
    /// A state that was never written is the type's default.
    pub fn restore(stored: Value, snapshot: i64) -> Result<Self, Error> {
        let empty = stored == Value::Object(Map::new());
        let typed = match S::deserialize(&stored) {
            Ok(typed) => typed,
            Err(_) if empty => S::default(),
            Err(why) => return Err(Error::shape("the run's state")(why)),
        };
        let plain = plain(&typed)?;
        Ok(Self {
            typed: Arc::new(typed),
            snapshot,
            plain,
            tree: Tree::from(stored.clone()),
            stored,
        })
    }

    pub fn fold(&mut self, fold: impl FnOnce(&mut S)) -> Result<Draft<S>, Error> {
        let mut typed = S::clone(&self.typed);
        fold(&mut typed);
        let plain = plain(&typed)?;
        let stored = keep_unknown(&self.stored, &self.plain, plain.clone());
        let tree = Tree::from(stored.clone());
        let patch = diff::ops(&self.tree, &tree);
        Ok(Draft {
            next: Self {
                typed: Arc::new(typed),
                snapshot: self.snapshot,
                plain,
                stored,
                tree,
            },
            patch,
        })
    }

    /// The store took the change.
    pub fn settle(&mut self, draft: Draft<S>, snapshot: i64) {
        *self = draft.next;
        self.snapshot = snapshot;
    }
}

fn plain(typed: &impl Serialize) -> Result<Value, Error> {
    serde_json::to_value(typed).map_err(Error::shape("the new state"))
}

/// The new state, with what the store has but the agent's type does not know: a field of another version of
/// the agent, or one that an operator added, survives this one.
fn keep_unknown(stored: &Value, old: &Value, new: Value) -> Value {
    if *old == new {
        return stored.clone();
    }
    match (stored, old, new) {
        (Value::Object(stored), Value::Object(old), Value::Object(new)) => {
            let unknown = stored
                .iter()
                .filter(|(key, _)| !old.contains_key(*key))
                .map(|(key, value)| (key.clone(), value.clone()));
            let known =
                new.into_iter()
                    .map(|(key, value)| match (stored.get(&key), old.get(&key)) {
                        (Some(stored), Some(old)) => (key, keep_unknown(stored, old, value)),
                        _ => (key, value),
                    });
            Value::Object(unknown.chain(known).collect())
        }
        (Value::Array(stored), Value::Array(old), Value::Array(new))
            if stored.len() == old.len() =>
        {
            let both = stored.iter().zip(old).map(Some);
            let items = new.into_iter().zip(both.chain(std::iter::repeat(None)));
            items
                .map(|(new, before)| match before {
                    Some((stored, old)) => keep_unknown(stored, old, new),
                    None => new,
                })
                .collect()
        }
        (_, _, new) => new,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
    struct Inbox {
        messages: Vec<Message>,
        open: bool,
    }

    #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
    struct Message {
        text: String,
    }

    fn say(state: &mut Inbox, text: &str) {
        state.messages.push(Message { text: text.into() });
    }

    fn applied(stored: Value, draft: &Draft<Inbox>) -> Value {
        let mut tree = Tree::from(stored);
        tree.apply(&draft.patch).unwrap();
        tree.to_value()
    }

    #[test]
    fn a_first_fold_writes_the_default_too() {
        let mut live = Live::<Inbox>::restore(json!({}), 0).unwrap();
        let draft = live.fold(|state| say(state, "hello")).unwrap();
        assert_eq!(
            applied(json!({}), &draft),
            json!({"messages": [{"text": "hello"}], "open": false})
        );
    }

    #[test]
    fn a_fold_that_changes_nothing_sends_nothing() {
        let mut live = Live::<Inbox>::restore(json!({}), 0).unwrap();
        assert!(live.fold(|_| ()).unwrap().patch.is_empty());
    }

    #[test]
    fn what_the_agents_type_does_not_know_is_kept() {
        let stored = json!({
            "messages": [{"text": "a", "seen_by": "ana"}], "open": false, "note": "from version 2",
        });
        let mut live = Live::<Inbox>::restore(stored.clone(), 4).unwrap();
        let draft = live.fold(|state| say(state, "b")).unwrap();
        assert_eq!(draft.patch.len(), 1);
        assert_eq!(
            applied(stored, &draft),
            json!({
                "messages": [{"text": "a", "seen_by": "ana"}, {"text": "b"}],
                "open": false, "note": "from version 2",
            })
        );
        live.settle(draft, 5);
        assert_eq!((live.snapshot, live.typed.messages.len()), (5, 2));
    }

    #[test]
    fn a_state_of_another_shape_is_told_not_replaced() {
        let error = Live::<Inbox>::restore(json!({"messages": 7}), 1).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("the run's state does not fit")
        );
    }
}
