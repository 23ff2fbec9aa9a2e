//! A state held at hand: a JSON tree that knows its hash and its size, and keeps both while it is patched.
//!
//! A patch touches only its path; hashes of untouched subtrees are reused. That is why a commit costs the
//! same at step 10,000 as at step 100. Subtrees are shared, so copying one costs nothing, however large it is.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Number, Value};
use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use super::{
    hash::{self, Hash},
    json::{self, DEPTH_MAX},
    patch::{Op, PatchError, tokens},
};

#[derive(Debug, Clone)]
pub struct Tree(Arc<Known>);

/// A node with what is known of all below it.
#[derive(Debug, Clone)]
struct Known {
    node: Node,
    hash: OnceLock<Hash>,
    /// Bytes of the canonical JSON.
    size: usize,
    /// No path below is longer; after a removal all may be shorter.
    depth_max: usize,
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
        Self::made(node)
    }
}

impl PartialEq for Tree {
    fn eq(&self, other: &Self) -> bool {
        self.same(other)
    }
}

fn commas(len: usize) -> usize {
    len.saturating_sub(1)
}

fn entry_size(key: &str, value: &Tree) -> usize {
    json::quoted(key).len() + 1 + value.size()
}

impl Node {
    fn children(&self) -> Box<dyn Iterator<Item = &Tree> + '_> {
        match self {
            Node::Scalar(_) => Box::new(std::iter::empty()),
            Node::Array(items) => Box::new(items.iter()),
            Node::Object(map) => Box::new(map.values()),
        }
    }

    /// The child of that name, or at that index.
    fn at(&self, token: &str) -> Option<&Tree> {
        match self {
            Node::Scalar(_) => None,
            Node::Array(items) => items.get(index(token, items.len()).ok()?),
            Node::Object(map) => map.get(token),
        }
    }
}

/// What stands at a node, to look at.
#[derive(Debug, Clone, Copy)]
pub enum Shape<'a> {
    Scalar(&'a Value),
    List(&'a [Tree]),
    Object(&'a BTreeMap<String, Tree>),
}

impl Tree {
    fn made(node: Node) -> Self {
        let size = match &node {
            Node::Scalar(Value::String(s)) => json::quoted(s).len(),
            Node::Scalar(v) => v.to_string().len(),
            Node::Array(items) => {
                2 + commas(items.len()) + items.iter().map(Tree::size).sum::<usize>()
            }
            Node::Object(map) => {
                let entries: usize = map.iter().map(|(k, t)| entry_size(k, t)).sum();
                2 + commas(map.len()) + entries
            }
        };
        let depth_max = node.children().map(|t| t.0.depth_max + 1).max();
        Self(Arc::new(Known {
            depth_max: depth_max.unwrap_or(usize::from(!matches!(node, Node::Scalar(_)))),
            node,
            hash: OnceLock::new(),
            size,
        }))
    }

    pub fn shape(&self) -> Shape<'_> {
        match &self.0.node {
            Node::Scalar(value) => Shape::Scalar(value),
            Node::Array(items) => Shape::List(items),
            Node::Object(map) => Shape::Object(map),
        }
    }

    /// Whether both are the same value; numbers of another type are not.
    pub fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self.size() == other.size() && self.hash() == other.hash())
    }

    /// Bytes of the canonical JSON.
    pub fn size(&self) -> usize {
        self.0.size
    }

    /// `H(state)`; computed where it is not known yet.
    pub fn hash(&self) -> Hash {
        *self.0.hash.get_or_init(|| match &self.0.node {
            Node::Scalar(value) => hash::leaf(value),
            Node::Array(items) => hash::array(items.iter().map(Tree::hash)),
            Node::Object(map) => hash::object(map.iter().map(|(k, t)| (k.as_str(), t.hash()))),
        })
    }

    pub fn to_value(&self) -> Value {
        match &self.0.node {
            Node::Scalar(value) => value.clone(),
            Node::Array(items) => items.iter().map(Tree::to_value).collect(),
            Node::Object(map) => {
                Value::Object(map.iter().map(|(k, t)| (k.clone(), t.to_value())).collect())
            }
        }
    }

    fn depth(&self) -> usize {
        match &self.0.node {
            Node::Scalar(_) => 0,
            node => 1 + node.children().map(Tree::depth).max().unwrap_or(0),
        }
    }

    /// Whether it may stand below so many others.
    fn fits_below(&self, above: usize) -> Step<()> {
        match above + self.0.depth_max > DEPTH_MAX && above + self.depth() > DEPTH_MAX {
            true => Err("the state would nest deeper than 128"),
            false => Ok(()),
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
            let fits = match self.size() > size_max {
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

    /// The value at the keys of a JSON pointer.
    pub fn get(&self, path: &[String]) -> Option<&Tree> {
        path.iter()
            .try_fold(self, |tree, token| tree.0.node.at(token))
    }

    fn equals(&self, value: &Value) -> bool {
        match (&self.0.node, value) {
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
        tree.fits_below(path.len())?;
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
                let grown = tree.size() + usize::from(!items.is_empty());
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
                let shrunk = tree.size() + usize::from(!items.is_empty());
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
        tree.fits_below(path.len())?;
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
            let change = tree.size() as isize - place.size() as isize;
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
        self.descend(path, f).map(|(out, ..)| out)
    }

    /// Answers also by how much it grew, and how deep it may be now.
    fn descend<T>(
        &mut self,
        path: &[String],
        f: impl FnOnce(&mut Node, &str) -> Step<(T, isize)>,
    ) -> Step<(T, isize, usize)> {
        let known = Arc::make_mut(&mut self.0);
        let (out, change, below) = match path {
            [] => return Err("the path is empty"),
            [last] => {
                let (out, change) = f(&mut known.node, last)?;
                let changed = match &known.node {
                    Node::Array(items) if last == "-" => items.last(),
                    node => node.at(last),
                };
                (out, change, changed.map_or(0, |t| t.0.depth_max))
            }
            [first, rest @ ..] => {
                let child = match &mut known.node {
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
        known.hash = OnceLock::new();
        known.size = known.size.wrapping_add_signed(change);
        known.depth_max = known.depth_max.max(below + 1);
        Ok((out, change, known.depth_max))
    }

    /// A list that is changed as a whole: one with many changes.
    pub(super) fn edit_list(
        &mut self,
        path: &[String],
        f: impl FnOnce(Vec<Tree>) -> Step<Vec<Tree>>,
    ) -> Step<()> {
        let found = self.get(path).ok_or("the parent does not exist")?;
        let Node::Array(items) = &found.0.node else {
            return Err("the parent is not a list");
        };
        let list = Tree::made(Node::Array(f(items.clone())?));
        self.swap(path.to_vec(), list, &mut Vec::new())
    }

    pub(super) fn put_at(&mut self, path: &str, tree: Tree) -> Step<()> {
        self.put(tokens(path)?, tree, &mut Vec::new())
    }

    pub(super) fn take_at(&mut self, path: &str) -> Step<Tree> {
        self.take(tokens(path)?, &mut Vec::new())
    }

    pub(super) fn swap_at(&mut self, path: &str, tree: Tree) -> Step<()> {
        self.swap(tokens(path)?, tree, &mut Vec::new())
    }
}

/// RFC 6902 compares numbers by value: 1 is 1.0. Whole numbers are compared exactly.
fn same_number(a: &Number, b: &Number) -> bool {
    a == b || ((a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64())
}

/// An array index as RFC 6901 writes it: no sign, no leading zero, below `len`.
pub(super) fn index(token: &str, len: usize) -> Step<usize> {
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
        match &self.0.node {
            Node::Scalar(value) => value.serialize(s),
            Node::Array(items) => s.collect_seq(items),
            Node::Object(map) => s.collect_map(map),
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Value::deserialize(d).map(Tree::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::diff;
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
            let (mut old, new) = (Tree::from(a), Tree::from(b.clone()));
            let ops = diff::ops(&old, &new);
            old.apply(&ops).unwrap();
            prop_assert_eq!(old.to_value(), b);
            consistent(&mut old);
        }

        #[test]
        fn a_patch_that_fails_changes_nothing(a in value(), b in value()) {
            let (mut old, new) = (Tree::from(a.clone()), Tree::from(b));
            let mut ops = diff::ops(&old, &new);
            ops.push(Op::Test { path: "/nowhere/at/all".into(), value: Value::Null });
            prop_assert!(old.apply(&ops).is_err());
            prop_assert_eq!(old.to_value(), a);
            consistent(&mut old);
        }
    }

    #[test]
    fn a_copy_costs_nothing_however_large_it_is() {
        let mut tree = Tree::from(json!({"a": ["x"]}));
        let doubling = Op::Copy {
            from: "/a".into(),
            path: "/a/-".into(),
        };
        tree.apply(&vec![doubling; 50]).unwrap();
        assert!(tree.size() > 1 << 50);
        assert_eq!(tree.hash(), tree.clone().hash());
    }

    #[test]
    fn a_state_may_nest_to_its_limit_again_after_something_deep_was_removed() {
        let nested = |n: usize| (0..n).fold(json!(1), |inner, _| json!({"a": inner}));
        let mut tree = Tree::from(json!({"deep": nested(DEPTH_MAX - 1), "list": []}));
        let put = |path: &str, value: Value| Op::Add {
            path: path.into(),
            value,
        };
        let too_deep = put("/list/-", nested(DEPTH_MAX - 1));
        assert!(tree.apply(std::slice::from_ref(&too_deep)).is_err());
        tree.apply(&[put("/list/-", nested(DEPTH_MAX - 2))])
            .unwrap();
        let wrapped = Op::Move {
            from: "/list".into(),
            path: "/deep".into(),
        };
        tree.apply(&[wrapped]).unwrap();
        let shorter = Op::Remove {
            path: "/deep/0".into(),
        };
        let around = Op::Copy {
            from: "".into(),
            path: "/around".into(),
        };
        assert!(tree.apply(std::slice::from_ref(&around)).is_err());
        tree.apply(&[shorter, around]).unwrap();
        consistent(&mut tree);
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
