//! The `Idempotency-Key` header, for the calls that carry nothing else to know a repeat by.

use serde_json::json;

use crate::support::{Engine, both_engines, together, unique};

async fn a_run_without_an_id_is_created_once_per_key(on: Engine) {
    let api = on.shared().await;
    let agent = unique("agent");
    let body = json!({"agent": agent, "input": 1});
    let key = unique("key");
    let first = api.post_once(&key, "/v1/runs", body.clone()).await.is(201);
    let again = api.post_once(&key, "/v1/runs", body.clone()).await;
    assert!([200, 201].contains(&again.status), "{again:?}");
    assert_eq!(again.body()["run"]["id"], first["run"]["id"]);
    let other = api
        .post_once(&unique("key"), "/v1/runs", body)
        .await
        .is(201);
    assert_ne!(other["run"]["id"], first["run"]["id"]);
    let listed = api.get(&format!("/v1/runs?agent={agent}")).await.is(200);
    assert_eq!(listed["runs"].as_array().unwrap().len(), 2);
}

async fn concurrent_creates_with_one_key_make_one_run(on: Engine) {
    let api = on.shared().await;
    let (agent, key) = (unique("agent"), unique("key"));
    together(12, |_| {
        let (api, agent, key) = (api.clone(), agent.clone(), key.clone());
        async move {
            let answer = api
                .post_once(&key, "/v1/runs", json!({"agent": agent}))
                .await;
            assert!([200, 201].contains(&answer.status), "{answer:?}");
        }
    })
    .await;
    let listed = api.get(&format!("/v1/runs?agent={agent}")).await.is(200);
    assert_eq!(listed["runs"].as_array().unwrap().len(), 1);
}

async fn a_lease_asked_twice_with_one_key_is_one_lease(on: Engine) {
    let api = on.shared().await;
    let run = api.create(json!({})).await;
    let (path, key) = (format!("/v1/runs/{run}/lease"), unique("key"));
    let first = api
        .post_once(&key, &path, json!({"worker": "w"}))
        .await
        .is(200);
    let before = api.facts(&run).await;
    let again = api
        .post_once(&key, &path, json!({"worker": "w"}))
        .await
        .is(200);
    for field in ["epoch", "expires_at", "state", "snapshot"] {
        assert_eq!(again[field], first[field], "{field}");
    }
    assert_eq!(api.facts(&run).await, before);
    let held = api
        .post_once(&unique("key"), &path, json!({"worker": "w"}))
        .await;
    held.refused(409, "lease_held");
}

/// Text that compresses badly, as long as half a megabyte.
fn long_text() -> String {
    let words = (0..64_000_u32).map(|n| format!("{:08x}", n.wrapping_mul(2_654_435_761)));
    words.collect()
}

/// A large state and input are kept compressed apart from the rest of the first answer.
async fn a_lease_or_claim_of_a_large_run_is_repeated_whole(on: Engine) {
    let api = on.shared().await;
    let agent = unique("agent");
    for (path, body) in [
        ("lease", json!({"worker": "w"})),
        (
            "lease",
            json!({"worker": "w", "state_schema": {"type": "object"}}),
        ),
        ("claims", json!({"worker": "w", "agents": [agent]})),
    ] {
        let state = json!({"text": long_text()});
        let input = json!({"a": [1.5, long_text()]});
        let run = json!({"agent": agent, "input": input, "state": state});
        let run = api.create(run).await;
        let path = match path {
            "lease" => format!("/v1/runs/{run}/lease"),
            claims => format!("/v1/{claims}"),
        };
        let key = unique("key");
        let first = api.post_once(&key, &path, body.clone()).await.is(200);
        assert_eq!(first["run"]["id"], *run);
        assert_eq!(first["state"], state);
        assert_eq!(first["run"]["input"], input);
        let schema = first["run"].get("state_schema");
        assert_eq!(schema, body.get("state_schema"), "{path}");
        let again = api.post_once(&key, &path, body).await.is(200);
        assert_eq!(again, first, "{path}");
    }
}

/// The next turn has no result yet, also in the first answer that is kept.
async fn a_reopening_of_a_run_with_a_large_result_is_repeated_whole(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"input": {"a": long_text()}})).await;
    let result = json!({"text": long_text()});
    let ended = agent.finish(json!({"result": result})).await.is(200);
    assert_eq!(ended["run"]["result"], result);
    let (path, key) = (agent.path("lease"), unique("key"));
    let body = json!({"worker": "w", "reopen": true});
    let first = api.post_once(&key, &path, body.clone()).await.is(200);
    assert!(first["run"]["result"].is_null());
    assert_eq!(first["run"]["input"], ended["run"]["input"]);
    let again = api.post_once(&key, &path, body).await.is(200);
    assert_eq!(again, first);
}

async fn a_create_or_decision_about_a_large_run_is_repeated_whole(on: Engine) {
    let api = on.shared().await;
    let schema = json!({"type": "object", "description": long_text()});
    let body = json!({
        "agent": unique("agent"), "input": {"a": [1.5, long_text()]}, "state_schema": schema,
    });
    let key = unique("key");
    let first = api.post_once(&key, "/v1/runs", body.clone()).await.is(201);
    assert_eq!(first["run"]["input"], body["input"]);
    assert_eq!(first["run"]["state_schema"], schema);
    let again = api.post_once(&key, "/v1/runs", body.clone()).await.is(201);
    assert_eq!(again, first);

    let run = first["run"]["id"].as_str().unwrap();
    let path = format!("/v1/runs/{run}/decisions");
    for order in [
        json!({"kind": "fork", "reason": "try"}),
        json!({"kind": "pause"}),
    ] {
        let key = unique("key");
        let first = api.post_once(&key, &path, order.clone()).await.is(200);
        assert_eq!(first["run"]["input"], body["input"], "{order}");
        assert_eq!(first["run"]["state_schema"], schema, "{order}");
        assert_eq!(first["decision"]["kind"], order["kind"]);
        let before = api.facts(run).await;
        let again = api.post_once(&key, &path, order.clone()).await.is(200);
        assert_eq!(again, first, "{order}");
        assert_eq!(api.facts(run).await, before, "{order}");
    }
}

async fn concurrent_decisions_with_one_key_are_one_decision(on: Engine) {
    let api = on.shared().await;
    let run = api.create(json!({})).await;
    let (path, key) = (format!("/v1/runs/{run}/decisions"), unique("key"));
    let forks = together(8, |_| {
        let (api, path, key) = (api.clone(), path.clone(), key.clone());
        async move {
            let order = json!({"kind": "fork", "reason": "try"});
            api.post_once(&key, &path, order).await.is(200)["run"]["id"].clone()
        }
    })
    .await;
    assert!(forks.iter().all(|fork| *fork == forks[0]), "{forks:?}");
}

async fn a_takeover_repeated_with_its_key_does_not_end_its_own_lease(on: Engine) {
    let api = on.shared().await;
    let old = api.agent(json!({})).await;
    let (path, key) = (old.path("lease"), unique("key"));
    let body = json!({"worker": "w", "takeover": true});
    let first = api.post_once(&key, &path, body.clone()).await.is(200);
    let again = api.post_once(&key, &path, body).await.is(200);
    assert_eq!(again["epoch"], first["epoch"]);
}

async fn a_claim_repeated_with_its_key_gets_the_same_run(on: Engine) {
    let api = on.shared().await;
    let agent = unique("agent");
    for _ in 0..2 {
        api.create(json!({"agent": agent})).await;
    }
    let key = unique("key");
    let body = json!({"worker": "w", "agents": [agent]});
    let first = api
        .post_once(&key, "/v1/claims", body.clone())
        .await
        .is(200);
    let again = api
        .post_once(&key, "/v1/claims", body.clone())
        .await
        .is(200);
    assert_eq!(again["run"]["id"], first["run"]["id"]);
    assert_eq!(again["epoch"], first["epoch"]);
    let other = api
        .post_once(&unique("key"), "/v1/claims", body)
        .await
        .is(200);
    assert_ne!(other["run"]["id"], first["run"]["id"]);
}

async fn progress_repeated_with_its_key_logs_once(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    agent.executes("one", json!({})).await;
    let (path, key) = (agent.at(1, "progress"), unique("key"));
    let body = agent.fenced(json!({"attempt": 1, "log": [{"level": "info", "message": "once"}]}));
    api.post_once(&key, &path, body.clone()).await.is(204);
    api.post_once(&key, &path, body.clone()).await.is(204);
    assert_eq!(
        api.step(&agent.run, 1).await["log"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    api.post(&path, body).await.is(204);
    let log = api.step(&agent.run, 1).await["log"].clone();
    assert_eq!(
        log.as_array().unwrap().len(),
        2,
        "without a key each request is new"
    );
}

async fn a_decision_repeated_with_its_key_is_one_decision(on: Engine) {
    let api = on.shared().await;
    let run = api.create(json!({})).await;
    let (path, key) = (format!("/v1/runs/{run}/decisions"), unique("key"));
    let first = api
        .post_once(&key, &path, json!({"kind": "pause"}))
        .await
        .is(200);
    let before = api.facts(&run).await;
    let again = api
        .post_once(&key, &path, json!({"kind": "pause"}))
        .await
        .is(200);
    assert_eq!(again["decision"], first["decision"]);
    assert_eq!(api.facts(&run).await, before);
}

/// The same key with another body is no repeat: whatever is answered, it must not be done silently as new.
async fn a_key_used_for_another_body_does_nothing_new(on: Engine) {
    let api = on.shared().await;
    let (agent, key) = (unique("agent"), unique("key"));
    let first = api
        .post_once(&key, "/v1/runs", json!({"agent": agent, "input": 1}))
        .await
        .is(201);
    let other = api
        .post_once(&key, "/v1/runs", json!({"agent": agent, "input": 2}))
        .await;
    if other.status < 300 {
        assert_eq!(other.body()["run"]["id"], first["run"]["id"]);
    } else {
        assert_eq!(other.refusal()["status"], 409);
    }
    let listed = api.get(&format!("/v1/runs?agent={agent}")).await.is(200);
    assert_eq!(listed["runs"].as_array().unwrap().len(), 1);
}

async fn one_key_at_two_calls_is_two_requests(on: Engine) {
    let api = on.shared().await;
    let key = unique("key");
    let (a, b) = (api.create(json!({})).await, api.create(json!({})).await);
    for run in [&a, &b] {
        let path = format!("/v1/runs/{run}/lease");
        let lease = api.post_once(&key, &path, json!({"worker": "w"})).await;
        if lease.status == 200 {
            assert_eq!(
                lease.body()["run"]["id"],
                json!(run),
                "never another run's answer"
            );
        } else {
            lease.refusal();
        }
    }
}

async fn a_refused_request_does_not_use_up_its_key(on: Engine) {
    let api = on.shared().await;
    let holder = api.agent(json!({})).await;
    let (path, key) = (holder.path("lease"), unique("key"));
    api.post_once(&key, &path, json!({"worker": "x"}))
        .await
        .refused(409, "lease_held");
    holder.release(json!({})).await.is(200);
    api.post_once(&key, &path, json!({"worker": "x"}))
        .await
        .is(200);
}

async fn a_strange_key_is_refused_or_taken_but_never_breaks(on: Engine) {
    let api = on.shared().await;
    for key in [
        "",
        " ",
        "\u{7f}",
        "ключ",
        &"k".repeat(300),
        &"k".repeat(20_000),
    ] {
        let request = api.request(reqwest::Method::POST, "/v1/runs");
        let value = match reqwest::header::HeaderValue::from_bytes(key.as_bytes()) {
            Ok(value) => value,
            Err(_) => continue,
        };
        let request = request
            .header("idempotency-key", value)
            .json(&json!({"agent": unique("a")}));
        let answer =
            crate::support::Answer::try_to(request, format!("a key of {} bytes", key.len()))
                .await
                .unwrap();
        assert!(answer.status < 500, "{answer:?}");
    }
}

both_engines!(
    a_run_without_an_id_is_created_once_per_key,
    concurrent_creates_with_one_key_make_one_run,
    a_lease_asked_twice_with_one_key_is_one_lease,
    a_lease_or_claim_of_a_large_run_is_repeated_whole,
    a_reopening_of_a_run_with_a_large_result_is_repeated_whole,
    a_create_or_decision_about_a_large_run_is_repeated_whole,
    concurrent_decisions_with_one_key_are_one_decision,
    a_takeover_repeated_with_its_key_does_not_end_its_own_lease,
    a_claim_repeated_with_its_key_gets_the_same_run,
    progress_repeated_with_its_key_logs_once,
    a_decision_repeated_with_its_key_is_one_decision,
    a_key_used_for_another_body_does_nothing_new,
    one_key_at_two_calls_is_two_requests,
    a_refused_request_does_not_use_up_its_key,
    a_strange_key_is_refused_or_taken_but_never_breaks,
);
