//! What a diff promises, over generated, real-shaped and mutated states.

mod minimal;
mod mutated;
mod shapes;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn tree(value: Value) -> Tree {
    Tree::from(value)
}

/// Both ways, both forms, on the wire and as RFC 6902.
fn holds(a: &Tree, b: &Tree) -> Vec<Change> {
    let changes = diff(a, b);
    assert_exact(&apply(a, &changes).unwrap(), b);
    assert_exact(&apply(b, &inverse(&changes).unwrap()).unwrap(), a);
    let stored = serde_json::to_string(&forward(changes.clone())).unwrap();
    let read: Vec<Change> = serde_json::from_str(&stored).unwrap();
    assert_eq!(read, forward(changes.clone()));
    assert_exact(&apply(a, &read).unwrap(), b);
    let mut patched = a.clone();
    patched.apply(&patch(a, &changes).unwrap()).unwrap();
    assert_exact(&patched, b);
    changes
}

fn assert_exact(found: &Tree, wanted: &Tree) {
    let (found_value, wanted_value) = (found.to_value(), wanted.to_value());
    assert_eq!(found_value.to_string(), wanted_value.to_string());
    assert_eq!(found.hash(), wanted.hash());
    assert_eq!(found.size(), wanted.size());
}

fn shown(a: Value, b: Value) -> Value {
    serde_json::to_value(holds(&tree(a), &tree(b))).unwrap()
}

pub fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        prop_oneof![
            Just(0.0),
            Just(-0.0),
            Just(f64::MAX),
            Just(f64::MIN_POSITIVE),
            Just(5e-324)
        ]
        .prop_map(Value::from),
        (-1e6..1e6f64).prop_map(Value::from),
        "[a-z\"\\\\é/~ 🦀]{0,6}".prop_map(Value::from),
        "([a-z]{1,6} ){3,9}\\PC{0,8}".prop_map(Value::from),
        (0..4i64).prop_map(Value::from),
    ]
}

pub fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..7).prop_map(Value::from),
            prop::collection::btree_map("[a-c~/]{1,2}", inner.clone(), 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
            (0..5i64, inner).prop_map(|(id, v)| json!({"id": id, "value": v})),
        ]
    })
}

proptest! {
    #[test]
    fn a_diff_is_exact_both_ways_for_all_values(a in value(), b in value()) {
        holds(&tree(a), &tree(b));
    }

    #[test]
    fn a_list_in_another_order_is_exact(
        items in prop::collection::vec(value(), 0..24),
        seed in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..12),
        more in prop::collection::vec((any::<prop::sample::Index>(), value()), 0..4),
    ) {
        let old = items.clone();
        let mut new = items;
        for (a, b) in seed {
            if !new.is_empty() {
                let item = new.remove(a.index(new.len()));
                new.insert(b.index(new.len() + 1), item);
            }
        }
        for (at, item) in more {
            new.insert(at.index(new.len() + 1), item);
        }
        holds(&tree(Value::from(old)), &tree(Value::from(new)));
    }

    #[test]
    fn edits_inside_text_are_exact(a in "(\\PC{0,3}[a-f]{1,4}[ \n]){0,40}", b in "(\\PC{0,3}[a-f]{1,4}[ \n]){0,40}") {
        holds(&tree(Value::from(a)), &tree(Value::from(b)));
    }

    #[test]
    fn changes_that_do_not_fit_are_refused(a in value(), b in value(), c in value()) {
        let changes = diff(&tree(a), &tree(b));
        let _ = apply(&tree(c), &changes);
    }
}

#[test]
fn an_appended_message_is_one_addition() {
    let message = |i: usize| json!({"role": "user", "content": format!("message {i}")});
    let chat = |n: usize| json!({"messages": (0..n).map(message).collect::<Vec<_>>(), "n": 1});
    assert_eq!(
        shown(chat(88), chat(89)),
        json!([{"op": "add", "path": "/messages/88", "new": message(88)}])
    );
}

#[test]
fn what_follows_an_insertion_or_a_deletion_is_not_changed() {
    assert_eq!(
        shown(json!([1, 2, 3, 4, 5]), json!([1, 9, 2, 3, 5])),
        json!([
            {"op": "remove", "path": "/3", "old": 4},
            {"op": "add", "path": "/1", "new": 9},
        ])
    );
}

#[test]
fn a_moved_item_is_a_move_even_when_it_changed() {
    let item = |id: i64, note: &str| json!({"id": id, "note": note, "text": "a rather long text"});
    let old = json!([item(1, "a"), item(2, "b"), item(3, "c"), item(4, "d")]);
    let new = json!([item(4, "d"), item(1, "a"), item(2, "x"), item(3, "c")]);
    assert_eq!(
        shown(old, new),
        json!([
            {"op": "move", "from": "/3", "path": "/0"},
            {"op": "replace", "path": "/2/note", "old": "b", "new": "x"},
        ])
    );
}

#[test]
fn numbers_and_types_are_told_apart() {
    assert_eq!(
        shown(
            json!({"a": 1, "b": null, "c": "1"}),
            json!({"a": 1.0, "b": false, "c": 1})
        ),
        json!([
            {"op": "replace", "path": "/a", "old": 1, "new": 1.0},
            {"op": "replace", "path": "/b", "old": null, "new": false},
            {"op": "replace", "path": "/c", "old": "1", "new": 1},
        ])
    );
}

#[test]
fn a_change_inside_a_string_names_its_words() {
    assert_eq!(
        shown(
            json!({"note": "Charge after manual review"}),
            json!({"note": "Charge after refund 43 cleared"}),
        ),
        json!([{"op": "text", "path": "/note", "edits": [
            {"at": 13, "len": 13, "old": "manual review", "new": "refund 43 cleared"},
        ]}])
    );
}

#[test]
fn a_renamed_key_is_a_move() {
    let plan = json!({"steps": ["gather", "reconcile"]});
    assert_eq!(
        shown(json!({"draft": plan}), json!({"plan": plan})),
        json!([{"op": "move", "from": "/draft", "path": "/plan"}])
    );
}

#[test]
fn keys_that_look_like_pointers_are_escaped() {
    assert_eq!(
        shown(json!({"a/b~c": 1, "": 1}), json!({"a/b~c": 2, "": 2})),
        json!([
            {"op": "replace", "path": "/", "old": 1, "new": 2},
            {"op": "replace", "path": "/a~1b~0c", "old": 1, "new": 2},
        ])
    );
}

#[test]
fn a_change_that_does_not_fit_is_refused_with_its_place() {
    let state = tree(json!({"text": "short", "list": [1]}));
    for bad in [
        json!({"op": "text", "path": "/text", "edits": [{"at": 4, "len": 2, "new": ""}]}),
        json!({"op": "text", "path": "/list", "edits": []}),
        json!({"op": "remove", "path": "/list/1"}),
        json!({"op": "move", "from": "/list", "path": "/list/0"}),
        json!({"op": "add", "path": "/list/01", "new": 1}),
    ] {
        let change: Change = serde_json::from_value(bad.clone()).unwrap();
        let refused = apply(&state, std::slice::from_ref(&change)).expect_err(&bad.to_string());
        assert_eq!(refused.path, change.path(), "{bad}");
    }
    let unknown = json!({"op": "add", "path": "/x", "new": 1, "why": 2});
    assert!(serde_json::from_value::<Change>(unknown).is_err());
}
