//! A state held at hand: a JSON tree that knows its hash and its size, and keeps both while it is patched.
//!
//! A patch touches only its path; hashes of untouched subtrees are reused. That is why a commit costs the
//! same at step 10,000 as at step 100.

use serde::{Serialize, Serializer};
use serde_json::{Number, Value};
use std::collections::BTreeMap;

use super::{
    hash::{self, Hash},
    json::{self, DEPTH_MAX},
    patch::{Op, PatchError, tokens},
};

#[derive(Debug, Clone)]
pub struct Tree {
    node: Node,
    hash: Option<Hash>,
    /// Bytes of the canonical JSON.
    size: usize,
}

#[derive(Debug, Clone)]
enum Node {
    Scalar(Value),
    Array(Vec<Tree>),
    Object(BTreeMap<String, Tree>),
}

/// Why a patch was refused that made the state too large.
pub const TOO_LARGE: &str = "the state would be larger than its limit";

/// How to take back one primitive change.
enum Undo {
    Remove(Vec<String>),
    Insert(Vec<String>, Tree),
    Replace(Vec<String>, Tree),
}

type Step<T> = Result<T, &'static str>;

impl From<Value> for Tree {
    fn from(value: Value) -> Self {
        let node = match value {
            Value::Array(items) => Node::Array(items.into_iter().map(Tree::from).collect()),
            Value::Object(map) => {
                Node::Object(map.into_iter().map(|(k, v)| (k, Tree::from(v))).collect())
            }
            scalar => Node::Scalar(scalar),
        };
        let size = match &node {
            Node::Scalar(Value::String(s)) => json::quoted(s).len(),
            Node::Scalar(v) => v.to_string().len(),
            Node::Array(items) => {
                2 + commas(items.len()) + items.iter().map(|t| t.size).sum::<usize>()
            }
            Node::Object(map) => {
                let entries: usize = map.iter().map(|(k, t)| entry_size(k, t)).sum();
                2 + commas(map.len()) + entries
            }
        };
        Self {
            node,
            hash: None,
            size,
        }
    }
}

fn commas(len: usize) -> usize {
    len.saturating_sub(1)
}

fn entry_size(key: &str, value: &Tree) -> usize {
    json::quoted(key).len() + 1 + value.size
}

impl Tree {
    /// Bytes of the canonical JSON.
    pub fn size(&self) -> usize {
        self.size
    }

    /// `H(state)`; computed where it is not known yet.
    pub fn hash(&mut self) -> Hash {
        if let Some(known) = self.hash {
            return known;
        }
        let hash = match &mut self.node {
            Node::Scalar(value) => hash::leaf(value),
            Node::Array(items) => hash::array(items.iter_mut().map(Tree::hash)),
            Node::Object(map) => hash::object(map.iter_mut().map(|(k, t)| (k.as_str(), t.hash()))),
        };
        self.hash = Some(hash);
        hash
    }

    pub fn to_value(&self) -> Value {
        match &self.node {
            Node::Scalar(value) => value.clone(),
            Node::Array(items) => items.iter().map(Tree::to_value).collect(),
            Node::Object(map) => {
                Value::Object(map.iter().map(|(k, t)| (k.clone(), t.to_value())).collect())
            }
        }
    }

    fn depth(&self) -> usize {
        match &self.node {
            Node::Scalar(_) => 0,
            Node::Array(items) => 1 + items.iter().map(Tree::depth).max().unwrap_or(0),
            Node::Object(map) => 1 + map.values().map(Tree::depth).max().unwrap_or(0),
        }
    }

    /// Applies all operations, or none.
    pub fn apply(&mut self, ops: &[Op]) -> Result<(), PatchError> {
        self.apply_within(ops, usize::MAX)
    }

    /// Applies all operations, or none; a few copies can double a state many times over, so its size is watched.
    pub fn apply_within(&mut self, ops: &[Op], size_max: usize) -> Result<(), PatchError> {
        let mut undo = Vec::with_capacity(ops.len());
        for (index, op) in ops.iter().enumerate() {
            let applied = self.apply_one(op, &mut undo);
            let fits = match self.size > size_max {
                true => Err(TOO_LARGE),
                false => Ok(()),
            };
            if let Err(why) = applied.and(fits) {
                undo.into_iter().rev().for_each(|step| self.undo(step));
                let path = op.path().to_owned();
                return Err(PatchError { index, path, why });
            }
        }
        Ok(())
    }

    fn apply_one(&mut self, op: &Op, undo: &mut Vec<Undo>) -> Step<()> {
        match op {
            Op::Add { path, value } => self.put(tokens(path)?, Tree::from(value.clone()), undo),
            Op::Remove { path } => self.take(tokens(path)?, undo).map(drop),
            Op::Replace { path, value } => {
                self.swap(tokens(path)?, Tree::from(value.clone()), undo)
            }
            Op::Copy { from, path } => {
                let copy = self
                    .get(&tokens(from)?)
                    .ok_or("there is no value at `from`")?
                    .clone();
                self.put(tokens(path)?, copy, undo)
            }
            Op::Move { from, path } => {
                if path.starts_with(&format!("{from}/")) {
                    return Err("a value cannot be moved into itself");
                }
                if from == path {
                    return self
                        .get(&tokens(from)?)
                        .map(drop)
                        .ok_or("there is no value at `from`");
                }
                let moved = self.take(tokens(from)?, undo)?;
                self.put(tokens(path)?, moved, undo)
            }
            Op::Test { path, value } => match self.get(&tokens(path)?) {
                Some(found) if found.equals(value) => Ok(()),
                Some(_) => Err("the value there is another one"),
                None => Err("there is no value"),
            },
        }
    }

    fn undo(&mut self, step: Undo) {
        // Takes back what was just done to this very tree, so each path is there.
        let mut ignored = Vec::new();
        let _ = match step {
            Undo::Remove(path) => self.take(path, &mut ignored).map(drop),
            Undo::Insert(path, tree) => self.put(path, tree, &mut ignored),
            Undo::Replace(path, tree) => self.swap(path, tree, &mut ignored),
        };
    }

    fn get(&self, path: &[String]) -> Option<&Tree> {
        path.iter().try_fold(self, |tree, token| match &tree.node {
            Node::Scalar(_) => None,
            Node::Array(items) => items.get(index(token, items.len()).ok()?),
            Node::Object(map) => map.get(token),
        })
    }

    fn equals(&self, value: &Value) -> bool {
        match (&self.node, value) {
            (Node::Scalar(Value::Number(mine)), Value::Number(other)) => same_number(mine, other),
            (Node::Scalar(mine), other) => mine == other,
            (Node::Array(items), Value::Array(others)) => {
                items.len() == others.len() && items.iter().zip(others).all(|(a, b)| a.equals(b))
            }
            (Node::Object(map), Value::Object(others)) => {
                map.len() == others.len()
                    && map
                        .iter()
                        .all(|(k, t)| others.get(k).is_some_and(|v| t.equals(v)))
            }
            _ => false,
        }
    }

    fn put(&mut self, mut path: Vec<String>, tree: Tree, undo: &mut Vec<Undo>) -> Step<()> {
        if path.len() + tree.depth() > DEPTH_MAX {
            return Err("the state would nest deeper than 128");
        }
        if path.is_empty() {
            return self.swap(path, tree, undo);
        }
        let mut replaced = None;
        let mut landed = None;
        self.edit(&path, |node, last| match node {
            Node::Scalar(_) => Err("the parent is neither an object nor an array"),
            Node::Array(items) => {
                let at = if last == "-" {
                    items.len()
                } else {
                    index(last, items.len() + 1)?
                };
                let grown = tree.size + usize::from(!items.is_empty());
                items.insert(at, tree);
                landed = Some(at.to_string());
                Ok(grown as isize)
            }
            Node::Object(map) => {
                let size = entry_size(last, &tree) as isize;
                let separator = isize::from(!map.is_empty());
                replaced = map.insert(last.to_owned(), tree);
                Ok(match &replaced {
                    Some(old) => size - entry_size(last, old) as isize,
                    None => size + separator,
                })
            }
        })?;
        if let (Some(at), Some(last)) = (landed, path.last_mut()) {
            *last = at;
        }
        undo.push(match replaced {
            Some(old) => Undo::Replace(path, old),
            None => Undo::Remove(path),
        });
        Ok(())
    }

    fn take(&mut self, path: Vec<String>, undo: &mut Vec<Undo>) -> Step<Tree> {
        if path.is_empty() {
            return Err("the whole state cannot be removed");
        }
        let taken = self.edit_with(&path, |node, last| match node {
            Node::Scalar(_) => Err("there is no value"),
            Node::Array(items) => {
                let tree = items.remove(index(last, items.len())?);
                let shrunk = tree.size + usize::from(!items.is_empty());
                Ok((tree, -(shrunk as isize)))
            }
            Node::Object(map) => {
                let tree = map.remove(last).ok_or("there is no value")?;
                let shrunk = entry_size(last, &tree) + usize::from(!map.is_empty());
                Ok((tree, -(shrunk as isize)))
            }
        })?;
        undo.push(Undo::Insert(path, taken.clone()));
        Ok(taken)
    }

    fn swap(&mut self, path: Vec<String>, tree: Tree, undo: &mut Vec<Undo>) -> Step<()> {
        if path.len() + tree.depth() > DEPTH_MAX {
            return Err("the state would nest deeper than 128");
        }
        if path.is_empty() {
            undo.push(Undo::Replace(path, std::mem::replace(self, tree)));
            return Ok(());
        }
        let old = self.edit_with(&path, |node, last| {
            let place = match node {
                Node::Scalar(_) => None,
                Node::Array(items) => {
                    let at = index(last, items.len())?;
                    items.get_mut(at)
                }
                Node::Object(map) => map.get_mut(last),
            };
            let place = place.ok_or("there is no value to replace")?;
            let change = tree.size as isize - place.size as isize;
            Ok((std::mem::replace(place, tree), change))
        })?;
        undo.push(Undo::Replace(path, old));
        Ok(())
    }

    fn edit(
        &mut self,
        path: &[String],
        f: impl FnOnce(&mut Node, &str) -> Step<isize>,
    ) -> Step<()> {
        self.edit_with(path, |node, last| f(node, last).map(|change| ((), change)))
    }

    /// Changes the container that holds the last token of `path`; sizes and hashes follow up to the root.
    fn edit_with<T>(
        &mut self,
        path: &[String],
        f: impl FnOnce(&mut Node, &str) -> Step<(T, isize)>,
    ) -> Step<T> {
        self.descend(path, f).map(|(out, _)| out)
    }

    fn descend<T>(
        &mut self,
        path: &[String],
        f: impl FnOnce(&mut Node, &str) -> Step<(T, isize)>,
    ) -> Step<(T, isize)> {
        let (out, change) = match path {
            [] => return Err("the path is empty"),
            [last] => f(&mut self.node, last)?,
            [first, rest @ ..] => {
                let child = match &mut self.node {
                    Node::Scalar(_) => None,
                    Node::Array(items) => {
                        let at = index(first, items.len())?;
                        items.get_mut(at)
                    }
                    Node::Object(map) => map.get_mut(first),
                };
                child.ok_or("the parent does not exist")?.descend(rest, f)?
            }
        };
        self.hash = None;
        self.size = self.size.wrapping_add_signed(change);
        Ok((out, change))
    }

    /// The operations that turn `self` into `new`; equal subtrees are skipped by their hash.
    pub fn diff(&mut self, new: &mut Tree) -> Vec<Op> {
        let mut ops = Vec::new();
        self.diff_into(new, "", &mut ops);
        ops
    }

    fn diff_into(&mut self, new: &mut Tree, path: &str, ops: &mut Vec<Op>) {
        if self.hash() == new.hash() {
            return;
        }
        match (&mut self.node, &mut new.node) {
            (Node::Object(old), Node::Object(new)) => {
                for key in old.keys().filter(|key| !new.contains_key(*key)) {
                    ops.push(Op::Remove {
                        path: format!("{path}/{}", json::escape(key)),
                    });
                }
                for (key, value) in new.iter_mut() {
                    let path = format!("{path}/{}", json::escape(key));
                    match old.get_mut(key) {
                        Some(before) => before.diff_into(value, &path, ops),
                        None => ops.push(Op::Add {
                            path,
                            value: value.to_value(),
                        }),
                    }
                }
            }
            (Node::Array(old), Node::Array(new)) => diff_lists(old, new, path, ops),
            _ => ops.push(Op::Replace {
                path: path.to_owned(),
                value: new.to_value(),
            }),
        }
    }
}

/// Equal items at both ends are kept; what lies between is changed in place, then cut or extended.
fn diff_lists(old: &mut [Tree], new: &mut [Tree], path: &str, ops: &mut Vec<Op>) {
    let head = old
        .iter_mut()
        .zip(new.iter_mut())
        .map(|(a, b)| a.hash() == b.hash())
        .take_while(|same| *same)
        .count();
    let (old, new) = (&mut old[head..], &mut new[head..]);
    let tail = old
        .iter_mut()
        .rev()
        .zip(new.iter_mut().rev())
        .map(|(a, b)| a.hash() == b.hash())
        .take_while(|same| *same)
        .count();
    let (old_len, new_len) = (old.len() - tail, new.len() - tail);
    let (old, new) = (&mut old[..old_len], &mut new[..new_len]);
    let both = old_len.min(new_len);
    for (i, (a, b)) in old.iter_mut().zip(new.iter_mut()).enumerate() {
        a.diff_into(b, &format!("{path}/{}", head + i), ops);
    }
    for _ in both..old_len {
        ops.push(Op::Remove {
            path: format!("{path}/{}", head + both),
        });
    }
    for (i, item) in new.iter().enumerate().skip(both) {
        ops.push(Op::Add {
            path: format!("{path}/{}", head + i),
            value: item.to_value(),
        });
    }
}

/// RFC 6902 compares numbers by value: 1 is 1.0. Whole numbers are compared exactly.
fn same_number(a: &Number, b: &Number) -> bool {
    a == b || ((a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64())
}

/// An array index as RFC 6901 writes it: no sign, no leading zero, below `len`.
fn index(token: &str, len: usize) -> Step<usize> {
    let plain =
        token == "0" || (!token.starts_with('0') && token.bytes().all(|b| b.is_ascii_digit()));
    match token.parse::<usize>() {
        Ok(n) if plain && n < len => Ok(n),
        Ok(_) if plain => Err("the index is past the end"),
        _ => Err("that is not an array index"),
    }
}

impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match &self.node {
            Node::Scalar(value) => value.serialize(s),
            Node::Array(items) => s.collect_seq(items),
            Node::Object(map) => s.collect_map(map),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn value() -> impl Strategy<Value = Value> {
        let scalar = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            (-1e6..1e6f64).prop_map(Value::from),
            "[a-z\"\\\\é/~]{0,6}".prop_map(Value::from),
        ];
        scalar.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map("[a-c~/]{1,2}", inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    fn consistent(tree: &mut Tree) {
        let value = tree.to_value();
        assert_eq!(
            tree.size(),
            json::canonical(&value).len(),
            "size of {value}"
        );
        assert_eq!(tree.hash(), Hash::of(&value), "hash of {value}");
    }

    proptest! {
        #[test]
        fn a_diff_applied_gives_the_new_state_with_its_hash_and_size(a in value(), b in value()) {
            let (mut old, mut new) = (Tree::from(a), Tree::from(b.clone()));
            let ops = old.diff(&mut new);
            old.apply(&ops).unwrap();
            prop_assert_eq!(old.to_value(), b);
            consistent(&mut old);
        }

        #[test]
        fn a_patch_that_fails_changes_nothing(a in value(), b in value()) {
            let (mut old, mut new) = (Tree::from(a.clone()), Tree::from(b));
            let mut ops = old.diff(&mut new);
            ops.push(Op::Test { path: "/nowhere/at/all".into(), value: Value::Null });
            prop_assert!(old.apply(&ops).is_err());
            prop_assert_eq!(old.to_value(), a);
            consistent(&mut old);
        }
    }

    #[test]
    fn operations_do_what_rfc_6902_says() {
        let mut tree = Tree::from(json!({"a": [1, 2], "b": {"c": "x"}}));
        let ops: Vec<Op> = serde_json::from_value(json!([
            {"op": "add", "path": "/a/-", "value": 3},
            {"op": "add", "path": "/a/0", "value": 0},
            {"op": "test", "path": "/a", "value": [0, 1, 2, 3]},
            {"op": "move", "from": "/b/c", "path": "/d"},
            {"op": "copy", "from": "/a/1", "path": "/b/one"},
            {"op": "remove", "path": "/a/0"},
            {"op": "replace", "path": "/a/2", "value": {"z": null}},
        ]))
        .unwrap();
        tree.apply(&ops).unwrap();
        assert_eq!(
            tree.to_value(),
            json!({"a": [1, 2, {"z": null}], "b": {"one": 1}, "d": "x"})
        );
        consistent(&mut tree);
        for bad in [
            json!({"op": "add", "path": "/a/01", "value": 1}),
            json!({"op": "add", "path": "/x/y", "value": 1}),
            json!({"op": "remove", "path": "/a/9"}),
            json!({"op": "replace", "path": "/nope", "value": 1}),
            json!({"op": "move", "from": "/b", "path": "/b/c"}),
            json!({"op": "test", "path": "/d", "value": "y"}),
            json!({"op": "remove", "path": "d"}),
        ] {
            let op: Op = serde_json::from_value(bad.clone()).unwrap();
            assert!(tree.apply(&[op]).is_err(), "{bad}");
        }
        consistent(&mut tree);
    }
}
