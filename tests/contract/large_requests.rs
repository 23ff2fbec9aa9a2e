//! Requests of a few megabytes that hold very many small values: bounded, and no other worker waits for them.

use serde_json::{Value, json};
use std::{env, time::Duration};
use tokio::{sync::watch, time::Instant};

use crate::support::{Agent, Api, Engine, Server, both_engines, campaigns, rounds, unique};

/// What 99 of 100 heartbeats may take at most beside large requests: asked of a release, by `cargo xtask torture`.
const BOUND: Duration = Duration::from_millis(200);

/// `[[],[],…]`: three bytes each, and each a value of its own.
fn small_ones(count: usize) -> Value {
    Value::from(vec![json!([]); count])
}

async fn more_than_a_million_values_are_too_many(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let id = unique("run");
    let many = small_ones(1_000_100);
    let body = json!({"id": id, "agent": "a", "input": many});
    let refused = api.post_large("/v1/runs", body).await;
    let problem = refused.refused(413, "too_large");
    assert_eq!(problem["limit"], 1_000_000);
    api.get(&format!("/v1/runs/{id}"))
        .await
        .refused(404, "not_found");
    // A few bytes that double themselves are no way around it.
    let agent = api.agent(json!({"state": {"a": [1, 2, 3, 4]}})).await;
    agent.executes("one", json!({})).await;
    let double = json!({"op": "copy", "from": "/a", "path": "/a/-"});
    let patch = vec![double; 18];
    let refused = agent.commit(1, 1, json!({"patch": patch})).await;
    assert_eq!(refused.refused(413, "too_large")["limit"], 1_000_000);
    agent.commit(1, 1, json!({})).await.is(200);
}

/// Beats until told to stop; answers how long each beat took.
async fn heart(agent: Agent, mut stop: watch::Receiver<bool>) -> Vec<Duration> {
    let mut took = Vec::new();
    while !*stop.borrow_and_update() {
        let began = Instant::now();
        agent.heartbeat(json!({})).await.is(200);
        took.push(began.elapsed());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    took.sort_unstable();
    took
}

/// Prints what the heartbeats took, fastest first; answers within what time 99 of 100 came.
fn report(took: &[Duration]) -> Duration {
    let at = |part: usize| took[(took.len() - 1) * part / 100];
    println!(
        "{} heartbeats, p50 {:?}, p99 {:?}, max {:?}",
        took.len(),
        at(50),
        at(99),
        at(100)
    );
    at(99)
}

/// A new run with a large input and state, begun and committed with a large result and another large state.
async fn one_large_run(api: Api, values: usize) {
    let id = unique("run");
    let body = json!({"id": id, "agent": "large", "input": small_ones(values), "state": {"a": small_ones(values)}});
    api.post_large("/v1/runs", body).await.is(201);
    let agent = api.lease(&id, json!({"ttl_ms": 60_000})).await;
    agent.executes("one", json!({})).await;
    let state = json!({"a": small_ones(values / 2), "b": small_ones(values / 2)});
    let body = agent.fenced(json!({"attempt": 1, "result": small_ones(values), "state": state}));
    api.post_large(&agent.at(1, "commit"), body).await.is(200);
}

async fn workers_keep_their_leases_beside_the_largest_requests(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let agent = api
        .lease(&api.create(json!({})).await, json!({"ttl_ms": 2_000}))
        .await;
    agent
        .executes("pay", json!({"effect": {"target": "bank"}}))
        .await;
    let (stop, stopped) = watch::channel(false);
    let beats = tokio::spawn(heart(agent.clone(), stopped));
    let values = rounds(150_000);
    let large = (0..3).map(|_| one_large_run(api.clone(), values.min(450_000)));
    futures::future::join_all(large).await;
    stop.send(true).expect("the heart listens");
    let took = beats.await.expect("no beat was refused");
    report(&took);
    agent.commit(1, 1, json!({})).await.is(200);
    assert_eq!(agent.status().await, "running");
}

/// A worker of a new run in which it committed the step `one` with this result.
async fn committed(api: &Api, result: &Value) -> Agent {
    let run = api.create(json!({})).await;
    let agent = api.lease(&run, json!({"ttl_ms": 3_600_000})).await;
    agent.executes("one", json!({})).await;
    let body = agent.fenced(json!({"attempt": 1, "result": result}));
    api.post_large(&agent.at(1, "commit"), body).await.is(200);
    agent
}

/// Begins the committed step again and again; each answer must have all of its result.
async fn replays(agent: Agent, result: String, times: usize) {
    let recorded = format!(r#""result":{result}"#);
    for _ in 0..times {
        let replayed = agent.begin("one", json!({})).await;
        // Not parsed: the test would take the core that the server works on.
        assert_eq!(replayed.status, 200);
        assert!(replayed.text.contains(r#""outcome":"replay""#));
        assert!(replayed.text.contains(&recorded), "another result");
    }
}

async fn workers_keep_their_leases_beside_replays_of_the_largest_results(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    // Long enough to have a transaction of its own, and in a campaign close to the limit.
    let result = small_ones(rounds(90_000).min(900_000));
    let mut replaying = Vec::new();
    for _ in 0..3 {
        replaying.push(committed(&api, &result).await);
    }
    let run = api.create(json!({})).await;
    let agent = api.lease(&run, json!({"ttl_ms": 2_000})).await;
    agent.executes("pay", json!({})).await;
    let (stop, stopped) = watch::channel(false);
    let beats = tokio::spawn(heart(agent.clone(), stopped));
    let text = result.to_string();
    let all = replaying.into_iter();
    let all = all.map(|agent| replays(agent, text.clone(), rounds(2)));
    futures::future::join_all(all).await;
    stop.send(true).expect("the heart listens");
    let took = beats.await.expect("no beat was refused");
    let p99 = report(&took);
    agent.commit(1, 1, json!({})).await.is(200);
    let timed = env::var_os("STEP47_TORTURE").is_some();
    assert!(!timed || p99 <= BOUND, "99 % took up to {p99:?}");
}

async fn a_long_result_is_the_same_wherever_it_is_replayed(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let long = json!({"receipts": small_ones(30_000), "none": null});
    let agent = committed(&api, &long).await;
    let replay = agent.begin("one", json!({})).await.is(200);
    assert_eq!(
        (&replay["outcome"], &replay["result"]),
        (&json!("replay"), &long)
    );
    // As the `next` of a commit, and of the same commit sent again.
    agent.executes("two", json!({})).await;
    let next = json!({"key": "one", "name": "one"});
    let commit = json!({"result": 2, "state": {"n": 2}, "next": next});
    let first = agent.commit(2, 1, commit.clone()).await.is(200);
    assert_eq!(first["next"]["result"], long);
    let again = agent.commit(2, 1, commit).await.is(200);
    assert_eq!(first, again);
    assert_eq!(api.run(&agent.run).await["snapshot"], 1);
    // What a failed attempt has left is handed to the next one.
    let retry = json!({"retry": {"max_attempts": 3, "backoff_ms": 1}});
    let seq = agent.executes("three", retry.clone()).await;
    let partial = json!({"partial": long});
    agent.progress(seq, 1, partial).await.is(204);
    agent.fail(seq, 1, json!({})).await.is(200);
    for _ in 0..2 {
        let begun = agent.begin("three", retry.clone()).await.is(200);
        assert_eq!((&begun["attempt"], &begun["partial"]), (&json!(2), &long));
    }
}

both_engines!(
    more_than_a_million_values_are_too_many,
    workers_keep_their_leases_beside_the_largest_requests,
    workers_keep_their_leases_beside_replays_of_the_largest_results,
    a_long_result_is_the_same_wherever_it_is_replayed,
);

campaigns!(workers_keep_their_leases_beside_replays_of_the_largest_results);
