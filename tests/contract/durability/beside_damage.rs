//! A damaged run is handed to nobody, and stands in nobody's way.

use serde_json::json;

use super::flips::behind;
use crate::support::{Engine, Server, both_engines, eventually};

/// Changes a run's row behind a stopped server's back: the server holds what it wrote last in memory.
async fn damaged(server: &mut Server, sql: &str, run: &str) {
    server.kill();
    let sql = sql.replace("{}", run);
    let changed = behind(&server.store.url, sql.clone()).await;
    assert_eq!(changed, Some(1), "{sql}");
    server.restart().await;
}

async fn a_worker_is_given_the_next_run_that_is_sound(on: Engine) {
    for sql in [
        "UPDATE runs SET title = 'Other' WHERE id = '{}'",
        "UPDATE runs SET input = '7' WHERE id = '{}'",
        "UPDATE snapshots SET weight = weight + 1 WHERE run = '{}'",
    ] {
        let mut server = Server::start(on).await;
        let older = server.api().create(json!({"state": {"n": 1}})).await;
        let younger = server.api().create(json!({"state": {"n": 2}})).await;
        damaged(&mut server, sql, &older).await;
        let api = server.api();
        let claimed = api.post("/v1/claims", json!({"worker": "w"})).await.is(200);
        assert_eq!(claimed["run"]["id"], json!(younger), "{sql}");
        api.post("/v1/claims", json!({"worker": "w"})).await.is(204);
    }
}

async fn a_lease_ends_beside_that_of_a_damaged_run(on: Engine) {
    let mut server = Server::start(on).await;
    let api = server.api();
    let mut runs = Vec::new();
    for _ in 0..2 {
        let run = api.create(json!({})).await;
        let agent = api.lease(&run, json!({"ttl_ms": 1000})).await;
        agent.executes("one", json!({})).await;
        runs.push(run);
    }
    let sql = "UPDATE steps SET name = 'other' WHERE run = '{}'";
    damaged(&mut server, sql, &runs[0]).await;
    let api = server.api();
    eventually("the sound run is free again", async || {
        (api.status(&runs[1]).await == "ready").then_some(())
    })
    .await;
    let listed = api.get("/v1/runs").await.is(200);
    assert_eq!(listed["runs"].as_array().map(Vec::len), Some(2), "{listed}");
}

both_engines! {
    a_worker_is_given_the_next_run_that_is_sound,
    a_lease_ends_beside_that_of_a_damaged_run,
}
