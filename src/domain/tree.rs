//! A state held at hand: a JSON tree that knows its hash and its size, and keeps both while it is patched.
//!
//! A patch touches only its path; hashes of untouched subtrees are reused. That is why a commit costs the
//! same at step 10,000 as at step 100. Subtrees are shared, so copying one costs nothing, however large it is.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use crate::domain::{Hash, wire::json};

pub mod hash;
mod patched;

pub use patched::Refused;
pub(super) use patched::index;

#[derive(Debug, Clone)]
pub struct Tree(Arc<Known>);

/// A node with what is known of all below it.
#[derive(Debug, Clone)]
struct Known {
    node: Node,
    hash: OnceLock<Hash>,
    /// Bytes of the canonical JSON.
    size: usize,
    /// Values in it, with itself.
    values: usize,
    /// No path below is longer; after a removal all may be shorter.
    depth_max: usize,
}

/// How large a state may be.
#[derive(Debug, Clone, Copy)]
pub struct StateMax {
    /// Bytes of its canonical JSON.
    pub bytes: usize,
    /// Values in it: one costs far more than its bytes to hash, to compare and to hold.
    pub values: usize,
}

#[derive(Debug, Clone)]
enum Node {
    Scalar(Value),
    Array(Vec<Tree>),
    Object(BTreeMap<String, Tree>),
}

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
    json::quoted_len(key) + 1 + value.size()
}

impl Node {
    fn children(&self) -> Box<dyn Iterator<Item = &Tree> + '_> {
        match self {
            Node::Scalar(_) => Box::new(std::iter::empty()),
            Node::Array(items) => Box::new(items.iter()),
            Node::Object(map) => Box::new(map.values()),
        }
    }

    fn len(&self) -> usize {
        match self {
            Node::Scalar(_) => 0,
            Node::Array(items) => items.len(),
            Node::Object(map) => map.len(),
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
            Node::Scalar(Value::String(s)) => json::quoted_len(s),
            Node::Scalar(v) => v.to_string().len(),
            Node::Array(items) => {
                2 + commas(items.len()) + items.iter().map(Tree::size).sum::<usize>()
            }
            Node::Object(map) => {
                let entries: usize = map.iter().map(|(k, t)| entry_size(k, t)).sum();
                2 + commas(map.len()) + entries
            }
        };
        let (values, depth_max) = node.children().fold((1, None), |(values, depth), t| {
            (values + t.values(), depth.max(Some(t.0.depth_max + 1)))
        });
        Self(Arc::new(Known {
            depth_max: depth_max.unwrap_or(usize::from(!matches!(node, Node::Scalar(_)))),
            node,
            hash: OnceLock::new(),
            size,
            values,
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

    /// How many values it holds, with itself.
    pub fn values(&self) -> usize {
        self.0.values
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

    /// The value at the keys of a JSON pointer.
    pub fn get(&self, path: &[String]) -> Option<&Tree> {
        path.iter()
            .try_fold(self, |tree, token| tree.0.node.at(token))
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
    use crate::domain::{
        diff,
        wire::{json::DEPTH_MAX, patch::Op},
    };
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
        assert_eq!(tree.values(), json::values(&value), "values of {value}");
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

    /// Each of these costs as much as its list is long, and 100,000 may stand in one patch.
    #[test]
    fn a_patch_that_shifts_or_copies_a_long_list_again_and_again_is_refused() {
        let long = Value::from(vec![json!(0); 20_000]);
        let first = Op::Add {
            path: "/a/0".into(),
            value: json!(1),
        };
        let copied = [
            Op::Copy {
                from: "/a".into(),
                path: "/b".into(),
            },
            Op::Add {
                path: "/b/-".into(),
                value: json!(1),
            },
        ];
        for ops in [vec![first; 9_000], vec![copied; 1_500].concat()] {
            let mut tree = Tree::from(json!({"a": long}));
            let before = tree.clone();
            let refused = tree.apply(&ops).unwrap_err();
            assert_eq!(refused.why, Refused::WORK, "{refused}");
            assert!(tree.same(&before));
        }
    }

    #[test]
    fn a_state_may_not_grow_beyond_so_many_values() {
        let max = StateMax {
            bytes: usize::MAX,
            values: 1_000,
        };
        let double = Op::Copy {
            from: "/a".into(),
            path: "/a/-".into(),
        };
        let mut tree = Tree::from(json!({"a": [1, 2, 3]}));
        let refused = tree.apply_within(&vec![double; 50], max).unwrap_err();
        assert_eq!(refused.why, Refused::VALUES, "{refused}");
        let mut larger = Tree::from(json!({"a": vec![0; 2_000], "b": 1}));
        let less = Op::Remove { path: "/b".into() };
        larger.apply_within(&[less], max).unwrap();
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
