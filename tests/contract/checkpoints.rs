//! `POST /v1/runs/{id}/snapshots`: checkpoints between steps, under the same rules as commits.

use serde_json::{Value, json};

use crate::support::{Agent, Answer, Engine, both_engines, merged, unique};

pub async fn saves(agent: &Agent, body: Value) -> Answer {
    let body = agent.fenced(body);
    agent.api.post(&agent.path("snapshots"), body).await
}

async fn a_checkpoint_between_steps_is_a_snapshot_like_any_other(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"state": {"n": 0}})).await;
    let first = saves(&agent, json!({"state": {"n": 1}})).await.is(200);
    assert_eq!(first["snapshot"], 1);
    assert!(first.get("signal").is_none(), "{first}");
    let patch = json!([{"op": "add", "path": "/more", "value": [1]}]);
    let second = saves(&agent, json!({"patch": patch, "base": 1}))
        .await
        .is(200);
    let snapshot = api.snapshot(&agent.run, 2).await;
    assert_eq!(snapshot["state"], json!({"n": 1, "more": [1]}));
    assert_eq!(snapshot["hash"], second["hash"]);
    assert!(snapshot.get("seq").is_none(), "no step made it: {snapshot}");
    let (_, commit) = agent.does("one", json!({"state": {"n": 3}})).await;
    assert_eq!(commit["snapshot"], 3);
    let next = agent.again().await;
    assert_eq!(next.lease["state"], json!({"n": 3}));
    let events = api.events(0, Some(&agent.run)).await;
    let saved: Vec<_> = events
        .iter()
        .filter(|it| it["kind"] == "snapshot_saved")
        .collect();
    assert_eq!(saved.len(), 2);
    assert_eq!(
        (&saved[1]["data"]["snapshot"], &saved[1]["data"]["hash"]),
        (&json!(2), &second["hash"])
    );
}

async fn a_checkpoint_that_does_not_fit_changes_nothing(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"state": {"n": 0}})).await;
    saves(&agent, json!({"state": {"n": 1}})).await.is(200);
    let before = agent.facts().await;
    let stale = saves(&agent, json!({"state": {"n": 2}, "base": 0})).await;
    let stale = stale.refused(409, "state_conflict");
    assert_eq!((&stale["base"], &stale["snapshot"]), (&json!(0), &json!(1)));
    let patch = json!([{"op": "add", "path": "/a", "value": 1}, {"op": "remove", "path": "/b"}]);
    saves(&agent, json!({"patch": patch}))
        .await
        .refused(422, "patch_failed");
    saves(&agent, json!({})).await.bad_input("state");
    saves(&agent, json!({"state": 1, "patch": []}))
        .await
        .bad_input("patch");
    let other = merged(
        agent.fenced(json!({"state": 1})),
        json!({"epoch": agent.epoch - 1}),
    );
    api.post(&agent.path("snapshots"), other)
        .await
        .refused(409, "lease_lost");
    assert_eq!(agent.facts().await, before);
}

async fn who_lost_the_lease_can_save_nothing(on: Engine) {
    let api = on.shared().await;
    let old = api.agent(json!({})).await;
    let new = old.again().await;
    let before = new.facts().await;
    saves(&old, json!({"state": {"late": true}}))
        .await
        .refused(409, "lease_lost");
    assert_eq!(new.facts().await, before);
}

async fn a_checkpoint_renews_the_lease_and_hears_the_signal(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let lease = api.run(&agent.run).await["lease"]["expires_at"].clone();
    api.decide(&agent.run, json!({"kind": "pause", "reason": "r"}))
        .await
        .is(200);
    let saved = saves(&agent, json!({"state": 1})).await.is(200);
    assert_eq!(saved["signal"], "pause");
    let renewed = api.run(&agent.run).await["lease"]["expires_at"].clone();
    assert!(renewed.as_str() > lease.as_str(), "{lease} {renewed}");
}

async fn a_checkpoint_sent_again_with_its_key_is_one_checkpoint(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let (key, path) = (unique("key"), agent.path("snapshots"));
    let body = agent.fenced(json!({"state": {"n": 1}}));
    let first = api.post_once(&key, &path, body.clone()).await.is(200);
    assert_eq!(api.post_once(&key, &path, body).await.is(200), first);
    assert_eq!(api.run(&agent.run).await["snapshot"], 1);
    let other = agent.fenced(json!({"state": {"n": 2}}));
    api.post_once(&key, &path, other)
        .await
        .refused(409, "idempotency_conflict");
}

/// The large and the small way to a new state are the same way.
async fn a_large_checkpoint_is_held_to_the_same_rules(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"state": {}})).await;
    let long = "x".repeat(700_000);
    saves(&agent, json!({"state": {"long": long}}))
        .await
        .is(200);
    let patch = json!([{"op": "add", "path": "/again", "value": long}]);
    saves(&agent, json!({"patch": patch, "base": 0}))
        .await
        .refused(409, "state_conflict");
    saves(&agent, json!({"patch": patch})).await.is(200);
    let state = &api.snapshot(&agent.run, 2).await["state"];
    assert_eq!(state["again"], state["long"]);
}

both_engines!(
    a_checkpoint_between_steps_is_a_snapshot_like_any_other,
    a_checkpoint_that_does_not_fit_changes_nothing,
    who_lost_the_lease_can_save_nothing,
    a_checkpoint_renews_the_lease_and_hears_the_signal,
    a_checkpoint_sent_again_with_its_key_is_one_checkpoint,
    a_large_checkpoint_is_held_to_the_same_rules,
);
