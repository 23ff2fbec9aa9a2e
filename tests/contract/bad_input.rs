//! Every kind of bad input the protocol names, at every call: a clear refusal, and nothing changed.

use serde_json::{Value, json};

use crate::support::{Agent, Api, Engine, both_engines, unique};

/// Every call that takes a body, with one that is valid, on a run with step 1 in flight.
pub fn calls(agent: &Agent) -> Vec<(&'static str, String, Value)> {
    let step = json!({
        "key": "two", "name": "Two", "kind": "tool", "tool": "bank", "input": {"eur": 1},
        "effect": {"target": "bank", "description": "pay", "dedupe_ms": 1000}, "recovery": "check",
        "retry": {"max_attempts": 2, "backoff_ms": 10}, "refs": [{"uri": "file:a", "hash": "b"}],
        "links": [{"label": "l", "url": "https://example.org"}],
    });
    let gate = json!({
        "key": "g", "name": "Gate", "kind": "gate",
        "gate": {"title": "?", "context": {"a": 1}, "schema": {"type": "object"}, "choices": ["a", "b"]},
    });
    let usage = json!({"input_tokens": 1, "output_tokens": 2, "cost_usd": 0.5});
    let error = json!({"kind": "k", "message": "m", "stack": "s"});
    let create = json!({
        "id": unique("run"), "agent": "tests", "title": "t", "version": "1", "model": "m", "input": {"a": [1]}, "state": {"n": 1},
        "state_schema": {"type": "object"}, "labels": {"k": "v"}, "links": [{"label": "l", "url": "https://example.org"}],
        "parent": {"run": agent.run, "seq": 1}, "plan": [{"key": "p", "name": "P", "kind": "tool", "tool": "t", "effect": {"target": "x"}}],
        "on_crash": "resume", "max_recoveries": 3,
    });
    let patch = json!([{"op": "add", "path": "/a", "value": {"x": 1}}, {"op": "test", "path": "/a/x", "value": 1}]);
    let claim = json!({"worker": "w", "agents": [unique("agent")], "ttl_ms": 1000, "wait_ms": 0, "version": "1", "model": "m"});
    let lease = json!({"worker": "w", "ttl_ms": 1000, "version": "1", "model": "m", "state_schema": {}, "takeover": true, "reopen": true});
    let log = json!([{"level": "info", "message": "m"}]);
    let tag = json!({"space": "s", "id": "t", "meta": {"m": 1}});
    vec![
        ("create", "/v1/runs".into(), create),
        ("lease", agent.path("lease"), lease),
        ("claims", "/v1/claims".into(), claim),
        ("heartbeat", agent.path("heartbeat"), agent.fenced(json!({"ttl_ms": 1000}))),
        ("begin", agent.path("steps"), agent.fenced(step.clone())),
        ("gate", agent.path("steps"), agent.fenced(gate)),
        ("commit", agent.at(1, "commit"), agent.fenced(json!({"attempt": 1, "result": {"r": 1}, "state": {"n": 2}, "base": 0, "usage": usage, "next": step, "tag": tag}))),
        ("patch", agent.at(1, "commit"), agent.fenced(json!({"attempt": 1, "patch": patch, "usage": usage}))),
        ("save", agent.path("snapshots"), agent.fenced(json!({"state": {"n": 2}, "base": 0, "tag": tag}))),
        ("fail", agent.at(1, "fail"), agent.fenced(json!({"attempt": 1, "error": error, "retryable": true, "effect": "none", "usage": usage, "patch": patch}))),
        ("progress", agent.at(1, "progress"), agent.fenced(json!({"attempt": 1, "partial": {"p": 1}, "log": log}))),
        ("finish", agent.path("finish"), agent.fenced(json!({"outcome": "failed", "result": {"r": 1}, "error": error}))),
        ("release", agent.path("release"), agent.fenced(json!({"after_ms": 10}))),
        ("pause", agent.path("release"), agent.fenced(json!({"pause": true}))),
        ("decisions", format!("/v1/runs/{}/decisions", agent.run), json!({"kind": "pause", "if_version": 1, "reason": "r", "text": "t"})),
    ]
}

/// The fields the protocol marks as needed.
pub fn needed(call: &str) -> &'static [&'static str] {
    match call {
        "create" => &["agent"],
        "lease" | "claims" => &["worker"],
        "heartbeat" | "save" | "release" | "pause" => &["epoch"],
        "begin" | "gate" => &["epoch", "key", "name"],
        "commit" | "patch" | "progress" => &["epoch", "attempt"],
        "fail" => &["epoch", "attempt", "error"],
        "finish" => &["epoch", "outcome"],
        _ => &["kind"],
    }
}

/// A run with a step in flight under a long lease.
pub async fn ground(api: &Api) -> Agent {
    let agent = api.agent(json!({"agent": "tests"})).await;
    agent.heartbeat(json!({"ttl_ms": 3_600_000})).await.is(200);
    agent.executes("one", json!({})).await;
    agent
}

async fn an_unknown_field_is_refused_at_every_call(on: Engine) {
    let api = on.shared().await;
    let agent = ground(&api).await;
    let before = agent.facts().await;
    for (call, path, mut body) in calls(&agent) {
        body["surprise"] = json!(1);
        api.post(&path, body).await.bad_input("surprise");
        assert_eq!(agent.facts().await, before, "{call}");
    }
}

async fn an_unknown_field_is_refused_inside_every_object(on: Engine) {
    let api = on.shared().await;
    let agent = ground(&api).await;
    let before = agent.facts().await;
    let inner = [
        ("create", "/links/0"),
        ("create", "/parent"),
        ("create", "/plan/0"),
        ("create", "/plan/0/effect"),
        ("begin", "/effect"),
        ("begin", "/retry"),
        ("begin", "/refs/0"),
        ("begin", "/links/0"),
        ("gate", "/gate"),
        ("commit", "/usage"),
        ("commit", "/tag"),
        ("save", "/tag"),
        ("commit", "/next"),
        ("commit", "/next/effect"),
        ("fail", "/error"),
        ("fail", "/usage"),
        ("progress", "/log/0"),
        ("finish", "/error"),
    ];
    for (call, pointer) in inner {
        let (_, path, mut body) = calls(&agent).into_iter().find(|c| c.0 == call).unwrap();
        body.pointer_mut(pointer).unwrap()["surprise"] = json!(1);
        let answer = api.post(&path, body).await;
        assert!(answer.status >= 400, "{call} {pointer}: {}", answer.text);
        answer.bad_input("");
        assert_eq!(agent.facts().await, before, "{call} {pointer}");
    }
}

async fn a_missing_field_is_refused_at_every_call(on: Engine) {
    let api = on.shared().await;
    let agent = ground(&api).await;
    let before = agent.facts().await;
    for (call, path, body) in calls(&agent) {
        for field in needed(call) {
            let mut body = body.clone();
            body.as_object_mut().unwrap().remove(*field);
            let answer = api.post(&path, body).await;
            answer.bad_input("");
            assert!(
                answer.text.contains(field),
                "{call} names {field}: {}",
                answer.text
            );
        }
        assert_eq!(agent.facts().await, before, "{call}");
    }
}

async fn a_field_of_the_wrong_type_is_refused_by_its_path(on: Engine) {
    let api = on.shared().await;
    let agent = ground(&api).await;
    let before = agent.facts().await;
    // A schema may be a boolean too.
    let free = ["input", "state", "result", "partial", "state_schema"];
    for (call, path, body) in calls(&agent) {
        for (field, value) in body.as_object().unwrap() {
            if free.contains(&field.as_str()) {
                continue;
            }
            let wrong = match value {
                Value::String(_) | Value::Bool(_) => vec![json!(1), json!([]), json!({})],
                Value::Number(_) => vec![json!("1"), json!(1.5), json!([]), json!(true)],
                Value::Array(_) => vec![json!({}), json!("x"), json!([1.5])],
                _ => vec![json!("x"), json!(true), json!(1)],
            };
            for wrong in wrong {
                let mut body = body.clone();
                body[field] = wrong;
                api.post(&path, body).await.bad_input(field);
            }
        }
        assert_eq!(agent.facts().await, before, "{call}");
    }
}

async fn a_body_that_is_not_one_json_object_is_refused(on: Engine) {
    let api = on.shared().await;
    let agent = ground(&api).await;
    let before = agent.facts().await;
    let deep = "[".repeat(100_000);
    for (call, path, body) in calls(&agent) {
        let valid = body.to_string();
        for bytes in [
            b"".to_vec(),
            b"null".to_vec(),
            b"[]".to_vec(),
            b"1".to_vec(),
            b"\"x\"".to_vec(),
            b"{".to_vec(),
            b"{]".to_vec(),
            b"\xff\xfe".to_vec(),
            b"{\"a\":}".to_vec(),
            deep.clone().into_bytes(),
            format!("{valid}{valid}").into_bytes(),
            format!("{valid},").into_bytes(),
            valid.as_bytes()[..valid.len() - 1].to_vec(),
            valid.replace(':', "=").into_bytes(),
            valid
                .replace("true", "NaN")
                .replacen('"', "'", 1)
                .into_bytes(),
            format!("// note\n{valid}").into_bytes(),
            format!("\u{feff}{valid}").into_bytes(),
        ] {
            let answer = api.post_bytes(&path, bytes).await;
            answer.bad_input("");
        }
        assert_eq!(agent.facts().await, before, "{call}");
    }
}

/// Fields without their names mean whatever the order of a declaration says: never an accepted body.
async fn a_list_in_place_of_an_object_is_refused(on: Engine) {
    let api = on.shared().await;
    let agent = ground(&api).await;
    let before = agent.facts().await;
    let e = agent.epoch;
    let error = json!(["kind", "message"]);
    for (path, body) in [
        ("/v1/runs".to_owned(), json!([unique("run"), "tests"])),
        (
            agent.path("lease"),
            json!(["w", 30_000, null, null, null, true]),
        ),
        ("/v1/claims".to_owned(), json!(["w", [unique("agent")]])),
        (agent.path("heartbeat"), json!([e])),
        (agent.path("steps"), json!([e, "two", "two"])),
        (agent.at(1, "commit"), json!([e, 1, "result"])),
        (agent.at(1, "fail"), json!([e, 1, error])),
        (
            agent.at(1, "fail"),
            json!({"epoch": e, "attempt": 1, "error": error}),
        ),
        (
            agent.at(1, "commit"),
            json!({"epoch": e, "attempt": 1, "usage": [1, 2, 0.5]}),
        ),
        (
            agent.path("steps"),
            json!({"epoch": e, "key": "two", "name": "two", "retry": [3, 10]}),
        ),
        (
            agent.path("steps"),
            json!({"epoch": e, "key": "two", "name": "two", "effect": ["bank"]}),
        ),
        (agent.at(1, "progress"), json!([e, 1, "partial"])),
        (agent.path("release"), json!([e])),
        (agent.path("finish"), json!([e, "done"])),
        (
            format!("/v1/runs/{}/decisions", agent.run),
            json!(["pause"]),
        ),
    ] {
        api.post(&path, body).await.bad_input("");
    }
    assert_eq!(agent.facts().await, before);
}

/// What a value may not hold, wherever it stands.
fn hostile_values() -> Vec<(&'static str, String)> {
    vec![
        ("NUL in text", r#""a\u0000b""#.into()),
        ("NUL in a key", r#"{"a\u0000b":1}"#.into()),
        ("a duplicate key", r#"{"a":1,"a":2}"#.into()),
        ("a duplicate key by escape", r#"{"a":1,"\u0061":2}"#.into()),
        (
            "a duplicate key deep inside",
            r#"[{"x":[{"k":1,"l":2,"k":3}]}]"#.into(),
        ),
        ("a lone high surrogate", r#""\ud800""#.into()),
        ("a lone low surrogate", r#""\udc00""#.into()),
        ("surrogates in reverse", r#""\ude00\ud83d""#.into()),
        ("a lone surrogate in a key", r#"{"\ud800":1}"#.into()),
        ("a high surrogate before text", r#""\ud83dx""#.into()),
        ("an integer beyond 64 bits", "18446744073709551616".into()),
        (
            "a negative integer beyond 64 bits",
            "-9223372036854775809".into(),
        ),
        ("a very long integer", "9".repeat(400)),
        ("a number without end", "1e999".into()),
        ("a negative one", "-1e999".into()),
        ("a large mantissa", format!("{}.5", "9".repeat(400))),
        ("NaN", "NaN".into()),
        ("Infinity", "Infinity".into()),
        ("a hexadecimal number", "0x10".into()),
        ("a leading zero", "01".into()),
        (
            "nesting beyond 128",
            format!("{}1{}", "[".repeat(140), "]".repeat(140)),
        ),
        (
            "nesting beyond 128 in objects",
            format!("{}1{}", "{\"a\":".repeat(140), "}".repeat(140)),
        ),
        (
            "nesting far beyond",
            format!("{}1{}", "[".repeat(50_000), "]".repeat(50_000)),
        ),
        ("a raw line break in text", "\"a\nb\"".into()),
        ("a raw NUL", "\"a\0b\"".into()),
    ]
}

async fn hostile_values_are_refused_wherever_a_value_may_stand(on: Engine) {
    let api = on.shared().await;
    let agent = ground(&api).await;
    let before = agent.facts().await;
    let free = [
        ("create", "input"),
        ("create", "state"),
        ("begin", "input"),
        ("gate", "gate/context"),
        ("commit", "result"),
        ("commit", "state"),
        ("commit", "next/input"),
        ("save", "state"),
        ("save", "tag/meta/m"),
        ("patch", "patch/0/value"),
        ("progress", "partial"),
        ("finish", "result"),
    ];
    for (call, place) in free {
        let (_, path, mut body) = calls(&agent).into_iter().find(|c| c.0 == call).unwrap();
        *body.pointer_mut(&format!("/{place}")).unwrap() = json!("PLACE");
        for (what, value) in hostile_values() {
            let bytes = body.to_string().replace("\"PLACE\"", &value).into_bytes();
            let answer = api.post_bytes(&path, bytes).await;
            assert!(
                (400..500).contains(&answer.status),
                "{what} in {call} {place}: {} {}",
                answer.status,
                answer.text
            );
            answer.bad_input("");
        }
        assert_eq!(agent.facts().await, before, "{call} {place}");
    }
}

async fn nul_is_refused_in_every_text(on: Engine) {
    let api = on.shared().await;
    let agent = ground(&api).await;
    let before = agent.facts().await;
    for (call, path, body) in calls(&agent) {
        for pointer in texts(&body, String::new()) {
            let mut body = body.clone();
            *body.pointer_mut(&pointer).unwrap() = json!("a\u{0}b");
            api.post(&path, body).await.bad_input("");
        }
        assert_eq!(agent.facts().await, before, "{call}");
    }
}

/// Pointers to every text in a body.
fn texts(value: &Value, at: String) -> Vec<String> {
    match value {
        Value::String(_) => vec![at],
        Value::Array(items) => items
            .iter()
            .enumerate()
            .flat_map(|(i, v)| texts(v, format!("{at}/{i}")))
            .collect(),
        Value::Object(map) => map
            .iter()
            .flat_map(|(k, v)| texts(v, format!("{at}/{k}")))
            .collect(),
        _ => Vec::new(),
    }
}

async fn an_envelope_with_a_field_twice_is_refused(on: Engine) {
    let api = on.shared().await;
    let agent = ground(&api).await;
    let before = agent.facts().await;
    for (call, path, body) in calls(&agent) {
        let (field, value) = body.as_object().unwrap().iter().next().unwrap();
        let twice = format!("{{\"{field}\":{value},{}", &body.to_string()[1..]);
        api.post_bytes(&path, twice.into_bytes())
            .await
            .bad_input("");
        assert_eq!(agent.facts().await, before, "{call}");
    }
}

async fn a_bad_id_or_key_is_refused(on: Engine) {
    let api = on.shared().await;
    for id in [
        "",
        " ",
        "a b",
        "a/b",
        "ä",
        "a\n",
        "a\u{0}",
        "a%2e",
        "a+b",
        "a@b",
        "a\\b",
        "😀",
        &"x".repeat(129),
    ] {
        let answer = api.post("/v1/runs", json!({"id": id, "agent": "a"})).await;
        answer.bad_input("id");
    }
    let agent = ground(&api).await;
    let before = agent.facts().await;
    for key in [
        "",
        "a\nb",
        "a\tb",
        "\u{7f}",
        "\u{1b}[0m",
        "\u{85}",
        &"k".repeat(257),
    ] {
        agent
            .begin(key, json!({"name": "n"}))
            .await
            .bad_input("key");
    }
    assert_eq!(agent.facts().await, before);
}

async fn a_number_out_of_its_range_is_refused_by_its_path(on: Engine) {
    let api = on.shared().await;
    let agent = ground(&api).await;
    let before = agent.facts().await;
    for retry in [
        json!({"max_attempts": 0}),
        json!({"max_attempts": -1}),
        json!({"backoff_ms": -1}),
    ] {
        agent
            .begin("x", json!({"retry": retry}))
            .await
            .bad_input("retry");
    }
    agent
        .begin("x", json!({"effect": {"target": "t", "dedupe_ms": -1}}))
        .await
        .bad_input("dedupe_ms");
    for usage in [
        json!({"input_tokens": -1}),
        json!({"output_tokens": -5}),
        json!({"cost_usd": -0.01}),
    ] {
        agent
            .commit(1, 1, json!({"usage": usage}))
            .await
            .bad_input("usage");
        agent
            .fail(1, 1, json!({"usage": usage}))
            .await
            .bad_input("usage");
    }
    agent
        .commit(1, 1, json!({"state": 1, "base": -1}))
        .await
        .bad_input("base");
    agent
        .release(json!({"after_ms": -1}))
        .await
        .bad_input("after_ms");
    assert_eq!(agent.facts().await, before);
    for more in [
        json!({"max_recoveries": -1}),
        json!({"on_crash": "explode"}),
        json!({"agent": ""}),
    ] {
        let id = unique("run");
        let body = crate::support::merged(json!({"id": id, "agent": "a"}), more);
        api.post("/v1/runs", body).await.bad_input("");
        api.get(&format!("/v1/runs/{id}"))
            .await
            .refused(404, "not_found");
    }
}

async fn a_link_that_a_browser_would_run_is_refused(on: Engine) {
    let api = on.shared().await;
    for url in [
        "javascript:alert(1)",
        "data:text/html,x",
        "JavaScript:alert(1)",
        " javascript:alert(1)",
        "vbscript:x",
    ] {
        let body = json!({"agent": "a", "links": [{"label": "l", "url": url}]});
        api.post("/v1/runs", body).await.bad_input("links");
    }
}

both_engines!(
    an_unknown_field_is_refused_at_every_call,
    an_unknown_field_is_refused_inside_every_object,
    a_missing_field_is_refused_at_every_call,
    a_field_of_the_wrong_type_is_refused_by_its_path,
    a_body_that_is_not_one_json_object_is_refused,
    a_list_in_place_of_an_object_is_refused,
    hostile_values_are_refused_wherever_a_value_may_stand,
    nul_is_refused_in_every_text,
    an_envelope_with_a_field_twice_is_refused,
    a_bad_id_or_key_is_refused,
    a_number_out_of_its_range_is_refused_by_its_path,
    a_link_that_a_browser_would_run_is_refused,
);
