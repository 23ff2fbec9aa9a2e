//! Steps that wait for a person.

use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

use crate::support::{Agent, Engine, both_engines};

fn gate() -> Value {
    let schema = json!({"type": "object"});
    json!({"kind": "gate", "gate": {"title": "Pay 12 €?", "context": {"eur": 12}, "schema": schema, "choices": ["yes", "no"]}})
}

async fn asks(agent: &Agent) -> i64 {
    let begun = agent.begin("g", gate()).await.is(200);
    assert_eq!(begun["outcome"], "waiting", "{begun}");
    begun["seq"].as_i64().unwrap()
}

async fn a_gate_waits_and_shows_its_question(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let seq = asks(&agent).await;
    let step = api.step(&agent.run, seq).await;
    assert_eq!(step["status"], "waiting");
    assert_eq!(step["gate"], gate()["gate"]);
    assert_eq!(agent.begin("g", gate()).await.is(200)["outcome"], "waiting");
    assert_eq!(api.run(&agent.run).await["steps"], 1);
}

async fn a_run_with_an_open_gate_waits_without_a_worker(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let seq = asks(&agent).await;
    assert_eq!(
        agent.release(json!({})).await.is(200)["run"]["status"],
        "waiting"
    );
    assert_eq!(
        api.step(&agent.run, seq).await["status"],
        "waiting",
        "an open gate stays open"
    );
    let refused = api.post(&agent.path("lease"), json!({"worker": "w"})).await;
    assert_eq!(
        refused.refused(409, "run_not_runnable")["status"],
        "waiting"
    );
}

async fn other_work_goes_on_beside_an_open_gate(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    asks(&agent).await;
    agent.does("other", json!({"state": {"n": 1}})).await;
    assert_eq!(api.run(&agent.run).await["snapshot"], 1);
}

async fn polling_an_open_gate_takes_as_long_as_it_says(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let seq = asks(&agent).await;
    let started = Instant::now();
    let step = api
        .get(&agent.path(&format!("steps/{seq}?wait_ms=400")))
        .await
        .is(200);
    assert_eq!(step["step"]["status"], "waiting");
    assert!(
        started.elapsed() >= Duration::from_millis(390),
        "{:?}",
        started.elapsed()
    );
    let started = Instant::now();
    api.get(&agent.path(&format!("steps/{seq}?wait_ms=0")))
        .await
        .is(200);
    assert!(started.elapsed() < Duration::from_secs(10));
}

async fn an_agent_cannot_answer_its_own_gate(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let seq = asks(&agent).await;
    let before = agent.facts().await;
    agent
        .commit(seq, 1, json!({"result": "yes", "state": 1}))
        .await
        .refusal();
    agent.fail(seq, 1, json!({})).await.refusal();
    assert_eq!(agent.facts().await["steps"], before["steps"]);
    assert_eq!(api.run(&agent.run).await["snapshot"], 0);
}

async fn a_gate_and_its_question_belong_together(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let before = agent.facts().await;
    let question = json!({"title": "Pay?"});
    for body in [
        json!({"kind": "gate"}),
        json!({"kind": "code", "gate": question}),
        json!({"gate": question}),
        json!({"kind": "gate", "gate": {}}),
        json!({"kind": "gate", "gate": {"title": "?", "schema": "text"}}),
        json!({"kind": "gate", "gate": {"title": "?", "more": 1}}),
    ] {
        agent.begin("g", body).await.bad_input("");
    }
    assert_eq!(agent.facts().await, before);
}

both_engines!(
    a_gate_waits_and_shows_its_question,
    a_run_with_an_open_gate_waits_without_a_worker,
    other_work_goes_on_beside_an_open_gate,
    polling_an_open_gate_takes_as_long_as_it_says,
    an_agent_cannot_answer_its_own_gate,
    a_gate_and_its_question_belong_together,
);
