use super::*;
use crate::domain::{nouns::ordered_json::OrderedJson, views::form};
use serde_json::json;

fn form(schema: &str) -> Field {
    form::of(&serde_json::from_str::<OrderedJson>(schema).unwrap())
}

const REFUND: &str = r#"{"type": "object", "required": ["choice", "cents", "mail"], "properties": {
    "choice": {"enum": ["Refund", "Decline"]},
    "cents": {"type": "integer", "minimum": 1, "maximum": 500, "title": "Amount in cents"},
    "mail": {"type": "string", "format": "email"},
    "on": {"type": "string", "format": "date"},
    "at": {"type": "string", "format": "date-time", "default": "2026-11-18T10:00:00+01:00"},
    "note": {"type": "string", "maxLength": 5},
    "notify": {"type": "boolean", "default": true},
    "address": {"type": "object", "required": ["street"], "properties": {"street": {"type": "string"}}},
    "lines": {"type": "array", "maxItems": 2, "uniqueItems": true, "items": {"type": "number", "title": "Price"}},
    "pay": {"oneOf": [
        {"title": "Card", "properties": {"kind": {"const": "card"}, "last4": {"type": "string", "maxLength": 4}}, "required": ["kind", "last4"]},
        {"title": "Transfer", "type": "string"}]},
    "rest": {}}}"#;

#[test]
fn what_is_filled_in_becomes_a_value() {
    let form = form(REFUND);
    let mut filled = Filled::of(&form);
    let whys = |filled: &Filled| {
        let wrong = value(&form, filled).unwrap_err();
        wrong.into_iter().map(|it| it.what).collect::<Vec<_>>()
    };
    let missing = [
        "choice is missing: choose one",
        "Amount in cents is missing",
        "mail is missing",
    ];
    assert_eq!(whys(&filled), missing, "in the order of the fields");
    filled.set("0", "0");
    filled.set("1", "501");
    filled.set("2", "somebody");
    filled.set("5", "too long");
    let wrong = [
        "Amount in cents must be 1 to 500",
        "mail must be an e-mail address, such as name@example.com",
        "note must have at most 5 characters: it has 8",
    ];
    assert_eq!(whys(&filled), wrong);
    filled.set("1", "a lot");
    assert_eq!(whys(&filled)[0], "Amount in cents must be a whole number");
    filled.set("1", "120");
    filled.set("2", "a@b.example");
    filled.set("5", "");
    let little = json!({"choice": "Refund", "cents": 120, "mail": "a@b.example", "at": "2026-11-18T09:00:00Z", "notify": true});
    assert_eq!(
        value(&form, &filled).unwrap(),
        little,
        "what is left empty is left out"
    );
    filled.set("3", "2026-02-30");
    assert_eq!(whys(&filled), ["on must be a date, such as 2026-11-18"]);
    filled.set("3", "2026-02-28");
    filled.set("4", "2026-11-18T09:30");
    filled.set("7.0", "High Street 1");
    filled.set("10", "{\"x\": [1,");
    assert!(whys(&filled)[0].starts_with("rest is not valid JSON in line 1"));
    filled.set("10", "{\"x\": 1}");
    let more = json!({"choice": "Refund", "cents": 120, "mail": "a@b.example", "on": "2026-02-28", "at": "2026-11-18T09:30:00Z",
        "notify": true, "address": {"street": "High Street 1"}, "rest": {"x": 1}});
    assert_eq!(value(&form, &filled).unwrap(), more);
}

#[test]
fn items_come_and_go_and_stay_in_order() {
    let form = form(
        r#"{"type": "array", "minItems": 1, "maxItems": 2, "uniqueItems": true, "items": {"type": "number", "title": "Price"}}"#,
    );
    let mut filled = Filled::of(&form);
    assert_eq!(
        filled.items("").len(),
        1,
        "a list begins with what it must have"
    );
    let FieldKind::List(item) = &form.kind else {
        panic!("{form:?}")
    };
    let (second, third) = (filled.add("", item), filled.add("", item));
    filled.set("0", "1.5");
    filled.set(&second.to_string(), "2");
    filled.set(&third.to_string(), "3");
    let wrong = value(&form, &filled).unwrap_err();
    assert_eq!(wrong[0].what, "Answer must have 1 to 2 items: it has 3");
    filled.remove("", second);
    assert_eq!(value(&form, &filled).unwrap(), json!([1.5, 3]));
    filled.set(&third.to_string(), "1.5");
    let twice = value(&form, &filled).unwrap_err();
    assert_eq!(twice[0].place, third.to_string());
}

#[test]
fn what_was_turned_off_or_cleared_is_an_answer_too() {
    let form = form(
        r#"{"properties": {"how": {"type": "object", "properties": {
            "notify": {"type": "boolean", "default": true}, "tone": {"type": "string", "default": "formal"}}}}}"#,
    );
    let untouched = value(&form, &Filled::of(&form)).unwrap();
    assert_eq!(untouched, json!({}), "the agent's own defaults hold");
    let mut filled = Filled::of(&form);
    filled.set("0.0", "false");
    let said = json!({"how": {"notify": false, "tone": "formal"}});
    assert_eq!(value(&form, &filled).unwrap(), said);
    let mut filled = Filled::of(&form);
    filled.set("0.1", "");
    let said = json!({"how": {"notify": true}});
    assert_eq!(value(&form, &filled).unwrap(), said);
}

#[test]
fn a_box_that_nobody_touched_is_left_out_unless_it_must_be_there_or_has_a_default() {
    let form = form(
        r#"{"required": ["must"], "properties": {
            "may": {"type": "boolean"}, "must": {"type": "boolean"},
            "off": {"type": "boolean", "default": false}, "on": {"type": "boolean", "default": true}}}"#,
    );
    let mut filled = Filled::of(&form);
    let untouched = json!({"must": false, "off": false, "on": true});
    assert_eq!(value(&form, &filled).unwrap(), untouched);
    filled.set("0", "true");
    assert_eq!(value(&form, &filled).unwrap()["may"], true);
    filled.set("0", "false");
    assert_eq!(value(&form, &filled).unwrap()["may"], false, "turned off");
}

#[test]
fn each_of_several_forms_begins_with_its_own_defaults() {
    let form = form(
        r#"{"required": ["pay"], "properties": {"pay": {"default": {"kind": "card"}, "oneOf": [
            {"title": "Card", "required": ["kind", "last4"], "properties": {"kind": {"const": "card"}, "last4": {"type": "string", "default": "0000"}}},
            {"title": "Transfer", "type": "string"}]}}}"#,
    );
    let mut filled = Filled::of(&form);
    filled.set("0", "0");
    let card = json!({"pay": {"kind": "card", "last4": "0000"}});
    assert_eq!(value(&form, &filled).unwrap(), card);
}

#[test]
fn a_chosen_form_asks_only_for_its_own_fields() {
    let form = form(REFUND);
    let mut filled = Filled::of(&form);
    filled.set("0", "1");
    filled.set("1", "1");
    filled.set("2", "a@b");
    filled.set("9", "0");
    let wrong = value(&form, &filled).unwrap_err();
    assert_eq!(
        (wrong[0].place.as_str(), wrong[0].what.as_str()),
        ("9.0.1", "last4 is missing")
    );
    filled.set("9.0.1", "1234");
    assert_eq!(
        value(&form, &filled).unwrap()["pay"],
        json!({"kind": "card", "last4": "1234"})
    );
    filled.set("9", "1");
    filled.set("9.1", "DE02");
    assert_eq!(value(&form, &filled).unwrap()["pay"], "DE02");
}

#[test]
fn what_may_be_null_is_null_when_it_is_left_empty_but_required() {
    let form = form(
        r#"{"required": ["a", "b"], "properties": {
        "a": {"type": ["integer", "null"]}, "b": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "c": {"type": ["string", "null"]}}}"#,
    );
    let made = value(&form, &Filled::of(&form)).unwrap();
    assert_eq!(made, json!({"a": null, "b": null}));
}

#[test]
fn a_refusal_is_placed_at_its_field() {
    let form = form(REFUND);
    let mut filled = Filled::of(&form);
    let FieldKind::Group(members) = &form.kind else {
        panic!("{form:?}")
    };
    let FieldKind::List(item) = &members[8].kind else {
        panic!("{form:?}")
    };
    let first = filled.add("8", item);
    let second = filled.add("8", item);
    filled.remove("8", first);
    filled.set("9", "0");
    let at = |pointer: &str| {
        let error = json!({"at": pointer, "why": "no"});
        let problem = Problem::invalid("result", "no").with("errors", [error]);
        placed(&problem, &form, &filled)[0].place.clone()
    };
    assert_eq!(at("/cents"), "1");
    assert_eq!(at("/address/street"), "7.0");
    assert_eq!(at("/lines/0"), format!("8.{second}"));
    assert_eq!(at("/pay/last4"), "9.0.1");
    assert_eq!(at("/rest/deep/1"), "10");
    assert_eq!(
        at("/unknown"),
        "",
        "of the whole form where there is no field"
    );
    assert!(placed(&Problem::invalid("result", "no"), &form, &filled).is_empty());
}

#[test]
fn a_value_without_members_is_one_field() {
    let form = form(r#"{"type": "number"}"#);
    let mut filled = Filled::of(&form);
    assert_eq!(
        value(&form, &filled).unwrap_err()[0].what,
        "Answer is missing"
    );
    filled.set("", "1.5");
    assert_eq!(value(&form, &filled), Ok(json!(1.5)));
}
