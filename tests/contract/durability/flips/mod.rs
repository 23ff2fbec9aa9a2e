//! Bits that flip anywhere: in the file of an embedded store, or in any column of either engine. Each is reported by
//! verification, or changes nothing that is ever read; and what it changed is never served as if it were good.

mod columns;
mod file;
pub mod served;

use serde_json::json;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, SqliteConnection};
use std::{fs, path::Path};
use step47::store::Store;

use crate::support::Server;
use served::Served;

/// Written again every second by whoever is alive; a wrong bit in them is overwritten, and no run relies on it.
const EPHEMERAL: [&str; 3] = ["servers", "workers", "worker_agents"];

/// Runs of every sort, so that every table has rows.
pub async fn history(server: &Server) {
    let api = server.api();
    let plan = json!([{"name": "load"}, {"key": "k2", "name": "charge"}, {"name": "later"}]);
    let agent = api
        .agent(
            json!({"title": "Reconcile invoices", "labels": {"team": "billing"}, "plan": plan,
            "input": {"month": "2026-10"}, "state": {"messages": []},
            "links": [{"label": "ticket", "url": "https://example.com/1"}]}),
        )
        .await;
    for i in 1..=12 {
        let message = format!("message {i}: {}", "paid in full. ".repeat(i * 3));
        let patch = json!([{"op": "add", "path": "/messages/-", "value": message}]);
        let usage = json!({"input_tokens": 10 * i, "output_tokens": i, "cost_usd": 0.25});
        agent
            .does(
                &format!("k{i}"),
                json!({"result": {"ok": i}, "patch": patch, "usage": usage}),
            )
            .await;
    }
    let effect = json!({"target": "bank", "description": "pays"});
    let seq = agent
        .executes(
            "pay",
            json!({"effect": effect, "refs": [{"uri": "file:a", "hash": "1"}]}),
        )
        .await;
    let log = json!([{"level": "info", "message": "calling the bank"}]);
    agent
        .progress(seq, 1, json!({"partial": {"sent": true}, "log": log}))
        .await
        .is(204);
    let error = json!({"kind": "Bank", "message": "no answer"});
    agent
        .fail(seq, 1, json!({"error": error, "effect": "none"}))
        .await
        .is(200);
    let gate = json!({"kind": "gate", "gate": {"title": "Go on?", "choices": ["yes", "no"]}});
    agent.begin("ask", gate).await.is(200);
    agent.release(json!({})).await.is(200);
    api.decide(
        &agent.run,
        json!({"kind": "note", "text": "looked at it", "reason": "to know"}),
    )
    .await
    .is(200);
    let crashed = api
        .agent(json!({"title": "Refund", "state": {"owed": 7}}))
        .await;
    let milestone = json!({"kind": "milestone"});
    let seq = crashed.executes("looked-up", milestone).await;
    let tag = json!({"space": "graph", "id": "looked-up", "meta": {"step": 1}});
    crashed
        .commit(seq, 1, json!({"state": {"owed": 9}, "tag": tag}))
        .await
        .is(200);
    let effect = json!({"effect": {"target": "card", "description": "refunds"}, "recovery": "ask"});
    let seq = crashed.executes("refund", effect).await;
    crashed
        .fail(seq, 1, json!({"effect": "unknown"}))
        .await
        .is(200);
    crashed.release(json!({})).await.is(200);
    let version = &api.run(&crashed.run).await["version"];
    let edit = json!({"kind": "edit", "if_version": version, "reason": "it was seven", "state": {"owed": 7}});
    api.decide(&crashed.run, edit).await.is(200);
    let other = api.agent(json!({"state": {"n": 0}})).await;
    other
        .does(
            "one",
            json!({"result": 1, "state": {"n": 1, "text": "x".repeat(600)}}),
        )
        .await;
    // More than a timeline draws one by one.
    for i in 2..=44 {
        let key = format!("s{i}");
        other.begin(&key, json!({"name": "s"})).await.is(200);
        other.commit(i, 1, json!({})).await.is(200);
    }
    other.finish(json!({"result": {"total": 7}})).await.is(200);
    api.post_once("idem-1", "/v1/runs", json!({"agent": "once"}))
        .await
        .is(201);
    server
        .store
        .command(&["user", "add", "ana", "--role", "operator"])
        .await;
}

/// The file of a stopped store, its log folded in.
pub async fn settled(url: &str) -> Vec<u8> {
    let file = url.strip_prefix("sqlite:").expect("an embedded store");
    let mut connection = SqliteConnection::connect(url).await.expect("the store");
    let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
    connection.execute(checkpoint).await.expect("a checkpoint");
    connection.close().await.expect("closed");
    fs::read(file).expect("the file")
}

/// Puts these bytes where a store is looked for.
fn place(file: &Path, bytes: &[u8]) {
    for rest in ["-wal", "-shm"] {
        let mut name = file.as_os_str().to_owned();
        name.push(rest);
        let _ = fs::remove_file(name);
    }
    fs::write(file, bytes).expect("the file");
}

/// What a store says of itself: the damages that verification finds, or why it could not even look; and, if it is
/// damaged, all that it serves nevertheless.
pub async fn found(url: &str) -> (Vec<String>, Served) {
    let store = match Store::connect(url, 16 << 20).await {
        Ok(store) => store,
        Err(error) => return (vec![error.to_string()], Served::default()),
    };
    let damages = match store.verify(None, &mut |_| {}).await {
        Ok(verified) => verified.damages.iter().map(|it| it.to_string()).collect(),
        Err(error) => vec![error.to_string()],
    };
    let served = match damages.is_empty() {
        true => Served::default(),
        false => Served::by(&store).await,
    };
    store.close().await;
    (damages, served)
}

/// All that a store serves which nothing happened to.
async fn unharmed(url: &str) -> Served {
    let store = Store::connect(url, 16 << 20).await.expect("the store");
    let verified = store.verify(None, &mut |_| {}).await.expect("verified");
    assert_eq!(verified.damages, [], "nothing is flipped yet");
    let (served, again) = (Served::by(&store).await, Served::by(&store).await);
    assert_eq!(again.wrong(&served), None, "what is served stays the same");
    served.is_whole();
    store.close().await;
    served
}

/// Runs a statement behind the server's back; `None` where the database refuses it.
pub async fn behind(url: &str, sql: String) -> Option<u64> {
    let sql = AssertSqlSafe(sql);
    match url.starts_with("sqlite:") {
        true => {
            let mut connection = SqliteConnection::connect(url).await.expect("the store");
            let done = connection.execute(sql).await.ok()?.rows_affected();
            connection.close().await.expect("closed");
            Some(done)
        }
        false => {
            let mut connection = PgConnection::connect(url).await.expect("the store");
            Some(connection.execute(sql).await.ok()?.rows_affected())
        }
    }
}
