//! What is too large: 32 MiB of body, 16 MiB of state, 128 levels, 32 labels.

use serde_json::{Value, json};

use crate::support::{Agent, Engine, Server, both_engines, rounds, unique};

const MIB: usize = 1 << 20;

fn text(mib: usize) -> String {
    "x".repeat(mib * MIB)
}

/// All of a run but its lease, which a server that was slow for seconds may prolong by itself.
async fn settled(agent: &Agent) -> Value {
    let mut facts = agent.facts().await;
    facts["run"]["lease"] = Value::Null;
    facts
}

async fn a_body_beyond_32_mib_is_too_large(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let agent = api.agent(json!({})).await;
    agent.executes("one", json!({})).await;
    let before = settled(&agent).await;
    let body = agent.fenced(json!({"attempt": 1, "result": text(33)}));
    let answer = api.post_large(&agent.at(1, "commit"), body).await;
    answer.refused(413, "too_large");
    let id = unique("run");
    let body = json!({"id": id, "agent": "a", "input": text(33)});
    api.post_large("/v1/runs", body)
        .await
        .refused(413, "too_large");
    api.get(&format!("/v1/runs/{id}"))
        .await
        .refused(404, "not_found");
    assert_eq!(settled(&agent).await, before);
}

async fn a_state_beyond_16_mib_is_too_large(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let agent = api.agent(json!({"state": {"text": "small"}})).await;
    agent.executes("one", json!({})).await;
    let before = settled(&agent).await;
    agent
        .commit(1, 1, json!({"state": {"text": text(17)}}))
        .await
        .refused(413, "too_large");
    let patch = json!([{"op": "replace", "path": "/text", "value": text(17)}]);
    agent
        .commit(1, 1, json!({"patch": patch}))
        .await
        .refused(413, "too_large");
    assert_eq!(settled(&agent).await, before);
    let id = unique("run");
    api.post(
        "/v1/runs",
        json!({"id": id, "agent": "a", "state": text(17)}),
    )
    .await
    .refused(413, "too_large");
    api.get(&format!("/v1/runs/{id}"))
        .await
        .refused(404, "not_found");
}

async fn a_state_that_grows_beyond_16_mib_by_small_patches_is_too_large(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let agent = api.agent(json!({"state": {"a": text(9)}})).await;
    agent.executes("one", json!({})).await;
    let before = settled(&agent).await;
    let patch = json!([{"op": "copy", "from": "/a", "path": "/b"}]);
    agent
        .commit(1, 1, json!({"patch": patch}))
        .await
        .refused(413, "too_large");
    assert_eq!(settled(&agent).await, before);
}

async fn a_large_state_within_the_limit_is_kept_whole(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let agent = api.agent(json!({})).await;
    let mib = if rounds(1) > 1 { 15 } else { 4 };
    let state = json!({"text": text(mib), "tail": "é"});
    agent.does("one", json!({"state": state})).await;
    assert!(
        api.snapshot(&agent.run, 1).await["state"] == state,
        "the state came back changed"
    );
    assert!(
        agent.again().await.lease["state"] == state,
        "the lease's state is not the state"
    );
}

async fn a_value_may_nest_to_the_limit(on: Engine) {
    let api = on.shared().await;
    let nested = |n: usize| {
        (0..n).fold(json!(1), |inner, i| {
            if i % 2 == 0 {
                json!([inner])
            } else {
                json!({"a": inner})
            }
        })
    };
    let state = nested(120);
    let agent = api.agent(json!({"input": state, "state": state})).await;
    assert_eq!(agent.lease["state"], state);
    agent
        .does("one", json!({"result": state, "state": [state]}))
        .await;
    assert_eq!(api.snapshot(&agent.run, 1).await["state"], json!([state]));
}

async fn a_run_may_have_32_labels(on: Engine) {
    let api = on.shared().await;
    let labels = |n: usize| -> Value { (0..n).map(|i| (format!("k{i}"), json!("v"))).collect() };
    let run = api.create(json!({"labels": labels(32)})).await;
    assert_eq!(api.run(&run).await["labels"], labels(32));
    let id = unique("run");
    let refused = api
        .post(
            "/v1/runs",
            json!({"id": id, "agent": "a", "labels": labels(33)}),
        )
        .await;
    assert_eq!(refused.refused(422, "invalid")["path"], "labels");
    api.get(&format!("/v1/runs/{id}"))
        .await
        .refused(404, "not_found");
}

async fn texts_have_a_limit(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    agent.executes("one", json!({})).await;
    let before = agent.facts().await;
    let long = text(2);
    for (field, more) in [
        ("name", json!({"name": long})),
        ("tool", json!({"tool": long})),
        ("effect", json!({"effect": {"target": long}})),
    ] {
        let problem = agent.begin("x", more).await.refusal();
        assert!(
            problem["path"]
                .as_str()
                .is_some_and(|path| path.contains(field)),
            "{field}: {problem}"
        );
    }
    for (field, more) in [
        ("agent", json!({"agent": long})),
        ("title", json!({"title": long})),
        ("labels", json!({"labels": {"k": long}})),
    ] {
        let body = crate::support::merged(json!({"agent": "a"}), more);
        let problem = api.post("/v1/runs", body).await.refusal();
        assert!(
            problem["path"]
                .as_str()
                .is_some_and(|path| path.contains(field)),
            "{field}: {problem}"
        );
    }
    assert_eq!(agent.facts().await, before);
}

async fn a_very_long_patch_is_applied_or_refused_in_time(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let agent = api.agent(json!({"state": {"list": []}})).await;
    agent.executes("one", json!({})).await;
    let patch: Vec<_> = (0..20_000)
        .map(|i| json!({"op": "add", "path": "/list/0", "value": i}))
        .collect();
    let started = std::time::Instant::now();
    let answer = agent.commit(1, 1, json!({"patch": patch})).await;
    assert!(answer.status < 500, "{answer:?}");
    assert!(
        started.elapsed() < crate::support::DEADLINE,
        "{:?}",
        started.elapsed()
    );
}

both_engines!(
    a_body_beyond_32_mib_is_too_large,
    a_state_beyond_16_mib_is_too_large,
    a_state_that_grows_beyond_16_mib_by_small_patches_is_too_large,
    a_large_state_within_the_limit_is_kept_whole,
    a_value_may_nest_to_the_limit,
    a_run_may_have_32_labels,
    texts_have_a_limit,
    a_very_long_patch_is_applied_or_refused_in_time,
);
