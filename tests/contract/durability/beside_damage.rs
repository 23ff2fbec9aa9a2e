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

/// The plan never says of a damaged step that its result is replayed.
async fn a_plan_names_a_damaged_step_and_refuses_to_resume_over_it(on: Engine) {
    let mut server = Server::start(on).await;
    let api = server.api();
    let run = api.create(json!({"on_crash": "hold"})).await;
    let agent = api.lease(&run, json!({})).await;
    for key in ["one", "two", "three"] {
        agent.does(key, json!({"result": 1})).await;
    }
    agent.executes("four", json!({})).await;
    agent.release(json!({})).await.is(200);
    let sql = "UPDATE steps SET name = 'other' WHERE run = '{}' AND seq = 2";
    damaged(&mut server, sql, &run).await;
    let api = server.api();
    let plan = api.get(&format!("/v1/runs/{run}/plan")).await.is(200);
    assert_eq!(plan["integrity"]["damaged"], json!([2]), "{plan}");
    let steps = plan["steps"].as_array().expect("lines");
    let seqs: Vec<_> = steps.iter().map(|step| step["seq"].clone()).collect();
    assert_eq!(json!(seqs), json!([1, 3, 4]), "{plan}");
    let refused = plan["refused"].as_str().expect("a reason");
    assert!(refused.contains("step 2 is damaged"), "{refused}");
    for hash in [plan["hash"].clone(), json!(null)] {
        let mut resume =
            json!({"kind": "resume", "if_version": plan["version"], "reason": "go on"});
        if hash.is_string() {
            resume["plan"] = hash;
        }
        let answer = api.decide(&run, resume).await;
        let told = (answer.status, answer.code());
        assert_eq!(told, (500, "corrupt".to_owned()), "{answer:?}");
    }
}

/// A step that was announced is damaged: the run's page, its leases and its decisions do without its status.
async fn a_damaged_step_that_was_announced_does_not_take_its_run_down(on: Engine) {
    let mut server = Server::start(on).await;
    let api = server.api();
    let plan = json!([{"name": "load"}, {"name": "later"}]);
    let run = api.create(json!({"plan": plan})).await;
    let agent = api.lease(&run, json!({})).await;
    let seq = agent.executes("a", json!({"name": "load"})).await;
    agent.commit(seq, 1, json!({})).await.is(200);
    agent.release(json!({})).await.is(200);
    let sql = "UPDATE steps SET status = 'skipped' WHERE run = '{}'";
    damaged(&mut server, sql, &run).await;
    let api = server.api();
    let known = api.run(&run).await;
    assert_eq!(known["plan"][0]["damaged"], true, "{known}");
    api.lease(&run, json!({})).await;
}

/// The row of one person is damaged: it lets nobody in, the others stay, and the server starts.
async fn a_damaged_person_keeps_nobody_else_out(on: Engine) {
    let mut server = Server::start(on).await;
    let added = ["user", "add", "ana", "--role", "operator"];
    let told = server.store.command(&added).await;
    assert!(told.status.success(), "{told:?}");
    damaged(
        &mut server,
        "UPDATE users SET role = 'viewer' WHERE name = '{}'",
        "ana",
    )
    .await;
    let listed = server.store.command(&["user", "list"]).await;
    assert!(listed.status.success(), "{listed:?}");
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(
        listed.contains("admin") && !listed.contains("ana"),
        "{listed}"
    );
}

both_engines! {
    a_plan_names_a_damaged_step_and_refuses_to_resume_over_it,
    a_damaged_step_that_was_announced_does_not_take_its_run_down,
    a_damaged_person_keeps_nobody_else_out,
    a_worker_is_given_the_next_run_that_is_sound,
    a_lease_ends_beside_that_of_a_damaged_run,
}
