//! `/v1/openapi.json` is the protocol: every call, with its fields, and nothing asked for that the protocol leaves open.

use serde_json::{Value, json};

use crate::{
    bad_input::{calls, ground, needed},
    support::{Engine, both_engines},
};

const CALLS: &[(&str, &str, &str)] = &[
    ("create", "post", "/v1/runs"),
    ("lease", "post", "/v1/runs/{id}/lease"),
    ("claims", "post", "/v1/claims"),
    ("heartbeat", "post", "/v1/runs/{id}/heartbeat"),
    ("begin", "post", "/v1/runs/{id}/steps"),
    ("gate", "post", "/v1/runs/{id}/steps"),
    ("commit", "post", "/v1/runs/{id}/steps/{seq}/commit"),
    ("patch", "post", "/v1/runs/{id}/steps/{seq}/commit"),
    ("save", "post", "/v1/runs/{id}/snapshots"),
    ("fail", "post", "/v1/runs/{id}/steps/{seq}/fail"),
    ("progress", "post", "/v1/runs/{id}/steps/{seq}/progress"),
    ("finish", "post", "/v1/runs/{id}/finish"),
    ("release", "post", "/v1/runs/{id}/release"),
    ("pause", "post", "/v1/runs/{id}/release"),
    ("decisions", "post", "/v1/runs/{id}/decisions"),
];

const READS: &[(&str, &[&str])] = &[
    (
        "/v1/runs",
        &[
            "status",
            "agent",
            "label",
            "q",
            "key",
            "step",
            "error",
            "version",
            "effects_unknown",
            "owner",
            "worker",
            "over_usd",
            "limit",
            "cursor",
        ],
    ),
    ("/v1/runs/{id}", &[]),
    ("/v1/runs/{id}/steps", &["after", "limit"]),
    ("/v1/runs/{id}/steps/{seq}", &["wait_ms"]),
    ("/v1/runs/{id}/snapshots/{n}", &[]),
    ("/v1/runs/{id}/plan", &[]),
    ("/v1/runs/{id}/diff", &["from", "to", "other"]),
    (
        "/v1/tags",
        &["run", "space", "id", "before", "meta", "limit", "full"],
    ),
    ("/v1/events", &["after", "run"]),
];

/// A schema with its references followed and its parts merged. Of several ways to fill in a body, a field belongs to it if
/// one way has it, and is needed if all need it.
fn resolved(document: &Value, schema: &Value) -> Value {
    if let Some(reference) = schema["$ref"].as_str() {
        let pointer = reference.trim_start_matches('#');
        return resolved(document, document.pointer(pointer).expect(reference));
    }
    if let Some(ways) = schema["anyOf"].as_array() {
        let ways = ways.iter().map(|way| resolved(document, way));
        let either = ways.reduce(|one, other| either(&one, &other));
        return either.expect("at least one way");
    }
    let Some(parts) = schema["allOf"].as_array() else {
        return schema.clone();
    };
    let mut whole = json!({"properties": {}, "required": []});
    for part in parts {
        let part = resolved(document, part);
        let fields = part["properties"].as_object().cloned().unwrap_or_default();
        whole["properties"].as_object_mut().unwrap().extend(fields);
        let required = part["required"].as_array().cloned().unwrap_or_default();
        whole["required"].as_array_mut().unwrap().extend(required);
    }
    whole
}

/// What a body is that is filled in one way or the other.
fn either(one: &Value, other: &Value) -> Value {
    let mut both = one.clone();
    let fields = other["properties"].as_object().cloned().unwrap_or_default();
    both["properties"].as_object_mut().unwrap().extend(fields);
    let needed = other["required"].as_array().cloned().unwrap_or_default();
    let required = both["required"].as_array_mut().unwrap();
    required.retain(|field| needed.contains(field));
    both
}

/// `{id}` and `{run}` are the same path to a caller.
fn shape(path: &str) -> String {
    let parts = path
        .split('/')
        .map(|part| if part.starts_with('{') { "{}" } else { part });
    parts.collect::<Vec<_>>().join("/")
}

fn operation<'a>(document: &'a Value, path: &str, method: &str) -> &'a Value {
    let paths = document["paths"].as_object().expect("paths");
    let found = paths.iter().find(|(known, _)| shape(known) == shape(path));
    let (_, item) = found.unwrap_or_else(|| panic!("{path} is not in the document"));
    assert!(
        item[method].is_object(),
        "{method} {path} is not in the document"
    );
    &item[method]
}

async fn every_call_is_described_with_its_fields(on: Engine) {
    let api = on.shared().await;
    let document = api.get("/v1/openapi.json").await.is(200);
    assert!(document["openapi"].as_str().unwrap().starts_with('3'));
    let bodies = calls(&ground(&api).await);
    for (call, method, path) in CALLS {
        let operation = operation(&document, path, method);
        let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
        let schema = resolved(&document, schema);
        let required: Vec<_> = schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        assert!(
            required.iter().all(|field| needed(call).contains(field)),
            "{call} asks for {required:?}"
        );
        assert!(
            needed(call).iter().all(|field| required.contains(field)),
            "{call} asks only for {required:?}"
        );
        let body = &bodies.iter().find(|known| known.0 == *call).unwrap().2;
        for field in body.as_object().unwrap().keys() {
            assert!(
                schema["properties"][field].is_object(),
                "{call} does not describe {field}"
            );
        }
    }
}

async fn every_read_is_described_with_its_parameters(on: Engine) {
    let api = on.shared().await;
    let document = api.get("/v1/openapi.json").await.is(200);
    for (path, parameters) in READS {
        let operation = operation(&document, path, "get");
        let known = operation["parameters"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        for parameter in *parameters {
            let found = known
                .iter()
                .find(|p| p["name"] == *parameter && p["in"] == "query");
            let found = found.unwrap_or_else(|| panic!("{path} does not describe ?{parameter}="));
            assert_ne!(found["required"], true, "{path}?{parameter}=");
        }
    }
}

async fn every_path_of_the_document_is_under_v1(on: Engine) {
    let api = on.shared().await;
    let document = api.get("/v1/openapi.json").await.is(200);
    for path in document["paths"].as_object().unwrap().keys() {
        assert!(path.starts_with("/v1/"), "{path}");
    }
}

both_engines!(
    every_call_is_described_with_its_fields,
    every_read_is_described_with_its_parameters,
    every_path_of_the_document_is_under_v1,
);
