//! `POST /v1/runs`: one run per id, whatever is sent again.

use serde_json::{Value, json};

use crate::support::{Engine, both_engines, is_time, together, unique};

async fn a_new_run_is_pending_and_shows_what_was_sent(on: Engine) {
    let api = on.shared().await;
    let id = unique("run");
    let body = json!({
        "id": id, "agent": "invoices", "title": "Invoices of March", "version": "1.4.2", "model": "m-7",
        "input": {"month": 3}, "state": {"seen": []}, "labels": {"team": "billing"},
        "links": [{"label": "ticket", "url": "https://example.org/t/1"}],
        "on_crash": "hold", "max_recoveries": 7,
        "state_schema": {"type": "object"},
    });
    let run = api.post("/v1/runs", body).await.is(201)["run"].clone();
    assert_eq!(run["id"], json!(id));
    assert_eq!(run["status"], "pending");
    assert_eq!(run["agent"], "invoices");
    assert_eq!(run["title"], "Invoices of March");
    assert_eq!(run["code_version"], "1.4.2");
    assert_eq!(run["model"], "m-7");
    assert_eq!(run["input"], json!({"month": 3}));
    assert_eq!(run["labels"], json!({"team": "billing"}));
    assert_eq!(run["links"][0]["url"], "https://example.org/t/1");
    assert_eq!(run["on_crash"], "hold");
    assert_eq!(run["max_recoveries"], 7);
    assert_eq!(run["snapshot"], 0);
    assert!(is_time(&run["created_at"]), "{run}");
    assert_eq!(run, api.run(&id).await, "the answer is the run");
    let initial = api.snapshot(&id, 0).await;
    assert_eq!(initial["state"], json!({"seen": []}));
    assert_eq!(initial["hash"], run["hash"]);
    assert!(is_time(&initial["created_at"]), "{initial}");
}

async fn the_smallest_run_has_an_empty_state_and_the_defaults(on: Engine) {
    let api = on.shared().await;
    let id = api.create(json!({})).await;
    let run = api.run(&id).await;
    assert_eq!(run["on_crash"], "resume");
    assert_eq!(run["max_recoveries"], 3);
    assert_eq!(api.snapshot(&id, 0).await["state"], json!({}));
}

async fn a_repeat_of_create_gets_the_run_and_changes_nothing(on: Engine) {
    let api = on.shared().await;
    let id = unique("run");
    let body = json!({"id": id, "agent": "a", "input": [1], "state": {"n": 1}, "title": "first"});
    let first = api.post("/v1/runs", body.clone()).await.is(201);
    let before = api.facts(&id).await;
    assert_eq!(api.post("/v1/runs", body).await.is(200), first);
    let rest = json!({
        "id": id, "agent": "a", "input": [1], "state": {"n": 1}, "title": "second", "version": "9", "model": "x",
        "labels": {"k": "v"}, "on_crash": "hold", "max_recoveries": 0, "plan": [{"name": "p"}],
    });
    let again = api.post("/v1/runs", rest).await.is(200);
    assert_eq!(again, first, "the rest of a repeat is ignored");
    assert_eq!(api.facts(&id).await, before);
}

async fn a_repeat_of_create_shows_the_run_as_it_is_now(on: Engine) {
    let api = on.shared().await;
    let id = unique("run");
    let body = json!({"id": id, "agent": "a", "state": {"n": 0}});
    api.post("/v1/runs", body.clone()).await.is(201);
    let agent = api.lease(&id, json!({})).await;
    agent.does("one", json!({"state": {"n": 1}})).await;
    let again = api.post("/v1/runs", body).await.is(200);
    assert_eq!(again["run"]["status"], "running");
    assert_eq!(again["run"]["snapshot"], 1);
}

async fn an_id_with_another_agent_input_or_state_is_a_conflict(on: Engine) {
    let api = on.shared().await;
    let id = unique("run");
    let body = json!({"id": id, "agent": "a", "input": {"x": 1}, "state": {"n": 1}});
    api.post("/v1/runs", body.clone()).await.is(201);
    let before = api.facts(&id).await;
    for (field, other) in [
        ("agent", json!("b")),
        ("input", json!({"x": 2})),
        ("input", Value::Null),
        ("state", json!({"n": 2})),
        ("state", json!({})),
    ] {
        let mut body = body.clone();
        body[field] = other;
        api.post("/v1/runs", body)
            .await
            .refused(409, "run_conflict");
    }
    let mut no_state = body.clone();
    no_state.as_object_mut().unwrap().remove("state");
    api.post("/v1/runs", no_state)
        .await
        .refused(409, "run_conflict");
    assert_eq!(api.facts(&id).await, before);
}

async fn an_absent_state_and_an_empty_one_are_the_same_repeat(on: Engine) {
    let api = on.shared().await;
    let id = api.create(json!({"agent": "a"})).await;
    let body = json!({"id": id, "agent": "a", "state": {}});
    api.post("/v1/runs", body).await.is(200);
}

async fn the_order_of_keys_does_not_make_a_conflict(on: Engine) {
    let api = on.shared().await;
    let id = unique("run");
    let first = format!(r#"{{"id":"{id}","agent":"a","state":{{"a":1,"b":{{"c":2,"d":3}}}}}}"#);
    let second = format!(r#"{{"state":{{"b":{{"d":3,"c":2}},"a":1}},"agent":"a","id":"{id}"}}"#);
    api.post_bytes("/v1/runs", first.into_bytes()).await.is(201);
    api.post_bytes("/v1/runs", second.into_bytes())
        .await
        .is(200);
}

async fn a_run_without_an_id_gets_a_uuid_of_version_7(on: Engine) {
    let api = on.shared().await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        let made = api.post("/v1/runs", json!({"agent": "a"})).await.is(201);
        let id = made["run"]["id"].as_str().unwrap().to_owned();
        let uuid = uuid::Uuid::parse_str(&id).unwrap();
        assert_eq!(uuid.get_version_num(), 7, "{id}");
        assert_eq!(api.status(&id).await, "pending");
        ids.push(id);
    }
    ids.dedup();
    assert_eq!(ids.len(), 3, "without a key each request is new");
}

async fn an_id_may_use_all_its_characters_up_to_128(on: Engine) {
    let api = on.shared().await;
    let long = format!("{:x<128}", unique("A.b_c:d-9").replace('_', "-"));
    for id in [long, unique("Z:."), unique("9-:.")] {
        api.create(json!({"id": id})).await;
        assert_eq!(api.run(&id).await["id"], json!(id));
        let agent = api.lease(&id, json!({})).await;
        agent.does("one", json!({"state": 1})).await;
        assert!(!api.events(0, Some(&id)).await.is_empty());
    }
}

async fn concurrent_creates_make_one_run(on: Engine) {
    let api = on.shared().await;
    let id = unique("run");
    let answers = together(16, |_| {
        let (api, id) = (api.clone(), id.clone());
        async move {
            let body = json!({"id": id, "agent": "a", "input": 1});
            api.post("/v1/runs", body).await.status
        }
    })
    .await;
    let made = answers.iter().filter(|&&status| status == 201).count();
    let found = answers.iter().filter(|&&status| status == 200).count();
    assert_eq!((made, found), (1, 15), "{answers:?}");
}

async fn announced_steps_are_pending_until_they_begin(on: Engine) {
    let api = on.shared().await;
    let plan = json!([
        {"key": "fetch", "name": "Fetch the list"},
        {"name": "Pay", "kind": "tool", "tool": "bank", "effect": {"target": "bank:acme"}},
    ]);
    let agent = api.agent(json!({"plan": plan})).await;
    let announced = api.run(&agent.run).await["plan"].clone();
    let names: Vec<_> = announced
        .as_array()
        .unwrap()
        .iter()
        .map(|s| &s["name"])
        .collect();
    assert_eq!(names, ["Fetch the list", "Pay"]);
    assert!(
        announced
            .as_array()
            .unwrap()
            .iter()
            .all(|s| s["status"] == "pending"),
        "{announced}"
    );
    let begun = agent
        .begin("fetch", json!({"name": "Fetch the list"}))
        .await
        .is(200);
    assert_eq!(
        (&begun["outcome"], &begun["seq"]),
        (&json!("execute"), &json!(1))
    );
    let announced = api.run(&agent.run).await["plan"].clone();
    assert_ne!(announced[0]["status"], "pending", "{announced}");
    assert_eq!(announced[1]["status"], "pending", "{announced}");
}

async fn every_value_comes_back_as_it_was_sent(on: Engine) {
    let api = on.shared().await;
    let state = r#"{"u64":18446744073709551615,"i64":-9223372036854775808,"tiny":5e-324,"huge":1.7976931348623157e308,
        "third":0.3333333333333333,"minus":-0.5,"e":1e15,"empty":"","":"empty key","deep":[[[{"a":[]}]]],
        "text":"é 漢 \ud83d\ude00 \u2028 \uffff \u0001 \u007f \" \\ / \b\f\n\r\t","null":null,"yes":true,
        "a/b":1,"m~n":2,"ключ":"значение","e\u0301":"combining","é":"one"}"#;
    let sent: Value = serde_json::from_str(state).unwrap();
    let id = unique("run");
    let body = format!(r#"{{"id":"{id}","agent":"a","input":{state},"state":{state}}}"#);
    api.post_bytes("/v1/runs", body.into_bytes()).await.is(201);
    assert_eq!(api.run(&id).await["input"], sent);
    assert_eq!(api.snapshot(&id, 0).await["state"], sent);
    let agent = api.lease(&id, json!({})).await;
    assert_eq!(agent.lease["state"], sent);
    let seq = agent.executes("k", json!({"input": sent})).await;
    let commit = format!(
        r#"{{"epoch":{},"attempt":1,"result":{state},"state":[{state}]}}"#,
        agent.epoch
    );
    api.post_bytes(&agent.at(seq, "commit"), commit.into_bytes())
        .await
        .is(200);
    assert_eq!(api.step(&id, seq).await["result"], sent);
    assert_eq!(api.step(&id, seq).await["input"], sent);
    assert_eq!(api.snapshot(&id, 1).await["state"], json!([sent]));
    let replayed = agent
        .again()
        .await
        .begin("k", json!({"input": sent}))
        .await
        .is(200);
    assert_eq!(replayed["result"], sent);
    assert_ne!(replayed["drift"], true, "{replayed}");
}

async fn any_json_value_can_be_a_state(on: Engine) {
    let api = on.shared().await;
    for state in [
        json!(null),
        json!(0),
        json!("text"),
        json!([]),
        json!([1, null]),
        json!(false),
    ] {
        let agent = api.agent(json!({"state": state})).await;
        assert_eq!(agent.lease["state"], state);
        agent.does("one", json!({"state": null})).await;
        assert_eq!(agent.again().await.lease["state"], Value::Null);
    }
}

async fn the_version_grows_with_the_status_and_never_with_work(on: Engine) {
    let api = on.shared().await;
    let id = api.create(json!({})).await;
    let version = async || api.run(&id).await["version"].as_i64().expect("a version");
    let pending = version().await;
    let agent = api.lease(&id, json!({})).await;
    let running = version().await;
    assert!(running > pending, "pending → running");
    let seq = agent.executes("one", json!({})).await;
    agent.heartbeat(json!({})).await.is(200);
    agent.progress(seq, 1, json!({"partial": 1})).await.is(204);
    agent.commit(seq, 1, json!({"state": 1})).await.is(200);
    assert_eq!(
        version().await,
        running,
        "begin, heartbeat, progress, commit"
    );
    agent.release(json!({})).await.is(200);
    let ready = version().await;
    assert!(ready > running, "running → ready");
    api.decide(&id, json!({"kind": "pause", "if_version": ready}))
        .await
        .is(200);
    assert!(version().await > ready, "a decision");
}

async fn an_unknown_run_is_not_found_everywhere(on: Engine) {
    let api = on.shared().await;
    let id = unique("nobody");
    for path in ["", "/steps", "/steps/1", "/snapshots/0"] {
        api.get(&format!("/v1/runs/{id}{path}"))
            .await
            .refused(404, "not_found");
    }
    let step = json!({"epoch": 1, "key": "k", "name": "n"});
    let error = json!({"kind": "k", "message": "m"});
    for (path, body) in [
        ("lease", json!({"worker": "w"})),
        ("heartbeat", json!({"epoch": 1})),
        ("steps", step),
        ("steps/1/commit", json!({"epoch": 1, "attempt": 1})),
        (
            "steps/1/fail",
            json!({"epoch": 1, "attempt": 1, "error": error}),
        ),
        ("steps/1/progress", json!({"epoch": 1, "attempt": 1})),
        ("finish", json!({"epoch": 1, "outcome": "done"})),
        ("release", json!({"epoch": 1})),
        ("decisions", json!({"kind": "pause"})),
    ] {
        let path = format!("/v1/runs/{id}/{path}");
        api.post(&path, body).await.refused(404, "not_found");
    }
}

async fn an_unknown_step_or_snapshot_is_not_found(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    agent.does("one", json!({"state": 1})).await;
    let before = agent.facts().await;
    for path in ["steps/2", "steps/0", "snapshots/2"] {
        api.get(&agent.path(path)).await.refused(404, "not_found");
    }
    agent
        .commit(2, 1, json!({}))
        .await
        .refused(404, "not_found");
    agent.fail(2, 1, json!({})).await.refused(404, "not_found");
    agent
        .progress(2, 1, json!({"partial": 1}))
        .await
        .refused(404, "not_found");
    assert_eq!(agent.facts().await, before);
}

both_engines!(
    a_new_run_is_pending_and_shows_what_was_sent,
    the_smallest_run_has_an_empty_state_and_the_defaults,
    a_repeat_of_create_gets_the_run_and_changes_nothing,
    a_repeat_of_create_shows_the_run_as_it_is_now,
    an_id_with_another_agent_input_or_state_is_a_conflict,
    an_absent_state_and_an_empty_one_are_the_same_repeat,
    the_order_of_keys_does_not_make_a_conflict,
    a_run_without_an_id_gets_a_uuid_of_version_7,
    an_id_may_use_all_its_characters_up_to_128,
    concurrent_creates_make_one_run,
    announced_steps_are_pending_until_they_begin,
    every_value_comes_back_as_it_was_sent,
    any_json_value_can_be_a_state,
    the_version_grows_with_the_status_and_never_with_work,
    an_unknown_run_is_not_found_everywhere,
    an_unknown_step_or_snapshot_is_not_found,
);
