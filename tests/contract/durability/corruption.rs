//! Corruption is noticed: a flipped bit is reported with its place, never served as good data.

use serde_json::json;

use super::flips::behind;
use crate::support::{Agent, Answer, Engine, Server, both_engines, flip, flipped, unique};
use step47::{
    domain::{Code, RunId},
    store::Store,
};

/// Short enough to be kept as it is, and found again on disk.
pub fn marker() -> String {
    let id = unique("");
    format!("mark{}", &id[id.len() - 12..])
}

/// Three snapshots; the marker is in the state of `n`.
pub async fn history(server: &Server, n: i64, marker: &str) -> Agent {
    let agent = server.api().agent(json!({"state": {"n": 0}})).await;
    for i in 1..=3 {
        let state = if i == n {
            json!({"n": i, "m": marker})
        } else {
            json!({"n": i})
        };
        agent
            .does(&format!("k{i}"), json!({"result": i, "state": state}))
            .await;
    }
    agent
}

/// Stops the server, flips a bit of the marker, and starts it again.
async fn tamper(server: &mut Server, marker: &str) {
    server.kill();
    let places = flip(&server.store.url, marker).await;
    assert!(places > 0, "the marker is not in the store as it was sent");
    server.restart().await;
}

/// Not the tampered value, whatever else is said.
#[track_caller]
fn is_noticed(answer: &Answer, marker: &str) {
    assert!(
        !answer.text.contains(&flipped(marker)),
        "served as good: {answer:?}"
    );
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (500, "corrupt"),
        "{answer:?}"
    );
    assert!(
        answer.content_type.starts_with("application/problem+json"),
        "{answer:?}"
    );
}

async fn a_flipped_bit_in_a_state_is_reported_with_the_last_good_one(on: Engine) {
    let mut server = Server::start(on).await;
    let marker = marker();
    let agent = history(&server, 2, &marker).await;
    tamper(&mut server, &marker).await;
    let api = server.api();
    let broken = api.get(&agent.path("snapshots/2")).await;
    is_noticed(&broken, &marker);
    assert_eq!(broken.body()["snapshot"], 2, "{broken:?}");
    assert_eq!(broken.body()["last_good"], 1, "{broken:?}");
    assert_eq!(api.snapshot(&agent.run, 1).await["state"], json!({"n": 1}));
    assert_eq!(api.snapshot(&agent.run, 0).await["state"], json!({"n": 0}));
    let later = api.get(&agent.path("snapshots/3")).await;
    match later.status {
        200 => assert_eq!(later.body()["state"], json!({"n": 3})),
        _ => is_noticed(&later, &marker),
    }
}

async fn a_broken_state_is_never_handed_to_a_worker(on: Engine) {
    let mut server = Server::start(on).await;
    let marker = marker();
    let agent = history(&server, 3, &marker).await;
    agent.release(json!({})).await.is(200);
    tamper(&mut server, &marker).await;
    let api = server.api();
    let lease = api.post(&agent.path("lease"), json!({"worker": "w"})).await;
    is_noticed(&lease, &marker);
    let claim = api.post("/v1/claims", json!({"worker": "w"})).await;
    assert!(!claim.text.contains(&flipped(&marker)), "{claim:?}");
}

async fn a_broken_state_is_never_built_upon(on: Engine) {
    let mut server = Server::start(on).await;
    let marker = marker();
    let agent = history(&server, 3, &marker).await;
    let seq = agent.executes("k4", json!({})).await;
    tamper(&mut server, &marker).await;
    let agent = agent.through(&server.api());
    let patch = json!([{"op": "add", "path": "/p", "value": 1}]);
    is_noticed(
        &agent.commit(seq, 1, json!({"patch": patch})).await,
        &marker,
    );
}

async fn a_flipped_bit_in_a_result_is_never_served(on: Engine) {
    let mut server = Server::start(on).await;
    let marker = marker();
    let agent = server.api().agent(json!({})).await;
    agent
        .does("one", json!({"result": {"receipt": marker}}))
        .await;
    tamper(&mut server, &marker).await;
    let agent = agent.through(&server.api());
    is_noticed(&agent.api.get(&agent.path("steps/1")).await, &marker);
    is_noticed(&agent.begin("one", json!({})).await, &marker);
}

/// A long result is read before the transaction, and its damage refuses the begin, or the commit around it, all the same.
async fn a_flipped_bit_in_a_long_result_is_never_replayed(on: Engine) {
    let mut server = Server::start(on).await;
    let marker = marker();
    let agent = server.api().agent(json!({})).await;
    let long = json!({"receipt": marker, "lines": vec![json!([]); 100_000]});
    agent.does("one", json!({"result": long})).await;
    agent.executes("two", json!({})).await;
    tamper(&mut server, &marker).await;
    let agent = agent.through(&server.api());
    let events = agent.api.events(0, Some(&agent.run)).await;
    is_noticed(&agent.begin("one", json!({})).await, &marker);
    let next = json!({"key": "one", "name": "one"});
    let body = json!({"state": {"n": 1}, "next": next});
    is_noticed(&agent.commit(2, 1, body).await, &marker);
    assert_eq!(agent.api.events(0, Some(&agent.run)).await, events);
    agent.commit(2, 1, json!({"state": {"n": 1}})).await.is(200);
}

async fn a_flipped_bit_in_an_error_is_never_served(on: Engine) {
    let mut server = Server::start(on).await;
    let marker = marker();
    let agent = server.api().agent(json!({})).await;
    agent.executes("one", json!({})).await;
    let error = json!({"kind": "Bank", "message": marker});
    agent.fail(1, 1, json!({"error": error})).await.is(200);
    tamper(&mut server, &marker).await;
    let agent = agent.through(&server.api());
    is_noticed(&agent.api.get(&agent.path("steps/1")).await, &marker);
    is_noticed(&agent.begin("one", json!({})).await, &marker);
}

async fn a_flipped_bit_in_a_runs_outcome_is_never_served(on: Engine) {
    for outcome in ["done", "failed"] {
        let mut server = Server::start(on).await;
        let marker = marker();
        let agent = server.api().agent(json!({})).await;
        let error = json!({"kind": "Budget", "message": marker});
        let body = match outcome {
            "done" => json!({"result": {"total": marker}}),
            _ => json!({"outcome": "failed", "error": error}),
        };
        agent.finish(body).await.is(200);
        tamper(&mut server, &marker).await;
        is_noticed(
            &server.api().get(&format!("/v1/runs/{}", agent.run)).await,
            &marker,
        );
    }
}

async fn a_flipped_bit_in_an_event_is_never_served(on: Engine) {
    let mut server = Server::start(on).await;
    let marker = marker();
    let agent = server.api().agent(json!({"agent": marker})).await;
    let told = server
        .api()
        .get(&format!("/v1/events?after=0&run={}", agent.run))
        .await;
    if !told.text.contains(&marker) {
        return;
    }
    tamper(&mut server, &marker).await;
    let api = server.api();
    is_noticed(
        &api.get(&format!("/v1/events?after=0&run={}", agent.run))
            .await,
        &marker,
    );
    is_noticed(&api.get("/v1/events?after=0").await, &marker);
}

/// A step that committed nothing shows the state it began from, which its last attempt names.
async fn a_lost_attempt_lets_no_older_state_pass_for_its_own(on: Engine) {
    let mut server = Server::start(on).await;
    let agent = server.api().agent(json!({"state": {"n": 0}})).await;
    agent.does("one", json!({"state": {"n": 1}})).await;
    agent.executes("two", json!({})).await;
    agent.release(json!({})).await.is(200);
    server.kill();
    let run: RunId = agent.run.parse().expect("an id");
    let shown = async || {
        let store = Store::open(&server.store.url).await.expect("the store");
        let shown = store.state_after(&run, 2).await;
        store.close().await;
        shown
    };
    assert_eq!(shown().await.expect("a state").snapshot, 1);
    let gone = format!("DELETE FROM attempts WHERE run = '{run}' AND seq = 2");
    assert_eq!(behind(&server.store.url, gone).await, Some(1));
    let refused = shown().await.expect_err("not an older state");
    assert_eq!(refused.code, Code::Corrupt, "{refused}");
}

both_engines!(
    a_lost_attempt_lets_no_older_state_pass_for_its_own,
    a_flipped_bit_in_a_state_is_reported_with_the_last_good_one,
    a_broken_state_is_never_handed_to_a_worker,
    a_broken_state_is_never_built_upon,
    a_flipped_bit_in_a_result_is_never_served,
    a_flipped_bit_in_a_long_result_is_never_replayed,
    a_flipped_bit_in_an_error_is_never_served,
    a_flipped_bit_in_a_runs_outcome_is_never_served,
    a_flipped_bit_in_an_event_is_never_served,
);
