//! Damage is never made good: a decision that would copy or seal a damaged row anew is refused, and leaves nothing.

use serde_json::{Value, json};

use super::flips::behind;
use crate::support::{Agent, Api, Engine, Server, both_engines, unique};

/// Three committed steps with all that a fork copies.
async fn history(api: &Api) -> Agent {
    let plan = json!([{"name": "load"}, {"name": "later"}]);
    let body = json!({"title": "Reconcile", "input": {"month": "2026-10"}, "state": {"n": 0}, "plan": plan});
    let agent = api.agent(body).await;
    for (i, name) in (1..).zip(["load", "match", "post"]) {
        let refs = json!({"refs": [{"uri": "file:a", "hash": "1"}], "input": {"page": i}});
        let seq = agent.executes(name, refs).await;
        let body = json!({"result": {"found": i}, "state": {"n": i}});
        agent.commit(seq, 1, body).await.is(200);
    }
    agent.release(json!({})).await.is(200);
    agent
}

/// Changes one row of a stopped store.
async fn damage(server: &Server, sql: &str) {
    let changed = behind(&server.store.url, sql.to_owned()).await;
    assert_eq!(changed, Some(1), "{sql}");
}

/// Refused as damaged at this place; the run has no more history than before.
async fn is_refused(api: &Api, agent: &Agent, body: Value, place: &str) {
    let before = api.events(0, Some(&agent.run)).await;
    let answer = api.decide(&agent.run, body).await;
    let told = (answer.status, answer.code());
    assert_eq!(told, (500, "corrupt".to_owned()), "{place}: {answer:?}");
    assert!(answer.text.contains(place), "{place}: {answer:?}");
    assert_eq!(api.events(0, Some(&agent.run)).await, before, "{place}");
}

/// What verification finds.
async fn damages(server: &Server) -> Value {
    let verified = server.store.command(&["verify", "--json"]).await;
    assert_eq!(verified.status.code(), Some(1), "{verified:?}");
    let found: Value = serde_json::from_slice(&verified.stdout).expect("JSON");
    found["damages"].clone()
}

async fn a_fork_copies_nothing_damaged(on: Engine) {
    let mut server = Server::start(on).await;
    let changes = [
        (
            "UPDATE steps SET name = 'pay' WHERE run = '{}' AND seq = 2",
            "step 2 of run",
        ),
        (
            r#"UPDATE steps SET result = '{"found":7}' WHERE run = '{}' AND seq = 2"#,
            "step 2 of run",
        ),
        (
            r#"UPDATE steps SET input = '{"page":7}' WHERE run = '{}' AND seq = 3"#,
            "step 3 of run",
        ),
        (
            "UPDATE steps SET links = '[1]' WHERE run = '{}' AND seq = 1",
            "step 1 of run",
        ),
        (
            "UPDATE attempts SET worker = 'eve' WHERE run = '{}' AND seq = 2",
            "seq 2, attempt 1",
        ),
        (
            "DELETE FROM attempts WHERE run = '{}' AND seq = 2",
            "step 2 of run",
        ),
        (
            "UPDATE announced SET name = 'pay' WHERE run = '{}' AND idx = 1",
            "a row of announced",
        ),
        (
            "UPDATE refs SET hash = '2' WHERE run = '{}'",
            "a row of refs",
        ),
        (
            "UPDATE terms SET term = 'zzz' WHERE term = 'reconcile' \
             AND ord = (SELECT ord FROM runs WHERE id = '{}')",
            "a row of terms",
        ),
        (
            "UPDATE runs SET input = replace(input, '-10', '-11') WHERE id = '{}'",
            "the input of run",
        ),
    ];
    let mut agents = Vec::new();
    for _ in &changes {
        agents.push(history(&server.api()).await);
    }
    server.kill();
    for (agent, (sql, _)) in agents.iter().zip(changes) {
        damage(&server, &sql.replace("{}", &agent.run)).await;
    }
    server.restart().await;
    let api = server.api();
    let found = damages(&server).await;
    for (agent, (_, place)) in agents.iter().zip(changes) {
        let id = unique("fork");
        let fork = json!({"kind": "fork", "new_run_id": id, "reason": "try"});
        is_refused(&api, agent, fork, place).await;
        api.get(&format!("/v1/runs/{id}"))
            .await
            .refused(404, "not_found");
    }
    assert_eq!(
        damages(&server).await,
        found,
        "what is damaged stays damaged"
    );
}

async fn a_fork_from_before_the_damage_is_the_way_out(on: Engine) {
    let mut server = Server::start(on).await;
    let agent = history(&server.api()).await;
    server.kill();
    let sql = format!(
        "UPDATE steps SET name = 'pay' WHERE run = '{}' AND seq = 3",
        agent.run
    );
    damage(&server, &sql).await;
    server.restart().await;
    let api = server.api();
    let mut fork = json!({"kind": "fork", "step": 2, "reason": "before it"});
    let refused = api.decide(&agent.run, fork.clone()).await;
    refused.refused(409, "decision_refused");
    // What the damaged step did is not known: it is accepted by its number.
    fork["again"] = json!([3]);
    let made = api.decide(&agent.run, fork).await.is(200);
    let id = made["run"]["id"].as_str().expect("an id");
    let verified = server.store.command(&["verify", id]).await;
    assert!(verified.status.success(), "{verified:?}");
    let next = api.lease(id, json!({})).await;
    assert_eq!(next.lease["state"], json!({"n": 1}));
}

/// Which effect a damaged step had is not known: it is left behind by name all the same.
async fn a_fork_leaves_no_damaged_effect_unnamed(on: Engine) {
    let mut server = Server::start(on).await;
    let agent = history(&server.api()).await;
    let next = server.api().lease(&agent.run, json!({})).await;
    let effect = json!({"effect": {"target": "card"}, "recovery": "ask"});
    next.executes("charge", effect).await;
    next.release(json!({})).await.is(200);
    server.kill();
    let sql = format!(
        "UPDATE steps SET status = 'drashed' WHERE run = '{}' AND seq = 4",
        agent.run
    );
    damage(&server, &sql).await;
    server.restart().await;
    let api = server.api();
    let mut fork = json!({"kind": "fork", "step": 4, "reason": "before it"});
    let refused = api.decide(&agent.run, fork.clone()).await;
    refused.refused(409, "decision_refused");
    fork["again"] = json!([4]);
    api.decide(&agent.run, fork).await.is(200);
}

/// A question whose row is damaged waits in nobody's way: the run goes on in a fork from before it.
async fn a_fork_from_before_a_damaged_gate_is_the_way_out(on: Engine) {
    let mut server = Server::start(on).await;
    let agent = history(&server.api()).await;
    let next = server.api().lease(&agent.run, json!({})).await;
    let gate = json!({"kind": "gate", "gate": {"title": "Go on?"}});
    next.begin("ask", gate).await.is(200);
    next.release(json!({})).await.is(200);
    server.kill();
    let sql = format!(
        "UPDATE steps SET name = 'tell' WHERE run = '{}' AND seq = 4",
        agent.run
    );
    damage(&server, &sql).await;
    server.restart().await;
    let fork = json!({"kind": "fork", "step": 4, "again": [4], "reason": "ask again"});
    server.api().decide(&agent.run, fork).await.is(200);
}

async fn a_rewind_past_a_damaged_step_does_not_seal_it_anew(on: Engine) {
    let mut server = Server::start(on).await;
    let agent = history(&server.api()).await;
    server.kill();
    let sql = format!(
        "UPDATE steps SET name = 'pay' WHERE run = '{}' AND seq = 2",
        agent.run
    );
    damage(&server, &sql).await;
    server.restart().await;
    let api = server.api();
    let found = damages(&server).await;
    let version = api.run(&agent.run).await["version"].clone();
    let rewind = json!({"kind": "rewind", "step": 1, "if_version": version, "reason": "again"});
    is_refused(&api, &agent, rewind, "step 2 of run").await;
    assert_eq!(damages(&server).await, found);
}

/// Met only while it is carried out: the decision is not in the history either.
async fn a_decision_that_meets_damage_midway_leaves_nothing(on: Engine) {
    let mut server = Server::start(on).await;
    let agent = server.api().agent(json!({})).await;
    let gate = json!({"kind": "gate", "gate": {"title": "Go on?"}});
    agent.begin("ask", gate).await.is(200);
    agent.release(json!({})).await.is(200);
    server.kill();
    let sql = format!(
        "UPDATE attempts SET worker = 'eve' WHERE run = '{}'",
        agent.run
    );
    damage(&server, &sql).await;
    server.restart().await;
    let api = server.api();
    let before = api.run(&agent.run).await;
    let approve =
        json!({"kind": "approve", "step": 1, "if_version": before["version"], "reason": "yes"});
    is_refused(&api, &agent, approve, "attempt 1 at step 1").await;
    assert_eq!(api.run(&agent.run).await, before);
}

both_engines!(
    a_fork_copies_nothing_damaged,
    a_fork_from_before_the_damage_is_the_way_out,
    a_fork_leaves_no_damaged_effect_unnamed,
    a_fork_from_before_a_damaged_gate_is_the_way_out,
    a_rewind_past_a_damaged_step_does_not_seal_it_anew,
    a_decision_that_meets_damage_midway_leaves_nothing,
);
