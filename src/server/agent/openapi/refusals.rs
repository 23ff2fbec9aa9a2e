//! Every way a call may be refused: the codes, their statuses, and what each says.
//!
//! What a call alone may answer stands at its handler, as the description of a response: codes and nothing else. What
//! several share is said here once. `cargo xtask test` holds each answer against this.

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

use crate::domain::Code;

const PROBLEM: &str = "application/problem+json";

/// Which calls may be refused so.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Where {
    Everywhere,
    WithBody,
    /// Below `/v1/runs/{id}`.
    OfRun,
    /// Calls whose repeats are recognised by a header.
    Repeatable,
    /// Only where the handler names it.
    Named,
}

/// What a refusal means to its reader, and who may meet it.
pub fn meaning(code: Code) -> (Where, &'static str) {
    use Code::*;
    use Where::*;
    match code {
        Malformed => (
            WithBody,
            "the body is not JSON, or holds what means two things",
        ),
        Unauthorized => (Everywhere, "no token, or one that does not count"),
        Forbidden => (Everywhere, "the token's role may not do this"),
        NotFound => (OfRun, "there is no such run, step or snapshot"),
        MethodNotAllowed => (Named, "`Allow` says which methods the route takes"),
        TooLarge => (WithBody, "the body or the state is over its limit"),
        TooMany => (
            Everywhere,
            "this peer sent too many wrong tokens or sign-in links",
        ),
        Invalid => (Everywhere, "`path` names the field, `detail` its limit"),
        PatchFailed => (Named, "the patch does not fit the state"),
        Busy => (
            Everywhere,
            "the store cannot be written or read now; `reason` says why",
        ),
        RunConflict => (Named, "the id is taken by another run"),
        LeaseHeld => (Named, "`worker` holds the run until `expires_at`"),
        RunNotRunnable => (
            Named,
            "`run_status` is the run's; so is `status`, in place of the HTTP status",
        ),
        LeaseLost => (Named, "the epoch no longer holds the run"),
        KeyConflict => (Named, "the key belongs to a step of another name"),
        CommitConflict => (Named, "the attempt was committed with another body"),
        StateConflict => (Named, "the state was made from an older snapshot"),
        TagConflict => (Named, "the tag names `snapshot`, with another content"),
        AttemptOver => (Named, "the attempt has ended"),
        StepInFlight => (Named, "a step has begun and not ended"),
        IdempotencyConflict => (Repeatable, "the key came with another body"),
        VersionConflict => (
            Named,
            "`decided_by` was first and did `decided_what`; the run is at `current_version`",
        ),
        DecisionRefused => (
            Named,
            "`why` says what stands against it; `decided_by` was first where somebody was",
        ),
        PlanChanged => (Named, "the run is no longer as the plan showed it"),
        EventsPruned => (Named, "events after this number are no longer kept"),
        Pruned => (Named, "the snapshot is no longer kept"),
        Corrupt => (
            Everywhere,
            "what is stored does not match its hash, and is not served",
        ),
        Internal => (Everywhere, "the server failed; its log says why"),
    }
}

/// In place of the codes that a handler names: all that the call may be refused with, status by status.
pub fn complete(call: &mut Value, met: impl Fn(Where) -> bool) {
    let Some(responses) = call["responses"].as_object_mut() else {
        return;
    };
    let named = named(responses);
    responses.retain(|status, _| status.as_str() < "400");
    let mut by_status: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for code in Code::ALL {
        if met(meaning(*code).0) || named.contains(code) {
            by_status.entry(code.status()).or_default().push(*code);
        }
    }
    // OpenAPI asks for a description where a handler has nothing to add to the status.
    for response in responses.values_mut().filter_map(Value::as_object_mut) {
        let done = || json!("As asked.");
        response.entry("description").or_insert_with(done);
    }
    for (status, codes) in by_status {
        responses.insert(status.to_string(), refusal(&codes));
    }
}

/// A field that the protocol names wins over RFC 9457's own: the `status` of `run_not_runnable` is the run's.
pub fn complete_problem(problem: &mut Value) {
    problem["properties"]["status"] = json!({
        "description": "The HTTP status; with `run_not_runnable`, the run's.",
        "oneOf": [
            {"type": "integer", "minimum": 400, "maximum": 599},
            {"$ref": "#/components/schemas/RunStatus"},
        ],
    });
    problem["additionalProperties"] = json!(true);
}

/// The codes in the descriptions of refusals.
fn named(responses: &Map<String, Value>) -> Vec<Code> {
    let refused = responses
        .iter()
        .filter(|(status, _)| status.as_str() >= "400");
    let words = refused.filter_map(|(_, response)| response["description"].as_str());
    words
        .flat_map(|words| words.split(", "))
        .filter_map(|word| word.parse().ok())
        .collect()
}

fn refusal(codes: &[Code]) -> Value {
    let lines = codes
        .iter()
        .map(|code| format!("`{code}`: {}", meaning(*code).1));
    let one_of = json!({"type": "object", "properties": {"code": {"enum": codes}}});
    let schema = json!({"allOf": [{"$ref": "#/components/schemas/Problem"}, one_of]});
    let mut refusal = json!({
        "description": lines.collect::<Vec<_>>().join(" · "),
        "content": {PROBLEM: {"schema": schema}},
    });
    if codes.iter().all(|code| code.is_passing()) {
        refusal["headers"] = json!({"Retry-After": {
            "description": "Seconds after which to try again.", "required": true,
            "schema": {"type": "integer", "minimum": 1},
        }});
    }
    refusal
}
