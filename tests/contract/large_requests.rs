//! Requests of a few megabytes that hold very many small values: bounded, and no other worker waits for them.

use serde_json::{Value, json};
use std::time::Duration;
use tokio::{sync::watch, time::Instant};

use crate::support::{Agent, Engine, Server, both_engines, rounds, unique};

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

/// A new run with a large input and state, begun and committed with a large result and another large state.
async fn one_large_run(api: crate::support::Api, values: usize) {
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
    let at = |part: usize| took[(took.len() - 1) * part / 100];
    println!(
        "{} heartbeats, p50 {:?}, p99 {:?}, max {:?}",
        took.len(),
        at(50),
        at(99),
        at(100)
    );
    agent.commit(1, 1, json!({})).await.is(200);
    assert_eq!(agent.status().await, "running");
}

both_engines!(
    more_than_a_million_values_are_too_many,
    workers_keep_their_leases_beside_the_largest_requests,
);
