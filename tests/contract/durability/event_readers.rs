//! Events are not lost, doubled or reordered for a reader that reconnects, whoever writes meanwhile.

use serde_json::{Value, json};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use crate::support::{
    Api, Engine, Server, Stream, both_engines, campaigns, ids, is_strictly_rising, rounds, together,
};

/// Reads a few events, hangs up, and goes on with its cursor at another door, until the writers are done and it has all.
async fn hop(apis: Vec<Api>, header: bool, done: Arc<AtomicBool>) -> Vec<Value> {
    let mut seen: Vec<Value> = Vec::new();
    loop {
        let cursor = seen.last().map_or(0, |event| event["id"].as_i64().unwrap());
        let api = &apis[rand::random_range(0..apis.len())];
        let finished = done.load(Ordering::SeqCst);
        let mut stream = match header {
            true => Stream::open(api, "", Some(cursor)).await,
            false => Stream::open(api, &format!("?after={cursor}"), None).await,
        };
        for _ in 0..rand::random_range(1..60) {
            match stream.within(Duration::from_millis(700)).await {
                Some(Some(event)) => seen.push(event),
                _ if finished => return seen,
                _ => break,
            }
        }
    }
}

/// Reads page after page, as fast as it can.
async fn leaf(apis: Vec<Api>, done: Arc<AtomicBool>) -> Vec<Value> {
    let mut seen: Vec<Value> = Vec::new();
    let mut cursor = 0;
    loop {
        let finished = done.load(Ordering::SeqCst);
        let api = &apis[rand::random_range(0..apis.len())];
        let page = api.get(&format!("/v1/events?after={cursor}")).await.is(200);
        let events = page["events"].as_array().unwrap();
        if finished && events.is_empty() {
            return seen;
        }
        seen.extend(events.iter().cloned());
        cursor = page["next"].as_i64().unwrap();
    }
}

async fn write(apis: Vec<Api>) {
    together(8, |i| {
        let api = apis[i % apis.len()].clone();
        async move {
            let agent = api.agent(json!({})).await;
            for n in 0..rounds(25) {
                agent
                    .does(&format!("k{n}"), json!({"state": {"n": n}}))
                    .await;
            }
            agent.finish(json!({})).await.is(200);
        }
    })
    .await;
}

async fn a_reconnecting_reader_sees_each_event_once_and_in_order(on: Engine) {
    let first = Server::start(on).await;
    let second = match on {
        Engine::Postgres => Some(first.another().await),
        Engine::Sqlite => None,
    };
    let mut apis = vec![first.api()];
    apis.extend(second.as_ref().map(Server::api));
    let done = Arc::new(AtomicBool::new(false));
    let mut readers = Vec::new();
    for i in 0..6 {
        let (apis, done) = (apis.clone(), done.clone());
        readers.push(match i % 3 {
            0 => tokio::spawn(leaf(apis, done)),
            way => tokio::spawn(hop(apis, way == 1, done)),
        });
    }
    write(apis.clone()).await;
    done.store(true, Ordering::SeqCst);
    let all = apis[0].events(0, None).await;
    assert!(is_strictly_rising(&ids(&all)));
    assert!(
        all.len() >= 8 * (2 + 2 * rounds(25)),
        "{} events",
        all.len()
    );
    for reader in readers {
        let seen = reader.await.unwrap();
        assert_eq!(ids(&seen), ids(&all));
        assert_eq!(seen, all);
    }
}

async fn a_reader_finds_its_place_again_after_a_restart(on: Engine) {
    let mut server = Server::start(on).await;
    let agent = server.api().agent(json!({})).await;
    let mut seen = Vec::new();
    for n in 0..3 {
        let cursor = ids(&seen).last().copied().unwrap_or(0);
        let mut stream = Stream::open(&server.api(), "", Some(cursor)).await;
        let agent = agent.through(&server.api());
        agent.does(&format!("k{n}"), json!({"state": n})).await;
        let head = *ids(&server.api().events(0, None).await).last().unwrap();
        while ids(&seen).last().is_none_or(|last| *last < head) {
            seen.push(stream.next().await.expect("an event"));
        }
        server.restart().await;
    }
    assert_eq!(seen, server.api().events(0, None).await);
}

both_engines!(
    a_reconnecting_reader_sees_each_event_once_and_in_order,
    a_reader_finds_its_place_again_after_a_restart,
);

campaigns!(a_reconnecting_reader_sees_each_event_once_and_in_order);
