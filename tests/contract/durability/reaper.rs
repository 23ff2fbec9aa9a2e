//! Leases that run out are noticed by the server itself.

use serde_json::json;
use std::{collections::HashSet, time::Duration};

use crate::support::{Engine, Server, Stream, both_engines, ids};

async fn an_expired_lease_is_noticed_without_anyone_looking(on: Engine) {
    let api = on.shared().await;
    let held = api.agent(json!({"on_crash": "hold"})).await;
    let free = api.agent(json!({})).await;
    for (agent, becomes) in [(&held, "crashed"), (&free, "ready")] {
        agent.executes("one", json!({})).await;
        agent.heartbeat(json!({"ttl_ms": 1000})).await.is(200);
        let head = *ids(&api.events(0, Some(&agent.run)).await).last().unwrap();
        let mut stream = Stream::open(&api, &format!("?run={}", agent.run), Some(head)).await;
        let event = stream
            .within(Duration::from_secs(10))
            .await
            .expect("an event in time");
        assert_eq!(event.unwrap()["run"], json!(agent.run));
        assert_eq!(agent.status().await, becomes);
        assert_eq!(api.step(&agent.run, 1).await["status"], "crashed");
    }
}

async fn many_leases_that_expire_at_once_are_all_noticed(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let mut waiting = HashSet::new();
    for _ in 0..60 {
        let run = api.create(json!({})).await;
        let agent = api.lease(&run, json!({"ttl_ms": 2500})).await;
        agent.executes("one", json!({})).await;
        waiting.insert(json!(run));
    }
    let mut stream = Stream::open(&api, "", None).await;
    let mut noticed = HashSet::new();
    while noticed.len() < waiting.len() {
        let event = stream.next().await.expect("an event");
        if event["kind"] == "lease_ended" {
            noticed.insert(event["run"].clone());
        }
    }
    assert_eq!(noticed, waiting);
    for run in waiting {
        assert_eq!(api.status(run.as_str().unwrap()).await, "ready");
    }
}

async fn a_lease_that_is_renewed_is_never_taken(on: Engine) {
    let api = on.shared().await;
    let run = api.create(json!({})).await;
    let agent = api.lease(&run, json!({"ttl_ms": 1000})).await;
    let seq = agent.executes("one", json!({})).await;
    for _ in 0..12 {
        crate::support::pause(250).await;
        agent.heartbeat(json!({})).await.is(200);
    }
    agent.commit(seq, 1, json!({})).await.is(200);
    assert_eq!(api.run(&run).await["epoch"], json!(agent.epoch));
}

both_engines!(
    an_expired_lease_is_noticed_without_anyone_looking,
    many_leases_that_expire_at_once_are_all_noticed,
    a_lease_that_is_renewed_is_never_taken,
);
