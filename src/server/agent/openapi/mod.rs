//! What `/v1/openapi.json` says beyond the types: the refusals that every call shares, and the limits that a request is checked by.
//!
//! The limits come from where they are checked (`wire::protocol::limits`, `decision_fields`). `cargo xtask test` sends requests
//! made from the document, right and wrong ones, and fails where document and server differ.

mod bodies;
mod limits;
mod refusals;
#[cfg(test)]
mod tests;

use serde_json::{Value, json};

use self::refusals::Where;

/// Calls whose repeats are recognised by a header.
const REPEATABLE: &[&str] = &[
    "/v1/runs",
    "/v1/runs/{id}/lease",
    "/v1/claims",
    "/v1/runs/{id}/steps/{seq}/progress",
    "/v1/runs/{id}/snapshots",
    "/v1/runs/{id}/decisions",
];

/// The document that the types give, completed.
pub fn complete(mut document: Value) -> Value {
    let schemas = &mut document["components"]["schemas"];
    for (schema, field, limit) in limits::of_fields() {
        narrow(&mut schemas[schema]["properties"][field], limit);
    }
    schemas["RunId"] = limits::run_id();
    schemas["StepKey"] = limits::step_key();
    schemas["Op"] = bodies::operation(&schemas["Op"]);
    for body in ["BeginStep", "NextStep"] {
        schemas[body] = bodies::step_to_begin(&schemas[body]);
    }
    schemas["CommitStep"] = bodies::commit(&schemas["CommitStep"]);
    schemas["SaveState"] = bodies::new_state(&schemas["SaveState"]);
    schemas["ReleaseRun"] = bodies::release(&schemas["ReleaseRun"]);
    schemas["Choice"] = bodies::choices(&schemas["Choice"]);
    schemas["Decide"] = bodies::decisions(&schemas["Decide"]);
    refusals::complete_problem(&mut schemas["Problem"]);
    bound_integers(&mut document);
    let paths = document["paths"].as_object_mut();
    for (path, item) in paths.into_iter().flatten() {
        for (method, call) in item.as_object_mut().into_iter().flatten() {
            describe(path, method, call);
        }
    }
    document
}

fn narrow(schema: &mut Value, limit: Value) {
    debug_assert!(!schema.is_null(), "a limit of no field: {limit}");
    if let (Some(schema), Value::Object(limit)) = (schema.as_object_mut(), limit) {
        schema.extend(limit);
    }
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
    let parameters = call.get_mut("parameters").and_then(Value::as_array_mut);
    for parameter in parameters.into_iter().flatten() {
        let name = parameter["name"].as_str().unwrap_or_default();
        if path == "/v1/tags" && name == "meta" {
            limits::object(parameter);
        } else if let Some(limit) = limits::of_parameter(path, name) {
            narrow(&mut parameter["schema"], limit);
        }
    }
    if let Some(header) = limits::of_header(path, method) {
        match call.get_mut("parameters") {
            Some(Value::Array(parameters)) => parameters.push(header),
            _ => call["parameters"] = json!([header]),
        }
    }
    let has_body = call["requestBody"].is_object();
    refusals::complete(call, |who| match who {
        Where::Everywhere => true,
        Where::WithBody => has_body,
        Where::OfRun => path.contains("{id}"),
        Where::Repeatable => is_repeatable(path, method),
        Where::Named => false,
    });
}

fn is_repeatable(path: &str, method: &str) -> bool {
    method == "post" && REPEATABLE.contains(&path)
}
