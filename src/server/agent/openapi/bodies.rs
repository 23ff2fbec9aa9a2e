//! Bodies whose fields depend on each other: each way to fill them in is a schema of its own.

use serde_json::{Value, json};

use super::narrow;
use crate::domain::{
    nouns::step::Kind,
    rules::decision::DecisionKind,
    wire::protocol::{
        decision_fields::{CHOICES, NEEDED_BY, TAKEN_BY},
        limits::PATCH_MAX,
    },
};

/// The object without some of its fields, and with more that must be there.
fn variant(object: &Value, without: &[&str], required: &[&str]) -> Value {
    let mut object = object.clone();
    if let Some(fields) = object["properties"].as_object_mut() {
        fields.retain(|field, _| !without.contains(&field.as_str()));
    }
    let mut needed: Vec<Value> = object["required"].as_array().cloned().unwrap_or_default();
    needed.extend(required.iter().map(|field| json!(field)));
    object["required"] = needed.into();
    object
}

fn any_of(object: &Value, variants: Vec<Value>) -> Value {
    json!({"description": object["description"], "anyOf": variants})
}

fn set(mut object: Value, field: &str, schema: Value) -> Value {
    object["properties"][field] = schema;
    object
}

fn one_word(word: &str) -> Value {
    json!({"type": "string", "enum": [word]})
}

/// JSON pointers, and nothing beside them.
pub fn operation(op: &Value) -> Value {
    let mut op = op.clone();
    for kind in op["oneOf"].as_array_mut().into_iter().flatten() {
        kind["additionalProperties"] = json!(false);
        for field in ["path", "from"] {
            if kind["properties"][field].is_object() {
                kind["properties"][field]["pattern"] = json!("^(/([^~/]|~[01])*)*$");
            }
        }
    }
    op
}

/// A gate has its question, and nothing else has one.
pub fn step_to_begin(step: &Value) -> Value {
    let kinds = Kind::ALL.iter().map(|kind| kind.as_str());
    let others: Vec<_> = kinds.filter(|kind| *kind != "gate").collect();
    let gate = variant(step, &[], &["kind", "gate"]);
    let gate = set(gate, "kind", one_word("gate"));
    let gate = set(gate, "gate", json!({"$ref": "#/components/schemas/Gate"}));
    let other = set(
        variant(step, &[], &[]),
        "kind",
        json!({"type": "string", "enum": others, "default": "code"}),
    );
    any_of(
        step,
        vec![set(other, "gate", json!({"type": "null"})), gate],
    )
}

/// A new state whole, or as a patch.
pub fn commit(body: &Value) -> Value {
    let (whole, patched) = (
        variant(body, &["patch"], &[]),
        variant(body, &["state"], &[]),
    );
    any_of(body, vec![whole, patched])
}

/// A state or a patch, and one of them at least.
pub fn new_state(body: &Value) -> Value {
    let whole = variant(body, &["patch"], &["state"]);
    let mut patched = variant(body, &["state"], &["patch"]);
    never_null(&mut patched["properties"]["patch"]);
    any_of(body, vec![whole, patched])
}

/// A run that is given back sleeps or is paused, not both.
pub fn release(body: &Value) -> Value {
    let awake = json!({"type": "boolean", "enum": [false]});
    let asleep = set(body.clone(), "pause", awake);
    let paused = set(body.clone(), "after_ms", json!({"type": "null"}));
    any_of(body, vec![asleep, paused])
}

/// Each kind of decision with the fields that it takes.
pub fn decisions(body: &Value) -> Value {
    of_kinds(body, DecisionKind::ALL, true)
}

/// The same for what a resume settles on its way; the resume itself says which version it is based on.
pub fn choices(body: &Value) -> Value {
    of_kinds(body, CHOICES, false)
}

fn of_kinds(body: &Value, kinds: &[DecisionKind], versioned: bool) -> Value {
    let each = kinds
        .iter()
        .flat_map(|kind| decision(body, *kind, versioned && kind.needs_version()));
    any_of(body, each.collect())
}

fn decision(body: &Value, kind: DecisionKind, versioned: bool) -> Vec<Value> {
    let of = |rows: &'static [(&str, &[DecisionKind])], holds: bool| {
        let rows = rows
            .iter()
            .filter(move |(_, kinds)| kinds.contains(&kind) == holds);
        rows.map(|(field, _)| *field).collect::<Vec<_>>()
    };
    let (without, mut needed) = (of(TAKEN_BY, false), of(NEEDED_BY, true));
    if versioned {
        needed.push("if_version");
    }
    needed.retain(|field| {
        body["required"]
            .as_array()
            .is_none_or(|it| !it.contains(&json!(field)))
    });
    let mut one = set(
        variant(body, &without, &needed),
        "kind",
        one_word(kind.as_str()),
    );
    for field in needed {
        never_null(&mut one["properties"][field]);
    }
    if kind == DecisionKind::Note {
        narrow(
            &mut one["properties"]["text"],
            json!({"minLength": 1, "pattern": "[!-~]"}),
        );
    }
    if without.contains(&"state") {
        return vec![one];
    }
    let (whole, patched) = (
        variant(&one, &["patch"], &[]),
        variant(&one, &["state"], &[]),
    );
    match kind {
        DecisionKind::Edit => {
            let operations = json!({
                "type": "array", "items": {"$ref": "#/components/schemas/Op"}, "maxItems": PATCH_MAX,
            });
            let patched = set(variant(&patched, &[], &["patch"]), "patch", operations);
            vec![variant(&whole, &[], &["state"]), patched]
        }
        _ => vec![whole, patched],
    }
}

/// What must be there may not be null, except what is any JSON.
fn never_null(schema: &mut Value) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|it| it != "null");
    }
    if let Some(Value::Array(ways)) = schema.get_mut("oneOf") {
        ways.retain(|way| way["type"] != "null");
    }
}
