//! What `/v1/openapi.json` says beyond the types: the refusals that every call shares, and the limits that a request is checked by.
//!
//! The limits come from where they are checked (`wire::protocol::limits`, `decision_fields`). `cargo xtask test` sends requests
//! made from the document, right and wrong ones, and fails where document and server differ.

use serde_json::{Map, Value, json};

use crate::domain::{
    nouns::ids::{KEY_MAX, RUN_ID_MAX},
    rules::decision::DecisionKind,
    wire::protocol::{
        decision_fields::{CHOICES, NEEDED_BY, TAKEN_BY},
        limits::*,
    },
};

const PROBLEM: &str = "application/problem+json";
/// Calls whose repeats are recognised by a header.
const REPEATABLE: &[&str] = &[
    "/v1/runs",
    "/v1/runs/{id}/lease",
    "/v1/claims",
    "/v1/runs/{id}/steps/{seq}/progress",
    "/v1/runs/{id}/decisions",
];

/// The document that the types give, completed.
pub fn complete(mut document: Value) -> Value {
    let schemas = &mut document["components"]["schemas"];
    for (schema, field, limit) in limits() {
        narrow(&mut schemas[schema]["properties"][field], limit);
    }
    schemas["RunId"] = run_id();
    schemas["StepKey"] = step_key();
    schemas["Op"] = operation(&schemas["Op"]);
    for body in ["BeginStep", "NextStep"] {
        schemas[body] = step_to_begin(&schemas[body]);
    }
    for body in ["CommitStep", "Choice"] {
        schemas[body] = state_or_patch(&schemas[body]);
    }
    schemas["Decide"] = decisions(&schemas["Decide"]);
    bound_integers(&mut document);
    let paths = document["paths"].as_object_mut();
    for (path, item) in paths.into_iter().flatten() {
        for (method, call) in item.as_object_mut().into_iter().flatten() {
            describe(path, method, call);
        }
    }
    document
}

fn text(min: usize, max: usize) -> Value {
    json!({"minLength": min, "maxLength": max})
}

fn range<N: serde::Serialize>((min, max): (N, N)) -> Value {
    json!({"minimum": min, "maximum": max})
}

fn at_most(max: usize) -> Value {
    json!({"maxItems": max})
}

/// Schema, field, what it is held to.
fn limits() -> Vec<(&'static str, &'static str, Value)> {
    let (name, short) = (text(1, NAME_MAX), text(0, NAME_MAX));
    let schema = json!({"type": ["object", "null"]});
    let labels = json!({
        "maxProperties": LABELS_MAX,
        "propertyNames": {"type": "string", "minLength": 1, "maxLength": LABEL_KEY_MAX},
        "additionalProperties": {"type": "string", "maxLength": LABEL_MAX},
    });
    let agents = json!({
        "maxItems": AGENTS_MAX,
        "items": {"type": "string", "minLength": 1, "maxLength": NAME_MAX},
    });
    let url = json!({"pattern": "^https?://", "maxLength": URL_MAX});
    let mut limits = vec![
        ("CreateRun", "agent", name.clone()),
        ("CreateRun", "title", text(0, TITLE_MAX)),
        ("CreateRun", "state_schema", schema.clone()),
        ("CreateRun", "labels", labels),
        ("CreateRun", "links", at_most(LINKS_MAX)),
        ("CreateRun", "plan", at_most(PLAN_MAX)),
        ("CreateRun", "max_recoveries", range(RECOVERIES)),
        ("Parent", "seq", json!({"minimum": 1})),
        ("PlannedStep", "name", name.clone()),
        ("PlannedStep", "tool", short.clone()),
        ("LeaseRun", "state_schema", schema.clone()),
        ("ClaimRun", "agents", agents),
        ("ClaimRun", "wait_ms", range(WAIT_MS)),
        ("Heartbeat", "ttl_ms", range(TTL_MS)),
        ("Effect", "target", text(1, TARGET_MAX)),
        ("Effect", "description", text(0, TEXT_MAX)),
        ("Effect", "dedupe_ms", range(DEDUPE_MS)),
        ("RetryRule", "max_attempts", range(ATTEMPTS)),
        ("RetryRule", "backoff_ms", range(BACKOFF_MS)),
        ("Gate", "title", text(1, QUESTION_MAX)),
        ("Gate", "choices", at_most(GATE_CHOICES_MAX)),
        ("Gate", "schema", schema),
        ("Reference", "uri", text(1, URL_MAX)),
        ("Reference", "hash", name.clone()),
        ("Link", "label", name.clone()),
        ("Link", "url", url),
        ("Usage", "input_tokens", range(TOKENS)),
        ("Usage", "output_tokens", range(TOKENS)),
        ("Usage", "cost_usd", range(COST_USD)),
        ("AgentError", "kind", name.clone()),
        ("AgentError", "message", text(0, ERROR_MESSAGE_MAX)),
        ("AgentError", "stack", text(0, ERROR_STACK_MAX)),
        ("NewLogLine", "level", text(1, LOG_LEVEL_MAX)),
        ("NewLogLine", "message", text(0, TEXT_MAX)),
        ("Progress", "log", at_most(LOG_LINES_MAX)),
        ("ReleaseRun", "after_ms", range(SLEEP_MS)),
        ("CommitStep", "base", json!({"minimum": 0})),
        ("Decide", "reason", text(0, TEXT_MAX)),
        ("Decide", "text", text(0, TEXT_MAX)),
        ("Decide", "again", at_most(CHOICES_MAX)),
        ("Decide", "choices", at_most(CHOICES_MAX)),
    ];
    for body in ["LeaseRun", "ClaimRun"] {
        limits.push((body, "worker", name.clone()));
        limits.push((body, "ttl_ms", range(TTL_MS)));
    }
    for body in ["CreateRun", "LeaseRun", "ClaimRun"] {
        limits.push((body, "version", short.clone()));
        limits.push((body, "model", short.clone()));
    }
    for body in ["BeginStep", "NextStep"] {
        limits.push((body, "name", name.clone()));
        limits.push((body, "tool", short.clone()));
        limits.push((body, "refs", at_most(REFS_MAX)));
        limits.push((body, "links", at_most(LINKS_MAX)));
    }
    for body in ["CommitStep", "Choice", "Decide"] {
        limits.push((body, "patch", at_most(PATCH_MAX)));
    }
    limits
}

fn narrow(schema: &mut Value, limit: Value) {
    debug_assert!(!schema.is_null(), "a limit of no field: {limit}");
    if let (Some(schema), Value::Object(limit)) = (schema.as_object_mut(), limit) {
        schema.extend(limit);
    }
}

fn run_id() -> Value {
    json!({
        "type": "string",
        "description": "A run's stable id. `.` and `..` are refused: no URL leads to them.",
        "pattern": "^[A-Za-z0-9._:-]+$", "minLength": 1, "maxLength": RUN_ID_MAX,
        "not": {"enum": [".", ".."]},
    })
}

fn step_key() -> Value {
    json!({
        "type": "string",
        "description": "A step's idempotency key: printable characters, unique in its run and stable over attempts.",
        "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f]+$", "minLength": 1, "maxLength": KEY_MAX,
    })
}

/// JSON pointers, and nothing beside them.
fn operation(op: &Value) -> Value {
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

/// A gate has its question, and nothing else has one.
fn step_to_begin(step: &Value) -> Value {
    let others: Vec<_> = crate::domain::nouns::step::Kind::ALL
        .iter()
        .map(|kind| kind.as_str())
        .filter(|kind| *kind != "gate")
        .collect();
    let gate = variant(step, &[], &["kind", "gate"]);
    let gate = set(gate, "kind", json!({"type": "string", "enum": ["gate"]}));
    let gate = set(gate, "gate", json!({"$ref": "#/components/schemas/Gate"}));
    let other = variant(step, &["gate"], &[]);
    let other = set(other, "kind", json!({"type": "string", "enum": others}));
    any_of(step, vec![other, gate])
}

fn state_or_patch(body: &Value) -> Value {
    match body["properties"]["kind"].is_object() {
        true => any_of(
            body,
            CHOICES
                .iter()
                .flat_map(|kind| decision(body, *kind))
                .collect(),
        ),
        false => any_of(
            body,
            vec![
                variant(body, &["state"], &[]),
                variant(body, &["patch"], &[]),
            ],
        ),
    }
}

/// Each kind of decision with the fields that it takes.
fn decisions(body: &Value) -> Value {
    let kinds = DecisionKind::ALL.iter();
    any_of(body, kinds.flat_map(|kind| decision(body, *kind)).collect())
}

fn decision(body: &Value, kind: DecisionKind) -> Vec<Value> {
    let of = |rows: &'static [(&str, &[DecisionKind])], holds: bool| {
        let rows = rows
            .iter()
            .filter(move |(_, kinds)| kinds.contains(&kind) == holds);
        rows.map(|(field, _)| *field).collect::<Vec<_>>()
    };
    let (without, needed) = (of(TAKEN_BY, false), of(NEEDED_BY, true));
    let mut one = variant(body, &without, &[]);
    for field in needed {
        one = variant(&one, &[], &[field]);
        // What is needed may not be null, except a result: that is any JSON.
        if let Some(ty) = one["properties"][field]["type"].as_array() {
            one["properties"][field]["type"] = ty[0].clone();
        }
    }
    if kind == DecisionKind::Note {
        narrow(
            &mut one["properties"]["text"],
            json!({"minLength": 1, "pattern": "[!-~]"}),
        );
    }
    let one = set(
        one,
        "kind",
        json!({"type": "string", "enum": [kind.as_str()]}),
    );
    if without.contains(&"state") {
        return vec![one];
    }
    let (whole, patched) = (
        variant(&one, &["patch"], &[]),
        variant(&one, &["state"], &[]),
    );
    match kind {
        DecisionKind::Edit => {
            let patched = set(variant(&patched, &[], &["patch"]), "patch", operations());
            vec![variant(&whole, &[], &["state"]), patched]
        }
        _ => vec![whole, patched],
    }
}

fn operations() -> Value {
    json!({"type": "array", "items": {"$ref": "#/components/schemas/Op"}, "maxItems": PATCH_MAX})
}

/// An integer of 64 bits says so by its bounds too: not every reader knows the format.
fn bound_integers(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(bound_integers),
        Value::Object(fields) => {
            if fields.get("format") == Some(&json!("int64")) {
                fields.entry("minimum").or_insert_with(|| json!(i64::MIN));
                fields.entry("maximum").or_insert_with(|| json!(i64::MAX));
            }
            fields.values_mut().for_each(bound_integers);
        }
        _ => {}
    }
}

/// A call's own name, its parameters' limits, and every way it may be refused.
fn describe(path: &str, method: &str, call: &mut Value) {
    let named = path.trim_start_matches("/v1/").replace(['{', '}'], "");
    call["operationId"] = json!(format!("{method}_{}", named.replace('/', "_")));
    for parameter in call["parameters"].as_array_mut().into_iter().flatten() {
        limit_parameter(parameter);
    }
    if method == "post" && REPEATABLE.contains(&path) {
        let header = json!({
            "name": "Idempotency-Key", "in": "header", "required": false,
            "description": "A repeat with the same key changes nothing and gets the first answer.",
            "schema": {"type": "string", "minLength": 1, "maxLength": 256, "pattern": "^[!-~]([ -~]*[!-~])?$"},
        });
        match call["parameters"].as_array_mut() {
            Some(parameters) => parameters.push(header),
            None => call["parameters"] = json!([header]),
        }
    }
    let has_body = call["requestBody"].is_object();
    let about_run = path.contains("{id}");
    let Some(responses) = call["responses"].as_object_mut() else {
        return;
    };
    responses.remove("4XX");
    for (status, why, applies) in SHARED {
        let applies = match applies {
            Applies::Always => true,
            Applies::WithBody => has_body,
            Applies::ToRun => about_run,
        };
        if applies && !responses.contains_key(*status) {
            responses.insert((*status).into(), json!({"description": why}));
        }
    }
    for (status, response) in responses.iter_mut() {
        if status.as_str() >= "400" {
            let content = json!({"schema": {"$ref": "#/components/schemas/Problem"}});
            response["content"] = Value::Object(Map::from_iter([(PROBLEM.to_owned(), content)]));
        }
    }
}

enum Applies {
    Always,
    WithBody,
    ToRun,
}

/// Statuses that more than one call answers with, and their codes.
const SHARED: &[(&str, &str, Applies)] = &[
    ("400", "malformed: the body is not JSON", Applies::WithBody),
    (
        "401",
        "unauthorized: no token, or one that does not count",
        Applies::Always,
    ),
    (
        "403",
        "forbidden: the token's role may not do this",
        Applies::Always,
    ),
    (
        "404",
        "not_found: there is no such run, step or snapshot",
        Applies::ToRun,
    ),
    (
        "409",
        "idempotency_conflict: the key came with another body",
        Applies::WithBody,
    ),
    (
        "413",
        "too_large: the body or the state is over its limit",
        Applies::WithBody,
    ),
    (
        "422",
        "invalid: `path` names the field and `detail` its limit",
        Applies::Always,
    ),
    (
        "429",
        "too_many: this peer sent too many wrong tokens; `Retry-After` says when to come back",
        Applies::Always,
    ),
    (
        "500",
        "corrupt: what is stored does not match its hash; internal: a fault of the server",
        Applies::Always,
    ),
    (
        "503",
        "busy: the store cannot be written or read now; `reason` says why, `Retry-After` when to try again",
        Applies::Always,
    ),
];

fn limit_parameter(parameter: &mut Value) {
    let limit = match parameter["name"].as_str().unwrap_or_default() {
        "id" | "other" | "run" => json!({"$ref": "#/components/schemas/RunId"}),
        "limit" => range(PAGE),
        "wait_ms" => range(WAIT_MS),
        "seq" | "n" | "from" | "to" | "after" => json!({"minimum": 0}),
        _ => return,
    };
    match limit.get("$ref") {
        Some(_) => parameter["schema"] = limit,
        None => narrow(&mut parameter["schema"], limit),
    }
}
