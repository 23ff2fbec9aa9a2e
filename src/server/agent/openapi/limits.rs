//! What fields and parameters are held to, from the constants by which requests are checked.

use serde_json::{Value, json};

use super::is_repeatable;
use crate::domain::{
    nouns::ids::{KEY_MAX, RUN_ID_MAX},
    wire::protocol::{CreateRun, limits::*},
};

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
pub fn of_fields() -> Vec<(&'static str, &'static str, Value)> {
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
        ("CreateRun", "id", named(json!({}))),
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
        ("SaveState", "base", json!({"minimum": 0})),
        ("Tag", "space", text(0, TAG_SPACE_MAX)),
        ("Tag", "id", printable(TAG_ID_MAX)),
        ("Decide", "new_run_id", named(json!({}))),
        ("Decide", "reason", text(0, TEXT_MAX)),
        ("Decide", "text", text(0, TEXT_MAX)),
        ("Decide", "again", at_most(CHOICES_MAX)),
        ("Decide", "choices", at_most(CHOICES_MAX)),
    ];
    for body in ["LeaseRun", "ClaimRun"] {
        limits.push((body, "worker", name.clone()));
        limits.push((body, "ttl_ms", range(TTL_MS)));
    }
    for (field, _) in CreateRun::new("").short_texts() {
        limits.push(("CreateRun", field, short.clone()));
    }
    for body in ["LeaseRun", "ClaimRun"] {
        limits.push((body, "version", short.clone()));
        limits.push((body, "model", short.clone()));
    }
    for body in ["BeginStep", "NextStep"] {
        limits.push((body, "name", name.clone()));
        limits.push((body, "tool", short.clone()));
        limits.push((body, "refs", at_most(REFS_MAX)));
        limits.push((body, "links", at_most(LINKS_MAX)));
    }
    for body in ["CommitStep", "SaveState", "FailStep", "Choice", "Decide"] {
        limits.push((body, "patch", at_most(PATCH_MAX)));
    }
    limits
}

/// Text that is looked for: any but NUL, which no stored text holds.
const SEARCHED: &str = "^[^\\u0000]*$";

/// A parameter that is an object, written as JSON.
pub fn object(parameter: &mut Value) {
    if let Some(parameter) = parameter.as_object_mut() {
        let content = json!({"application/json": {"schema": {"type": "object"}}});
        parameter.remove("schema");
        parameter.insert("content".into(), content);
    }
}

/// What a parameter of this name is held to, wherever it stands. A tag's `id` is a program's own word.
pub fn of_parameter(path: &str, name: &str) -> Option<Value> {
    Some(match name {
        "id" if path == "/v1/tags" => return None,
        "before" => json!({"pattern": "^[0-9]{1,18}(@[A-Za-z0-9._:-]+)?$"}),
        "id" => named(run_id()),
        "run" | "other" => json!({"$ref": "#/components/schemas/RunId"}),
        "limit" => range(PAGE),
        "wait_ms" => range(WAIT_MS),
        "seq" | "n" | "from" | "to" | "after" => json!({"minimum": 0}),
        "label" => json!({"pattern": "^[^\\u0000:]*:[^\\u0000]*$"}),
        "agent" | "q" | "key" | "step" | "error" | "version" | "owner" | "worker" => {
            json!({"pattern": SEARCHED})
        }
        "cursor" => json!({"pattern": "^[0-9]{1,18}(\\.[0-9]{1,18})?$"}),
        _ => return None,
    })
}

/// The header that a call reads, if it reads one.
pub fn of_header(path: &str, method: &str) -> Option<Value> {
    let (name, description, schema) = match path {
        _ if is_repeatable(path, method) => (
            "Idempotency-Key",
            "A repeat with the same key changes nothing and gets the first answer.",
            json!({
                "type": "string", "minLength": 1, "maxLength": IDEMPOTENCY_KEY_MAX,
                "pattern": "^[!-~]([ -~]*[!-~])?$",
            }),
        ),
        "/v1/events" => (
            "Last-Event-ID",
            "What a reader that reconnects sends: it goes on after this event, whatever `after` says.",
            json!({"type": "integer", "format": "int64", "minimum": 0}),
        ),
        _ => return None,
    };
    Some(json!({
        "name": name, "in": "header", "required": false, "description": description, "schema": schema,
    }))
}

/// A run's id as it stands in lists and events.
pub fn run_id() -> Value {
    json!({
        "type": "string", "description": "A run's stable id.",
        "pattern": "^[A-Za-z0-9._:-]+$", "minLength": 1, "maxLength": RUN_ID_MAX,
    })
}

/// The id of a run that is made or asked for: no URL leads to `.` and `..`.
fn named(mut id: Value) -> Value {
    id["not"] = json!({"enum": [".", ".."]});
    id
}

fn printable(max: usize) -> Value {
    json!({"pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f]+$", "minLength": 1, "maxLength": max})
}

pub fn step_key() -> Value {
    let mut key = json!({
        "type": "string",
        "description": "A step's idempotency key: printable characters, unique in its run and stable over attempts.",
    });
    super::narrow(&mut key, printable(KEY_MAX));
    key
}
