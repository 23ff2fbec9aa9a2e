//! Decisions, by the protocol's table: each way out of a crash, gates, edits, rewinds and forks.

mod aftermath;
mod edits;
mod forks;
mod gates;
mod offers;
mod refusals;
mod rewinds;
mod steps;

use serde_json::{Value, json};

use crate::support::{Agent, Api, merged};

/// The body of a begin whose effect nobody can look up.
pub fn charge() -> Value {
    json!({"effect": {"target": "stripe.charges", "description": "charge 12 € to cus_1", "dedupe_ms": 86_400_000}})
}

/// Commits `before` steps, begins a charge, and its worker is gone: the run is held for an operator.
pub async fn crashed(api: &Api, before: usize) -> (Agent, i64) {
    let agent = api.agent(json!({"state": {"n": 0}})).await;
    for i in 0..before {
        let body = json!({"result": i, "patch": [{"op": "replace", "path": "/n", "value": i + 1}]});
        agent.does(&format!("s{i}"), body).await;
    }
    let seq = agent.executes("charge", charge()).await;
    agent.release(json!({})).await.is(200);
    assert_eq!(agent.status().await, "crashed");
    (agent, seq)
}

/// Decides on the run as it is now.
pub async fn decides(api: &Api, run: &str, body: Value) -> Value {
    let version = api.run(run).await["version"].clone();
    let body = merged(json!({"if_version": version, "reason": "I looked"}), body);
    api.decide(run, body).await.is(200)
}

pub async fn resumes(api: &Api, run: &str, choices: Value) -> Value {
    let plan = api.get(&format!("/v1/runs/{run}/plan")).await.is(200);
    let body = json!({"kind": "resume", "choices": choices, "plan": plan["hash"]});
    decides(api, run, body).await
}
