//! How two states differ, as a tree over both, and what a difference weighs.
//!
//! The weight of a change is what a reader must take in: the bytes that went and came, and a constant for having to
//! look there at all. Of two ways to describe a difference the lighter one is taken.

use serde_json::Value;
use std::collections::BTreeMap;

use super::{
    lists,
    text::{self, Edit},
};
use crate::domain::{
    Hash,
    tree::{Shape, Tree},
};

/// What it costs a reader to look at one change, in bytes.
pub(super) const CHANGE: u64 = 16;
/// What one more piece inside a string costs.
const PIECE: u64 = 8;
/// Work for one comparison, in nodes looked at; past it lists are aligned by position and hash alone.
const WORK_MAX: u64 = 2_000_000;
/// A renamed key is recognised when its value is at least this large.
const RENAMED_MIN: usize = 16;

/// How a value differs from the one it is compared with.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    Same,
    Replaced,
    Text(Vec<Edit>),
    Object(Keys),
    List(Vec<Run>),
}

/// What became of an object's keys; those not named are the same, or only on one side.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Keys {
    pub changed: BTreeMap<String, Delta>,
    /// New key to old key: the same value under another name.
    pub renamed: BTreeMap<String, String>,
}

/// A stretch of an aligned list. Together they cover both lists; all but `Moved` are in the order of both.
#[derive(Debug, Clone, PartialEq)]
pub enum Run {
    Same {
        old: usize,
        new: usize,
        len: usize,
    },
    Changed {
        old: usize,
        new: usize,
        delta: Delta,
    },
    Removed {
        old: usize,
        len: usize,
    },
    Added {
        new: usize,
        len: usize,
    },
    Moved {
        old: usize,
        new: usize,
        delta: Delta,
    },
}

/// A difference and its weight.
#[derive(Debug, Clone)]
pub(super) struct Weighed {
    pub delta: Delta,
    pub weight: u64,
}

/// Counts the work that is left; what ends the search must not depend on a clock.
pub(super) struct Work {
    left: u64,
}

impl Work {
    #[cfg(test)]
    pub fn for_tests() -> Self {
        Self { left: WORK_MAX }
    }

    pub fn spend(&mut self, n: usize) -> bool {
        let enough = self.left >= n as u64;
        self.left = self.left.saturating_sub(n as u64);
        enough
    }

    pub fn is_left(&self) -> bool {
        self.left > 0
    }
}

pub(super) fn compare(old: &Tree, new: &Tree) -> Delta {
    weighed(old, new, &mut Work { left: WORK_MAX }).delta
}

/// How two lists differ item by item, also where it would be lighter to show the one in place of the other.
pub(super) fn compare_lists(old: &[Tree], new: &[Tree]) -> Delta {
    lists::aligned(old, new, &mut Work { left: WORK_MAX }).delta
}

pub(super) fn added(new: &Tree) -> u64 {
    CHANGE + new.size() as u64
}

pub(super) fn removed(old: &Tree) -> u64 {
    CHANGE + old.size() as u64
}

pub(super) fn replaced(old: &Tree, new: &Tree) -> u64 {
    CHANGE + old.size() as u64 + new.size() as u64
}

pub(super) fn weighed(old: &Tree, new: &Tree, work: &mut Work) -> Weighed {
    work.spend(1);
    if old.same(new) {
        return Weighed {
            delta: Delta::Same,
            weight: 0,
        };
    }
    let inside = match (old.shape(), new.shape()) {
        (Shape::Object(a), Shape::Object(b)) => Some(objects(a, b, work)),
        (Shape::List(a), Shape::List(b)) => Some(lists::aligned(a, b, work)),
        (Shape::Scalar(Value::String(a)), Shape::Scalar(Value::String(b))) => {
            let edits = text::edits(a, b, work);
            Some(Weighed {
                weight: CHANGE + edits.iter().map(piece).sum::<u64>(),
                delta: Delta::Text(edits),
            })
        }
        _ => None,
    };
    let weight = replaced(old, new);
    match inside {
        Some(inside) if inside.weight < weight || one_thing(old, new) => inside,
        _ => Weighed {
            delta: Delta::Replaced,
            weight,
        },
    }
}

/// Objects with most of their keys in common are one thing that changed, even if all of it did.
pub(super) fn one_thing(old: &Tree, new: &Tree) -> bool {
    let (Shape::Object(a), Shape::Object(b)) = (old.shape(), new.shape()) else {
        return false;
    };
    let common = a.keys().filter(|key| b.contains_key(*key)).count();
    2 * common > a.len().max(b.len())
}

fn piece(edit: &Edit) -> u64 {
    PIECE + edit.len + edit.new.len() as u64
}

fn objects(old: &BTreeMap<String, Tree>, new: &BTreeMap<String, Tree>, work: &mut Work) -> Weighed {
    let mut keys = Keys::default();
    let mut weight = 0;
    let mut gone: BTreeMap<&str, &Tree> = BTreeMap::new();
    for (key, before) in old {
        match new.get(key) {
            None => {
                gone.insert(key, before);
            }
            Some(after) if before.same(after) => {}
            Some(after) => {
                let inside = weighed(before, after, work);
                weight += inside.weight;
                keys.changed.insert(key.clone(), inside.delta);
            }
        }
    }
    let renamable = |tree: &&Tree| tree.size() >= RENAMED_MIN;
    let mut by_hash: BTreeMap<Hash, &str> = BTreeMap::new();
    for (key, tree) in gone.iter().filter(|(_, tree)| renamable(tree)) {
        by_hash.entry(tree.hash()).or_insert(key);
    }
    for (key, after) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
        let known = match renamable(&after) && !by_hash.is_empty() {
            true => by_hash.remove(&after.hash()),
            false => None,
        };
        match known {
            Some(was) => {
                gone.remove(was);
                keys.renamed.insert(key.clone(), was.to_owned());
                weight += CHANGE + key.len() as u64;
            }
            None => weight += key.len() as u64 + added(after),
        }
    }
    for (key, before) in gone {
        weight += key.len() as u64 + removed(before);
    }
    Weighed {
        delta: Delta::Object(keys),
        weight,
    }
}
