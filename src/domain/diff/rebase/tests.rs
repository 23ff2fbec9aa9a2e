use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Conflict, place_now, rebase};
use crate::domain::tree::Tree;

fn chosen(base: &Value, mine: &Value, theirs: &Value, at: &[&str]) -> (Value, Vec<Conflict>) {
    let [base, mine, theirs] = [base, mine, theirs].map(|it| Tree::from(it.clone()));
    let at: BTreeSet<String> = at.iter().map(|it| (*it).to_owned()).collect();
    let made = rebase(&base, &mine, &theirs, &at);
    (made.state.to_value(), made.conflicts)
}

/// Both changes are kept and nothing is in conflict.
fn both(base: Value, mine: Value, theirs: Value) -> Value {
    let (state, conflicts) = chosen(&base, &mine, &theirs, &[]);
    assert!(conflicts.is_empty(), "{conflicts:?}");
    state
}

/// Theirs is kept unless mine is chosen; answers the places, and what stands there of mine and of theirs.
fn conflicts(base: Value, mine: Value, theirs: Value) -> Vec<(String, Value, Value)> {
    let (state, found) = chosen(&base, &mine, &theirs, &[]);
    assert_eq!(state, theirs, "nothing of theirs is overwritten");
    let value = |it: &Option<Tree>| it.as_ref().map_or(json!("gone"), Tree::to_value);
    let one = |it: &Conflict| (it.path.clone(), value(&it.mine), value(&it.theirs));
    found.iter().map(one).collect()
}

#[test]
fn what_each_changed_elsewhere_is_kept() {
    let base = json!({"note": "as it was", "total": 8, "who": {"name": "Ana"}});
    let mine = json!({"note": "by hand", "total": 8, "who": {"name": "Ana", "mail": "a@b"}});
    let theirs = json!({"note": "as it was", "total": 100, "who": {}, "new": true});
    assert_eq!(
        both(base, mine, theirs),
        json!({"note": "by hand", "total": 100, "who": {"mail": "a@b"}, "new": true})
    );
    let added = both(json!({}), json!({"a": 1}), json!({"b": 2}));
    assert_eq!(added, json!({"a": 1, "b": 2}));
}

#[test]
fn the_same_value_given_by_both_is_no_conflict() {
    let base = json!({"total": 8, "old": 1, "lines": [1]});
    let same = json!({"total": 9, "lines": [1, 2]});
    assert_eq!(both(base.clone(), same.clone(), same.clone()), same);
    // An item that both added comes once, beside what only one of them did.
    let more = json!({"total": 9, "lines": [0, 1, 2], "note": "x"});
    assert_eq!(both(base, same, more.clone()), more);
}

#[test]
fn one_place_with_two_values_is_shown_and_theirs_is_kept_until_mine_is_chosen() {
    let base = json!({"note": "a", "total": 8, "a/b": 1});
    let mine = json!({"note": "mine", "total": 9, "a/b": 2});
    let theirs = json!({"note": "theirs", "total": 8, "a/b": 3});
    let (state, found) = chosen(&base, &mine, &theirs, &[]);
    assert_eq!(state, json!({"note": "theirs", "total": 9, "a/b": 3}));
    let places: Vec<_> = found.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(places, ["/a~1b", "/note"]);
    let (state, again) = chosen(&base, &mine, &theirs, &["/note"]);
    assert_eq!(state, json!({"note": "mine", "total": 9, "a/b": 3}));
    assert_eq!(again, found, "a choice changes no conflict");
    assert_eq!(
        conflicts(json!(1), json!(2), json!([3])),
        [(String::new(), json!(2), json!([3]))],
        "the whole value"
    );
}

#[test]
fn an_item_is_found_where_the_list_has_shifted() {
    let item = |id: &str, amount: i64| json!({"id": id, "amount": amount, "currency": "EUR"});
    let base = json!({"lines": [item("a", 1), item("b", 2), item("c", 3)]});
    let mine = json!({"lines": [item("a", 1), item("b", 20), item("c", 3)]});
    let theirs = json!({"lines": [item("new", 9), item("a", 1), item("b", 2)]});
    assert_eq!(
        both(base.clone(), mine.clone(), theirs.clone()),
        json!({"lines": [item("new", 9), item("a", 1), item("b", 20)]})
    );
    let theirs = json!({"lines": [item("new", 9), item("a", 1), item("b", 5), item("c", 3)]});
    assert_eq!(
        conflicts(base.clone(), mine.clone(), theirs.clone()),
        [("/lines/2/amount".to_owned(), json!(20), json!(5))],
        "by its place in their state"
    );
    let (state, _) = chosen(&base, &mine, &theirs, &["/lines/1/amount"]);
    assert_eq!(state["lines"][2], item("b", 20));
}

#[test]
fn items_that_both_added_at_one_place_are_all_kept_unless_they_may_be_the_same_ones() {
    let base = json!([1]);
    assert_eq!(
        both(base.clone(), json!([1, 2]), json!([1, 3])),
        json!([1, 3, 2])
    );
    assert_eq!(
        both(base.clone(), json!([0, 1]), json!([1, 3])),
        json!([0, 1, 3])
    );
    assert_eq!(conflicts(base, json!([1, 2, 3]), json!([1, 2, 4])).len(), 1);
}

#[test]
fn what_one_removed_and_the_other_changed_is_a_conflict() {
    let base = json!({"who": {"name": "Ana", "city": "Bonn"}, "x": 1});
    let renamed = json!({"who": {"name": "Bea", "city": "Bonn"}, "x": 1});
    assert_eq!(
        conflicts(base.clone(), renamed.clone(), json!({"x": 1})),
        [(
            "/who".to_owned(),
            json!({"name": "Bea", "city": "Bonn"}),
            json!("gone")
        )],
        "what I changed lies in something that they removed"
    );
    let (state, _) = chosen(&base, &renamed, &json!({"x": 1}), &["/who"]);
    assert_eq!(state, renamed, "it comes back as I chose");
    assert_eq!(
        conflicts(base, json!({"x": 1}), renamed),
        [(
            "/who".to_owned(),
            json!("gone"),
            json!({"name": "Bea", "city": "Bonn"})
        )]
    );
    let list = json!([{"id": "a", "n": 1}, {"id": "b", "n": 2}]);
    let changed = json!([{"id": "a", "n": 1}, {"id": "b", "n": 3}]);
    let removed = json!([{"id": "a", "n": 1}]);
    assert_eq!(conflicts(list, changed, removed).len(), 1);
}

#[test]
fn another_item_in_the_place_of_mine_is_not_mine() {
    let item = |id: &str, amount: i64| json!({"id": id, "amount": amount, "currency": "EUR"});
    let base = json!({"lines": [item("a", 1), item("b", 2)]});
    let mine = json!({"lines": [item("a", 1), item("b", 20)]});
    let theirs = json!({"lines": [item("a", 1), item("x", 2)]});
    assert_eq!(
        conflicts(base.clone(), mine, theirs.clone()),
        [("/lines/1".to_owned(), item("b", 20), json!("gone"))]
    );
    let [base, theirs] = [base, theirs].map(Tree::from);
    assert_eq!(place_now(&base, &theirs, "/lines/1/amount"), None);
}

#[test]
fn an_item_that_one_moved_and_the_other_changed_is_neither_lost_nor_doubled() {
    let line = |n: i64, text: &str| json!({"id": n, "text": format!("{text}: long enough to be known again")});
    let base = json!([line(1, "a"), line(2, "b"), line(3, "c"), line(4, "d")]);
    let moved = json!([line(4, "d"), line(1, "a"), line(2, "b"), line(3, "c")]);
    let mut other = base.as_array().unwrap().clone();
    other[0] = line(1, "by hand");
    assert_eq!(
        both(base.clone(), other.into(), moved.clone()),
        json!([line(4, "d"), line(1, "by hand"), line(2, "b"), line(3, "c")])
    );
    let mut same = base.as_array().unwrap().clone();
    same[3] = line(4, "by hand");
    let found = conflicts(base, same.into(), moved);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].0, "", "the whole list is chosen");
}

#[test]
fn a_place_is_followed_to_where_it_is_now() {
    let item = |id: &str| json!({"id": id, "amount": 1, "currency": "EUR"});
    let was = Tree::from(json!({"lines": [item("a"), item("b")], "who": {"name": "Ana"}}));
    let is = Tree::from(json!({"lines": [item("new"), item("a"), item("b")], "who": 1}));
    let now = |path: &str| place_now(&was, &is, path);
    assert_eq!(now("/lines/1/amount").unwrap(), "/lines/2/amount");
    assert_eq!(now("/who").unwrap(), "/who");
    assert_eq!(now("").unwrap(), "");
    assert_eq!(now("/who/name"), None);
    let gone = Tree::from(json!({"lines": [item("b")]}));
    assert_eq!(place_now(&was, &gone, "/lines/0"), None);
    assert_eq!(place_now(&was, &gone, "/lines/1").unwrap(), "/lines/0");
}

fn state() -> impl Strategy<Value = Value> {
    let scalar = (0..4i64).prop_map(Value::from);
    scalar.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-c]", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn who_changed_nothing_decides_nothing(a in state(), b in state()) {
        prop_assert_eq!(both(a.clone(), a.clone(), b.clone()), b.clone());
        prop_assert_eq!(both(a.clone(), b.clone(), a), b);
    }

    #[test]
    fn no_two_conflicts_share_a_place(a in state(), b in state(), c in state()) {
        let (_, found) = chosen(&a, &b, &c, &[]);
        let places: BTreeSet<_> = found.iter().map(|it| &it.at).collect();
        prop_assert_eq!(places.len(), found.len());
    }
}
