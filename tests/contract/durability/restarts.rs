//! A deploy is not a crash.

use serde_json::json;
use std::time::Duration;

use crate::support::{Agent, Engine, Server, Stream, both_engines, eventually, past, pause};

async fn a_restart_crashes_no_healthy_worker(on: Engine) {
    let mut server = Server::start(on).await;
    let run = server.api().create(json!({})).await;
    let agent = server.api().lease(&run, json!({"ttl_ms": 2000})).await;
    let seq = agent.executes("one", json!({})).await;
    let mut expires_at = json!(null);
    for _ in 0..10 {
        pause(150).await;
        expires_at = agent.heartbeat(json!({})).await.is(200)["expires_at"].clone();
    }
    server.kill();
    past(&expires_at).await;
    server.restart().await;
    let agent = agent.through(&server.api());
    assert_eq!(agent.status().await, "running");
    agent.heartbeat(json!({})).await.is(200);
    agent.progress(seq, 1, json!({"partial": 1})).await.is(204);
    agent
        .commit(seq, 1, json!({"state": {"n": 1}}))
        .await
        .is(200);
    let step = server.api().step(&run, seq).await;
    assert_eq!(step["attempts"].as_array().unwrap().len(), 1);
    assert_eq!(step["attempts"][0]["outcome"], "committed");
}

async fn a_restart_revives_no_worker_that_was_gone(on: Engine) {
    let mut server = Server::start(on).await;
    let run = server.api().create(json!({})).await;
    let silent = server.api().lease(&run, json!({"ttl_ms": 1000})).await;
    silent.executes("one", json!({})).await;
    eventually("its lease ends", async || {
        (server.api().status(&run).await == "ready").then_some(())
    })
    .await;
    server.restart().await;
    let api = server.api();
    assert_eq!(api.status(&run).await, "ready");
    silent
        .through(&api)
        .heartbeat(json!({}))
        .await
        .refused(409, "lease_lost");
    api.lease(&run, json!({"worker": "next"})).await;
}

async fn a_worker_that_died_with_the_server_is_noticed_after_the_restart(on: Engine) {
    let mut server = Server::start(on).await;
    let run = server.api().create(json!({})).await;
    let agent = server.api().lease(&run, json!({"ttl_ms": 1000})).await;
    agent.executes("one", json!({})).await;
    let head = last_event(&server, &run).await;
    server.restart().await;
    let api = server.api();
    let mut stream = Stream::open(&api, &format!("?run={run}"), Some(head)).await;
    stream
        .next()
        .await
        .expect("an event, though nobody looked at the run");
    eventually("ready", async || {
        (api.status(&run).await == "ready").then_some(())
    })
    .await;
    assert_eq!(api.step(&run, 1).await["status"], "crashed");
}

async fn last_event(server: &Server, run: &str) -> i64 {
    let events = server.api().events(0, Some(run)).await;
    events.last().unwrap()["id"].as_i64().unwrap()
}

async fn a_run_that_slept_through_a_restart_wakes(on: Engine) {
    let mut server = Server::start(on).await;
    let agent = server.api().agent(json!({})).await;
    agent.release(json!({"after_ms": 1500})).await.is(200);
    server.restart().await;
    let body = json!({"worker": "w", "wait_ms": 20_000});
    let claimed = server.api().post("/v1/claims", body).await.is(200);
    assert_eq!(claimed["run"]["id"], json!(agent.run));
}

async fn everything_reads_the_same_after_a_restart(on: Engine) {
    let mut server = Server::start(on).await;
    let api = server.api();
    let agent = api
        .agent(json!({"state": {"n": 0}, "labels": {"k": "v"}, "input": [1]}))
        .await;
    agent
        .does(
            "one",
            json!({"result": 1, "state": {"n": 1}, "usage": {"cost_usd": 0.5}}),
        )
        .await;
    let seq = agent
        .executes("two", json!({"retry": {"max_attempts": 2}}))
        .await;
    agent
        .progress(
            seq,
            1,
            json!({"partial": 1, "log": [{"level": "info", "message": "m"}]}),
        )
        .await
        .is(204);
    agent.fail(seq, 1, json!({})).await.is(200);
    agent
        .begin("gate", json!({"kind": "gate", "gate": {"title": "?"}}))
        .await
        .is(200);
    agent.release(json!({})).await.is(200);
    let seen = async |server: &Server| {
        let api = server.api();
        let snapshots = json!([
            api.snapshot(&agent.run, 0).await,
            api.snapshot(&agent.run, 1).await
        ]);
        json!([
            api.facts(&agent.run).await,
            snapshots,
            api.events(0, None).await
        ])
    };
    let before = seen(&server).await;
    server.restart().await;
    assert_eq!(seen(&server).await, before);
}

/// Repeats are recognised by what is stored, not by what the process remembers.
async fn repeats_are_recognised_after_a_restart(on: Engine) {
    let mut server = Server::start(on).await;
    let agent = server.api().agent(json!({})).await;
    let begun = agent.begin("one", json!({})).await.is(200);
    server.restart().await;
    let agent = agent.through(&server.api());
    assert_eq!(agent.begin("one", json!({})).await.is(200), begun);
    let body = json!({"state": 1, "next": {"key": "two", "name": "two"}});
    let committed = agent.commit(1, 1, body.clone()).await.is(200);
    let failed = agent.fail(2, 1, json!({})).await.is(200);
    let key = json!({"agent": "a"});
    let made = agent
        .api
        .post_once("key-1", "/v1/runs", key.clone())
        .await
        .is(201);
    let released = agent.release(json!({})).await.is(200);
    server.restart().await;
    let agent = agent.through(&server.api());
    let again = agent.commit(1, 1, body).await.is(200);
    assert_eq!(again["snapshot"], committed["snapshot"]);
    assert_eq!(again["hash"], committed["hash"]);
    assert_eq!(
        again["next"]["code"], "lease_lost",
        "what follows is not to be executed any more"
    );
    assert_eq!(agent.fail(2, 1, json!({})).await.is(200), failed);
    assert_eq!(agent.release(json!({})).await.is(200), released);
    let again = agent.api.post_once("key-1", "/v1/runs", key).await;
    assert_eq!(again.body()["run"]["id"], made["run"]["id"]);
}

async fn a_server_that_is_told_to_stop_does_not_wait_for_its_watchers(on: Engine) {
    let mut server = Server::start(on).await;
    let api = server.api();
    let agent: Agent = api.agent(json!({})).await;
    let seq = agent.executes("one", json!({})).await;
    let mut stream = Stream::open(&api, "?after=0", None).await;
    stream.next().await.expect("an event");
    let waiting = tokio::spawn(async move {
        let body = json!({"worker": "w", "agents": ["nobody"], "wait_ms": 60_000});
        api.try_post("/v1/claims", &body)
            .await
            .map(|answer| answer.status)
    });
    pause(100).await;
    server.terminates_within(Duration::from_secs(20)).await;
    while stream.next().await.is_some() {}
    let _ = waiting.await;
    server.restart().await;
    let agent = agent.through(&server.api());
    agent.commit(seq, 1, json!({})).await.is(200);
}

both_engines!(
    a_restart_crashes_no_healthy_worker,
    a_restart_revives_no_worker_that_was_gone,
    a_worker_that_died_with_the_server_is_noticed_after_the_restart,
    a_run_that_slept_through_a_restart_wakes,
    everything_reads_the_same_after_a_restart,
    repeats_are_recognised_after_a_restart,
    a_server_that_is_told_to_stop_does_not_wait_for_its_watchers,
);
