//! Edits of the state: new snapshots, checked, never in place of the old.

use serde_json::{Value, json};

use super::{crashed, decides, resumes};
use crate::support::{Engine, both_engines};

async fn an_edit_appends_and_reaches_the_agent(on: Engine) {
    let api = on.shared().await;
    let (agent, seq) = crashed(&api, 2).await;
    let patch = json!([{"op": "replace", "path": "/n", "value": 40}]);
    let answer = decides(&api, &agent.run, json!({"kind": "edit", "patch": patch})).await;
    assert_eq!(answer["decision"]["snapshot"], 3);
    let answer = decides(
        &api,
        &agent.run,
        json!({"kind": "edit", "state": {"n": 41, "by": "ana"}}),
    )
    .await;
    assert_eq!(answer["run"]["snapshot"], 4);
    for (n, state) in [
        (2, json!({"n": 2})),
        (3, json!({"n": 40})),
        (4, json!({"n": 41, "by": "ana"})),
    ] {
        assert_eq!(api.snapshot(&agent.run, n).await["state"], state);
    }
    resumes(&api, &agent.run, json!([{"kind": "retry", "step": seq}])).await;
    let next = api.lease(&agent.run, json!({})).await;
    assert_eq!(next.lease["state"], json!({"n": 41, "by": "ana"}));
    assert_eq!(
        next.begin("s0", json!({})).await.is(200)["result"],
        0,
        "replay changes no state"
    );
    let plan = api.get(&agent.path("plan")).await.is(200);
    let edited: Vec<_> = plan["steps"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|it| it["edits"].as_array().cloned().unwrap_or_default())
        .collect();
    assert_eq!(edited.len(), 2, "{plan}");
    assert_eq!(edited[0]["reason"], "I looked");
}

async fn a_bad_edit_is_refused_by_name_and_changes_nothing(on: Engine) {
    let api = on.shared().await;
    let schema =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let agent = api
        .agent(json!({"state": {"n": 0}, "state_schema": schema}))
        .await;
    agent.release(json!({})).await.is(200);
    let before = agent.facts().await;
    let version = before["run"]["version"].clone();
    let path = agent.path("decisions");
    let edit =
        |more: &str| format!(r#"{{"kind": "edit", "if_version": {version}, {more}}}"#).into_bytes();
    api.post_bytes(&path, edit(r#""state": {"n": "#))
        .await
        .refused(400, "malformed");
    api.post_bytes(&path, edit("\"state\": {\"n\": 1, \"t\": \"\\u0000\"}"))
        .await
        .bad_input("");
    api.post_bytes(&path, edit(r#""state": {"n": "one"}"#))
        .await
        .bad_input("state/n");
    api.post_bytes(&path, edit(r#""patch": [{"op": "remove", "path": "/n"}]"#))
        .await
        .bad_input("state");
    let missing = api
        .post_bytes(
            &path,
            edit(r#""patch": [{"op": "remove", "path": "/nope"}]"#),
        )
        .await;
    assert_eq!(missing.refused(422, "patch_failed")["path"], "/nope");
    api.post_bytes(&path, edit(r#""reason": "no state""#))
        .await
        .bad_input("state");
    let both = edit(r#""state": {"n": 1}, "patch": []"#);
    api.post_bytes(&path, both).await.bad_input("patch");
    let large = json!({"kind": "edit", "if_version": version, "state": {"n": 1, "t": "x".repeat(17 << 20)}});
    api.post_large(&path, large).await.refused(413, "too_large");
    assert_eq!(agent.facts().await, before);
}

async fn a_run_that_a_worker_holds_is_not_edited(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let version = api.run(&agent.run).await["version"].clone();
    let body = json!({"kind": "edit", "if_version": version, "state": {}});
    let why = api
        .decide(&agent.run, body)
        .await
        .refused(409, "decision_refused")["why"]
        .clone();
    assert_eq!(why, Value::from("a worker holds the run: pause it first"));
}

both_engines!(
    an_edit_appends_and_reaches_the_agent,
    a_bad_edit_is_refused_by_name_and_changes_nothing,
    a_run_that_a_worker_holds_is_not_edited,
);
