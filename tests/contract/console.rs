//! What the console itself sends: edits as large as a state may be, and refusals that name the field.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Api, Engine, Server, both_engines};

const MIB: usize = 1 << 20;

/// A crashed run, and its version.
async fn stopped(api: &Api) -> (String, Value) {
    let agent = api.agent(json!({"state": {"text": ""}})).await;
    agent.executes("one", json!({})).await;
    agent.release(json!({})).await.is(200);
    let version = api.run(&agent.run).await["version"].clone();
    (agent.run, version)
}

fn edit(run: &str, version: &Value, bytes: usize) -> Value {
    let state = json!({"text": "x".repeat(bytes)});
    json!({"run": run, "body": {"kind": "edit", "if_version": version, "reason": "why", "state": state}})
}

/// As a browser without WASM posts it.
async fn form(api: &Api, path: &str, fields: String) -> Answer {
    let request = api.request(Method::POST, path);
    let request = request
        .header("content-type", "application/x-www-form-urlencoded")
        .header("connection", "close")
        .header("accept", "application/json")
        .body(fields);
    Answer::try_to(request, format!("POST {path}"))
        .await
        .unwrap_or_else(|e| panic!("{path}: {e:?}"))
}

async fn an_edit_of_almost_sixteen_mib_is_saved(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let (run, version) = stopped(&api).await;
    let order = edit(&run, &version, 159 * MIB / 10);
    let wanted = &order["body"]["state"];
    api.post_large("/api/decisions/decide", order.clone())
        .await
        .is(200);
    let saved = api.run(&run).await;
    let n = saved["snapshot"].as_i64().expect("a snapshot");
    assert!(
        api.snapshot(&run, n).await["state"] == *wanted,
        "it is what was sent"
    );

    let text = "y".repeat(3 * MIB);
    let version = &saved["version"];
    let fields = format!("version={version}&path=/text&state=%22{text}%22&reason=why");
    form(&api, &format!("/runs/{run}/edit"), fields)
        .await
        .is(200);
    let state = &api.snapshot(&run, n + 1).await["state"];
    assert!(state["text"] == text, "a plain form saves it, too");
}

async fn what_is_larger_than_a_body_may_be_is_too_large(on: Engine) {
    let server = Server::start_with(on, "body_max = 3000000").await;
    let api = server.api();
    let (run, version) = stopped(&api).await;
    let order = edit(&run, &version, 3 * MIB);
    let refused = api.post_large("/api/decisions/decide", order).await;
    let refused = refused.refused(413, "too_large");
    assert_eq!(refused["path"], "body", "{refused}");
    assert_eq!(refused["limit"], 3_000_000, "{refused}");
    let fields = format!(
        "version={version}&path=&reason=why&state=%22{}%22",
        "x".repeat(3 * MIB)
    );
    let refused = form(&api, &format!("/runs/{run}/edit"), fields).await;
    refused.refused(413, "too_large");
    assert_eq!(api.run(&run).await["version"], version, "nothing was saved");
}

async fn malformed_arguments_are_refused_by_name(on: Engine) {
    let api = on.shared().await;
    for (path, arguments, field) in [
        ("/api/runs/one", r#"{"id": 5}"#, "id"),
        ("/api/runs/one", r#"{"id": ""}"#, "id"),
        ("/api/runs/one", "{}", "body"),
        ("/api/runs/one", "[]", ""),
        ("/api/runs/one", "", ""),
        ("/api/runs/one", "{", ""),
        ("/api/runs/one", "\"\\ud800\"", ""),
        ("/api/steps/page", r#"{"run": "r", "after": "x"}"#, "after"),
        ("/api/steps/page", r#"{"run": "r", "after": 1e99}"#, "after"),
        (
            "/api/steps/problem",
            r#"{"run": "r", "seq": 1, "direction": 7}"#,
            "direction",
        ),
        (
            "/api/decisions/decide",
            r#"{"run": "r", "body": {"kind": "explode"}}"#,
            "body.kind",
        ),
        (
            "/api/decisions/decide",
            r#"{"run": "r", "body": 1}"#,
            "body",
        ),
        (
            "/api/access/change",
            r#"{"change": {"change": "add_user", "name": "x", "role": "king"}}"#,
            "change",
        ),
    ] {
        let answer = api.post_bytes(path, arguments.into()).await;
        answer.bad_input(field);
    }
    let answer = api
        .post_bytes("/api/runs/one", b"{\"id\": \"\xff\"}".to_vec())
        .await;
    answer.bad_input("");
}

both_engines!(
    an_edit_of_almost_sixteen_mib_is_saved,
    what_is_larger_than_a_body_may_be_is_too_large,
    malformed_arguments_are_refused_by_name,
);
