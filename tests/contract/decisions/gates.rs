//! Answers to questions.

use serde_json::{Value, json};

use super::decides;
use crate::support::{Agent, Engine, both_engines};

async fn asks(agent: &Agent, gate: Value) {
    let begun = agent
        .begin("g", json!({"kind": "gate", "gate": gate}))
        .await;
    assert_eq!(begun.is(200)["outcome"], "waiting");
}

async fn an_answer_releases_a_run_that_waits_and_is_given(on: Engine) {
    let api = on.shared().await;
    for (kind, result) in [
        ("approve", Value::Null),
        ("reject", Value::Null),
        ("answer", json!({"eur": 3})),
    ] {
        let agent = api.agent(json!({})).await;
        asks(&agent, json!({"title": "Refund?"})).await;
        agent.release(json!({})).await.is(200);
        let body = match &result {
            Value::Null => json!({"kind": kind, "step": 1}),
            result => json!({"kind": kind, "step": 1, "result": result}),
        };
        let answer = decides(&api, &agent.run, body).await;
        assert_eq!(answer["run"]["status"], "ready");
        let next = api.lease(&agent.run, json!({})).await;
        let given = next
            .begin("g", json!({"kind": "gate", "gate": {"title": "Refund?"}}))
            .await
            .is(200);
        assert_eq!(
            (&given["outcome"], &given["decision"]),
            (&json!("given"), &json!(kind))
        );
        assert_eq!(given["result"], result);
    }
}

async fn under_a_live_lease_the_run_stays_running(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    asks(&agent, json!({"title": "Refund?"})).await;
    let answer = decides(&api, &agent.run, json!({"kind": "approve", "step": 1})).await;
    assert_eq!(answer["run"]["status"], "running");
    let given = agent
        .begin("g", json!({"kind": "gate", "gate": {"title": "Refund?"}}))
        .await
        .is(200);
    assert_eq!(given["outcome"], "given");
    agent
        .commit(1, 1, json!({"state": {"approved": true}}))
        .await
        .is(200);
}

async fn an_answer_must_fit_choices_and_schema(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let schema = json!({"type": "object", "properties": {"choice": {"enum": ["full", "half"]}}});
    asks(
        &agent,
        json!({"title": "How much?", "choices": ["full", "half", "none"], "schema": schema}),
    )
    .await;
    let before = agent.facts().await;
    let version = before["run"]["version"].clone();
    let decide = |result: Value| {
        let body = json!({"kind": "answer", "step": 1, "if_version": version, "result": result});
        api.decide(&agent.run, body)
    };
    decide(json!({"choice": "all"})).await.bad_input("result");
    decide(json!({"choice": "none"}))
        .await
        .bad_input("result/choice");
    let approve = json!({"kind": "approve", "step": 1, "if_version": version});
    api.decide(&agent.run, approve).await.bad_input("result");
    assert_eq!(agent.facts().await, before);
    decide(json!({"choice": "half"})).await.is(200);
    assert_eq!(
        api.step(&agent.run, 1).await["result"],
        json!({"choice": "half"})
    );
}

both_engines!(
    an_answer_releases_a_run_that_waits_and_is_given,
    under_a_live_lease_the_run_stays_running,
    an_answer_must_fit_choices_and_schema,
);
