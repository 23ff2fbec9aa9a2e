//! States as agents have them, and lists too long to compare every item with every other.

use super::*;

fn weight(changes: &[Change]) -> usize {
    serde_json::to_vec(&forward(changes.to_vec()))
        .unwrap()
        .len()
}

#[test]
fn a_growing_chat_costs_what_was_said() {
    let mut messages = Vec::new();
    let mut before = tree(json!({"messages": [], "usage": 0}));
    for i in 0..60 {
        messages
            .push(json!({"role": "assistant", "content": format!("Zürich → {i} 🦀").repeat(20)}));
        let now = tree(json!({"messages": messages, "usage": i}));
        let changes = holds(&before, &now);
        assert!(weight(&changes) < 700, "{changes:?}");
        before = now;
    }
}

#[test]
fn an_edited_plan_shows_what_was_edited() {
    let step = |id: usize, state: &str| json!({"id": format!("s{id}"), "do": format!("look at the books of month {id}"), "state": state});
    let old: Vec<Value> = (0..30).map(|i| step(i, "open")).collect();
    let mut new = old.clone();
    new[4] = step(4, "done");
    new.remove(9);
    new.insert(12, step(99, "open"));
    let last = new.pop().unwrap();
    new.insert(0, last);
    let changes = holds(&tree(json!({"plan": old})), &tree(json!({"plan": new})));
    assert_eq!(changes.len(), 4, "{changes:#?}");
}

#[test]
fn keys_that_look_like_places_in_a_list_are_keys() {
    let of = |numbers: std::ops::Range<usize>| {
        let entry = |i: usize| (i.to_string(), json!(format!("invoice number {i}")));
        tree(Value::Object(numbers.map(entry).collect()))
    };
    let changes = holds(&of(0..200), &of(40..200));
    assert_eq!(changes.len(), 40);
}

#[test]
fn a_value_that_is_moved_to_where_it_is_stays() {
    let state = tree(json!({"a": 1}));
    for path in ["", "/a"] {
        let (from, path) = (path.to_owned(), path.to_owned());
        let made = apply(&state, &[Change::Move { from, path }]).unwrap();
        assert_exact(&made, &state);
    }
}

#[test]
fn a_long_text_that_was_edited_is_a_few_pieces() {
    let words = |n: usize| {
        (0..n)
            .map(|i| format!("word{} ", i % 97))
            .collect::<String>()
    };
    let old = words(50_000);
    let mut new = old.clone();
    new.replace_range(100_000..100_005, "another");
    new.push_str("and an end");
    for (old, new) in [
        (old.clone(), new.clone()),
        (old.replace("96 ", "96\n"), new.replace("96 ", "96\n")),
    ] {
        let changes = holds(&tree(json!({"doc": old})), &tree(json!({"doc": new})));
        assert!(weight(&changes) < 200, "{}", weight(&changes));
    }
}

#[test]
fn a_text_written_anew_is_one_change_and_an_edited_one_is_not() {
    let text = |seed: usize| {
        let entry = |i: usize| format!("{} {} ", ["paid", "open", "due"][(i + seed) % 3], i * seed);
        (0..100).map(entry).collect::<String>()
    };
    let change = |new: String| holds(&tree(json!(text(7))), &tree(json!(new)));
    assert!(matches!(
        change(text(1_001)).as_slice(),
        [Change::Replace { .. }]
    ));
    let edited = change(text(7).replace("due", "settled"));
    assert!(matches!(edited.as_slice(), [Change::Text { edits, .. }] if edits.len() == 33));
}

#[test]
fn a_long_list_is_compared_in_bounded_work() {
    long_list(10_000);
}

#[test]
#[ignore = "long: cargo xtask torture"]
fn a_list_of_a_hundred_thousand_items_is_compared_in_bounded_work() {
    long_list(100_000);
}

fn long_list(n: usize) {
    let item = |i: usize| json!({"id": i, "text": format!("item {i}")});
    let plain: Vec<Value> = (0..n).map(item).collect();
    let old = tree(Value::from(plain.clone()));
    let mut edited = plain.clone();
    edited.remove(10);
    edited.insert(n * 7 / 10, json!({"id": "new"}));
    edited[n * 9 / 10] = json!({"id": n * 9 / 10, "text": "changed"});
    edited.swap(n / 5, n / 3);
    let changes = diff(&old, &tree(Value::from(edited.clone())));
    assert!(changes.len() <= 6, "{changes:?}");
    assert_exact(&apply(&old, &changes).unwrap(), &tree(Value::from(edited)));
    let reversed = tree(plain.iter().rev().cloned().collect());
    let repeated = tree((0..n).map(|i| Value::from(i * 7919 % 10)).collect());
    let other = tree((0..n).map(|i| Value::from(i * i % 10)).collect());
    let strange = tree((0..n).map(|i| json!([i, "x"])).collect());
    for (a, b) in [
        (&old, &reversed),
        (&repeated, &other),
        (&old, &strange),
        (&old, &tree(json!([]))),
    ] {
        let changes = diff(a, b);
        assert_exact(&apply(a, &changes).unwrap(), b);
        assert_exact(&apply(b, &inverse(&changes).unwrap()).unwrap(), a);
    }
}

#[test]
fn nested_lists_that_all_differ_stay_in_bounded_work() {
    fn nest(depth: usize, leaf: usize) -> Value {
        match depth {
            0 => Value::from(leaf),
            _ => (0..10).map(|i| nest(depth - 1, leaf * 10 + i)).collect(),
        }
    }
    let (a, b) = (tree(nest(4, 1)), tree(nest(4, 2)));
    let changes = diff(&a, &b);
    assert_exact(&apply(&a, &changes).unwrap(), &b);
}
