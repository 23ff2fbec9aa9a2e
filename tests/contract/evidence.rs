//! What a worker sends after it lost its lease: it changes nothing, and is kept where operators look.

use serde_json::{Value, json};

use crate::support::{Agent, Engine, both_engines, past};

/// All of a run that late evidence must not touch.
async fn standing(agent: &Agent) -> Value {
    let run = agent.api.run(&agent.run).await;
    let keys = [
        "status",
        "version",
        "snapshot",
        "hash",
        "steps",
        "committed",
        "lease",
        "usage",
        "epoch",
    ];
    keys.iter()
        .map(|key| (key.to_string(), run[key].clone()))
        .collect()
}

async fn a_late_commit_changes_nothing_and_is_kept_on_its_attempt(on: Engine) {
    let api = on.shared().await;
    let old = api.agent(json!({})).await;
    old.executes("one", json!({})).await;
    let new = old.dies().await;
    new.begin("one", json!({})).await.is(200);
    let before = standing(&new).await;
    let body =
        json!({"result": {"paid": 12}, "state": {"zombie": true}, "usage": {"cost_usd": 9.0}});
    old.commit(1, 1, body).await.refused(409, "lease_lost");
    assert_eq!(standing(&new).await, before);
    let step = api.step(&new.run, 1).await;
    assert_eq!(step["status"], "running");
    let attempts = step["attempts"].as_array().unwrap();
    assert_eq!(attempts[0]["outcome"], "crashed");
    assert_eq!(attempts[0]["evidence"]["result"], json!({"paid": 12}));
    assert!(attempts[1]["evidence"].is_null(), "{step}");
    new.commit(1, 2, json!({"result": "mine"})).await.is(200);
    assert_eq!(api.step(&new.run, 1).await["result"], "mine");
}

async fn a_late_commit_is_kept_for_the_step_an_operator_must_settle(on: Engine) {
    let api = on.shared().await;
    let run = api.create(json!({})).await;
    let agent = api.lease(&run, json!({"ttl_ms": 1000})).await;
    agent
        .executes("pay", json!({"effect": {"target": "bank"}}))
        .await;
    past(&agent.heartbeat(json!({})).await.is(200)["expires_at"]).await;
    agent
        .commit(1, 1, json!({"result": "receipt 8"}))
        .await
        .refused(409, "lease_lost");
    assert_eq!(api.status(&run).await, "crashed");
    let step = api.step(&run, 1).await;
    assert_eq!(step["status"], "crashed");
    assert_eq!(step["attempts"][0]["evidence"]["result"], "receipt 8");
    assert_eq!(api.run(&run).await["snapshot"], 0);
}

async fn evidence_is_kept_after_another_worker_committed(on: Engine) {
    let api = on.shared().await;
    let old = api.agent(json!({})).await;
    old.executes("one", json!({})).await;
    let new = old.dies().await;
    new.begin("one", json!({})).await.is(200);
    new.commit(1, 2, json!({"result": "second", "state": {"n": 2}}))
        .await
        .is(200);
    let before = standing(&new).await;
    old.commit(1, 1, json!({"result": "first", "state": {"n": 1}}))
        .await
        .refused(409, "lease_lost");
    assert_eq!(standing(&new).await, before);
    let step = api.step(&new.run, 1).await;
    assert_eq!(step["result"], "second");
    assert_eq!(step["attempts"][0]["evidence"]["result"], "first");
}

async fn evidence_is_bounded(on: Engine) {
    let api = on.shared().await;
    let old = api.agent(json!({})).await;
    old.executes("one", json!({})).await;
    let new = old.dies().await;
    let large = "x".repeat(4 << 20);
    old.commit(1, 1, json!({"result": large}))
        .await
        .refused(409, "lease_lost");
    let step = api.get(&new.path("steps/1")).await;
    assert!(step.text.len() < 2 << 20, "{} bytes", step.text.len());
    assert!(!step.is(200)["step"]["attempts"][0]["evidence"].is_null());
}

async fn a_late_commit_repeated_without_end_does_not_grow_the_step(on: Engine) {
    let api = on.shared().await;
    let old = api.agent(json!({})).await;
    old.executes("one", json!({})).await;
    let new = old.dies().await;
    for i in 0..40 {
        old.commit(1, 1, json!({"result": {"i": i, "pad": "x".repeat(10_000)}}))
            .await
            .refused(409, "lease_lost");
    }
    let step = api.get(&new.path("steps/1")).await;
    assert!(step.text.len() < 200_000, "{} bytes", step.text.len());
}

async fn a_zombies_other_writes_leave_no_trace(on: Engine) {
    let api = on.shared().await;
    let old = api.agent(json!({})).await;
    old.executes("one", json!({"retry": {"max_attempts": 3}}))
        .await;
    let new = old.dies().await;
    new.begin("one", json!({})).await.is(200);
    let before = new.facts().await;
    for attempt in [1, 2] {
        old.fail(1, attempt, json!({}))
            .await
            .refused(409, "lease_lost");
        old.progress(
            1,
            attempt,
            json!({"partial": "z", "log": [{"level": "info", "message": "z"}]}),
        )
        .await
        .refused(409, "lease_lost");
    }
    old.begin("one", json!({})).await.refused(409, "lease_lost");
    old.begin("new", json!({})).await.refused(409, "lease_lost");
    old.heartbeat(json!({"ttl_ms": 3_600_000}))
        .await
        .refused(409, "lease_lost");
    old.finish(json!({})).await.refused(409, "lease_lost");
    old.release(json!({})).await.refused(409, "lease_lost");
    assert_eq!(new.facts().await, before);
}

async fn a_zombie_cannot_commit_the_new_workers_attempt(on: Engine) {
    let api = on.shared().await;
    let old = api.agent(json!({})).await;
    old.executes("one", json!({})).await;
    let new = old.dies().await;
    new.begin("one", json!({})).await.is(200);
    let before = standing(&new).await;
    old.commit(1, 2, json!({"result": "zombie", "state": 1}))
        .await
        .refused(409, "lease_lost");
    assert_eq!(standing(&new).await, before);
    assert_eq!(api.step(&new.run, 1).await["status"], "running");
    new.commit(1, 2, json!({"result": "mine", "state": 2}))
        .await
        .is(200);
}

async fn a_zombies_fused_next_begins_nothing(on: Engine) {
    let api = on.shared().await;
    let old = api.agent(json!({})).await;
    old.executes("one", json!({})).await;
    let new = old.dies().await;
    let next = json!({"key": "two", "name": "two"});
    old.commit(1, 1, json!({"next": next}))
        .await
        .refused(409, "lease_lost");
    assert_eq!(api.run(&new.run).await["steps"], 1);
}

both_engines!(
    a_late_commit_changes_nothing_and_is_kept_on_its_attempt,
    a_late_commit_is_kept_for_the_step_an_operator_must_settle,
    evidence_is_kept_after_another_worker_committed,
    evidence_is_bounded,
    a_late_commit_repeated_without_end_does_not_grow_the_step,
    a_zombies_other_writes_leave_no_trace,
    a_zombie_cannot_commit_the_new_workers_attempt,
    a_zombies_fused_next_begins_nothing,
);
