//! Edits of the state: new snapshots, checked, never in place of the old.

use serde_json::{Value, json};

use super::{crashed, decides, resumes};
use crate::support::{Engine, both_engines, merged};

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

async fn an_edit_names_no_type_that_a_worker_would_make(on: Engine) {
    let api = on.shared().await;
    let said = json!({"$type": "messages:AI", "$ext": 5, "content": "hi"});
    let agent = api.agent(json!({"state": {"said": [said]}})).await;
    let seq = agent
        .executes("charge", json!({"effect": {"target": "bank"}}))
        .await;
    agent.release(json!({})).await.is(200);
    let system = json!({"$type": "os:system", "$ext": 1, "args": ["true"]});
    let before = agent.facts().await;
    let version = before["run"]["version"].clone();
    for (change, at) in [
        (
            json!({"patch": [{"op": "replace", "path": "/said/0/$type", "value": "os:system"}]}),
            "state/said/0",
        ),
        (
            json!({"patch": [{"op": "add", "path": "/said/-", "value": system}]}),
            "state/said/1",
        ),
        (
            json!({"patch": [{"op": "copy", "from": "/said/0", "path": "/said/-"}]}),
            "state/said/1",
        ),
        (
            json!({"state": {"said": [said], "new": {"$opaque": "gASV"}}}),
            "state/new",
        ),
    ] {
        for kind in [
            json!({"kind": "edit"}),
            json!({"kind": "retry", "step": seq}),
        ] {
            let body = merged(
                merged(kind, change.clone()),
                json!({"if_version": version, "reason": "r"}),
            );
            api.decide(&agent.run, body).await.bad_input(at);
        }
        let choice = merged(json!({"kind": "retry", "step": seq}), change);
        let body =
            json!({"kind": "resume", "choices": [choice], "if_version": version, "reason": "r"});
        api.decide(&agent.run, body).await.bad_input(at);
    }
    assert_eq!(agent.facts().await, before);
    let content = json!([{"op": "replace", "path": "/said/0/content", "value": "ho"}]);
    decides(&api, &agent.run, json!({"kind": "edit", "patch": content})).await;
    // The program itself names types.
    resumes(&api, &agent.run, json!([{"kind": "retry", "step": seq}])).await;
    let next = api.lease(&agent.run, json!({})).await;
    assert_eq!(next.lease["state"]["said"][0]["content"], "ho");
    let seq = next.executes("more", json!({})).await;
    let more = json!([{"op": "add", "path": "/said/-", "value": system}]);
    next.commit(seq, 1, json!({"patch": more})).await.is(200);
}

both_engines!(
    an_edit_names_no_type_that_a_worker_would_make,
    an_edit_appends_and_reaches_the_agent,
    a_bad_edit_is_refused_by_name_and_changes_nothing,
    a_run_that_a_worker_holds_is_not_edited,
);
