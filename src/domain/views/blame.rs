//! Which snapshot wrote a value: followed back through states, also where its list or its key moved.

use serde::{Deserialize, Serialize};

use crate::domain::{
    diff::{self, Delta, Run},
    nouns::time::Time,
    tree::{Shape, Tree},
    views::state_view::Branch,
    wire::json::escape,
};

/// Values of one history.
pub const WRITES_MAX: usize = 20;
/// Snapshots looked through for it.
pub const SNAPSHOTS_MAX: i64 = 2_000;

/// Who wrote a value and the ones before it, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blame {
    pub writes: Vec<Write>,
    /// The history goes on before this snapshot, unread.
    pub unread: Option<i64>,
}

/// A value and the snapshot that put it there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Write {
    pub snapshot: i64,
    /// The step that committed it; the initial state, a checkpoint between steps and a person's edit have none.
    pub seq: Option<i64>,
    /// A person changed it.
    #[serde(default)]
    pub by_hand: bool,
    pub name: Option<String>,
    pub at: Time,
    pub value: Branch,
}

/// Where a value came from, one snapshot earlier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trace {
    /// It stood there, unchanged.
    Same(Vec<String>),
    /// Another value stood there.
    Changed(Vec<String>),
    /// It was not there.
    Added,
}

/// Follows the value at `path` in `new` back into `old`.
pub fn trace(old: &Tree, new: &Tree, path: &[String]) -> Trace {
    let mut was = Vec::with_capacity(path.len());
    let (mut a, mut b) = (old, new);
    for (depth, token) in path.iter().enumerate() {
        if a.same(b) {
            was.extend_from_slice(&path[depth..]);
            return Trace::Same(was);
        }
        let next = match (a.shape(), b.shape()) {
            (Shape::Object(x), Shape::Object(y)) => {
                y.get(token).and_then(|new| match x.get(token) {
                    Some(old) => Some((token.clone(), old, new)),
                    None => {
                        let renamed = x
                            .iter()
                            .find(|(key, old)| !y.contains_key(*key) && old.same(new));
                        renamed.map(|(key, old)| (key.clone(), old, new))
                    }
                })
            }
            (Shape::List(x), Shape::List(y)) => {
                let at = token.parse::<usize>().ok();
                at.and_then(|at| Some((stood(a, b, at)?, y.get(at)?)))
                    .and_then(|(i, new)| Some((i.to_string(), x.get(i)?, new)))
            }
            _ => None,
        };
        let Some((key, before, now)) = next else {
            return Trace::Added;
        };
        was.push(key);
        (a, b) = (before, now);
    }
    match a.same(b) {
        true => Trace::Same(was),
        false => Trace::Changed(was),
    }
}

/// Where an item of a list stood before.
fn stood(old: &Tree, new: &Tree, at: usize) -> Option<usize> {
    let Delta::List(runs) = diff::compare(old, new) else {
        return None;
    };
    runs.into_iter().find_map(|run| match run {
        Run::Same { old, new, len } if (new..new + len).contains(&at) => Some(old + at - new),
        Run::Changed { old, new, .. } | Run::Moved { old, new, .. } if new == at => Some(old),
        _ => None,
    })
}

/// A pointer from its keys.
pub fn pointer(path: &[String]) -> String {
    path.iter().map(|key| format!("/{}", escape(key))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn traced(old: serde_json::Value, new: serde_json::Value, path: &str) -> Trace {
        let keys = crate::domain::wire::patch::tokens(path).unwrap();
        trace(&Tree::from(old), &Tree::from(new), &keys)
    }

    fn keys(path: &str) -> Vec<String> {
        crate::domain::wire::patch::tokens(path).unwrap()
    }

    #[test]
    fn a_value_is_followed_through_insertions_moves_and_new_names() {
        let old = json!({"plan": [{"id": 1, "do": "look"}, {"id": 2, "do": "pay"}]});
        let new = json!({"plan": [{"id": 9, "do": "ask"}, {"id": 1, "do": "look"}, {"id": 2, "do": "stop"}]});
        assert_eq!(
            traced(old.clone(), new.clone(), "/plan/1/do"),
            Trace::Same(keys("/plan/0/do"))
        );
        assert_eq!(
            traced(old.clone(), new.clone(), "/plan/2/do"),
            Trace::Changed(keys("/plan/1/do"))
        );
        assert_eq!(traced(old.clone(), new, "/plan/0/do"), Trace::Added);
        let renamed = json!({"steps": old["plan"]});
        assert_eq!(
            traced(old, renamed, "/steps/1/do"),
            Trace::Same(keys("/plan/1/do"))
        );
    }
}
