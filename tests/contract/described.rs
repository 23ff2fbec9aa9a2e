//! Where the server did not do what its document says: each was found by requests made from `/v1/openapi.json`.

use serde_json::{Value, json};

use crate::{
    bad_input::{calls, ground},
    support::{Engine, both_engines, unique},
};

/// To JSON Schema `1000.0` and `1000` are the same integer. In what is any JSON, each stays what it is.
async fn a_whole_number_may_be_written_with_a_point(on: Engine) {
    let api = on.shared().await;
    let agent = ground(&api).await;
    for (call, path, body) in calls(&agent) {
        let numbers = body.as_object().unwrap().iter();
        let numbers: Vec<_> = numbers.filter(|(_, value)| value.is_i64()).collect();
        let mut pointed = body.clone();
        for (field, value) in numbers {
            pointed[field] = json!(value.as_f64());
        }
        let answer = api.post(&path, pointed).await;
        // What ends an attempt or the lease refuses what follows, but not for its numbers.
        let understood = answer.status < 300 || answer.status == 409;
        assert!(understood, "{call}: {}", answer.text);
    }
    let body = json!({"agent": "tests", "state": {"n": 1.0}, "max_recoveries": 2.0});
    let run = api.post("/v1/runs", body).await.is(201)["run"].clone();
    assert_eq!(run["max_recoveries"], json!(2));
    let id = run["id"].as_str().unwrap();
    let state = api.get(&format!("/v1/runs/{id}/snapshots/0")).await.is(200);
    assert_eq!(state["state"], json!({"n": 1.0}));
}

/// A run's id tells a repeat by itself; a key that cannot be one is refused all the same.
async fn an_unusable_key_is_refused_also_with_an_id(on: Engine) {
    let api = on.shared().await;
    let body = || json!({"id": unique("run"), "agent": "tests"});
    let long = "x".repeat(257);
    for key in [long.as_str(), "a\tb"] {
        let answer = api.post_once(key, "/v1/runs", body()).await;
        answer.bad_input("Idempotency-Key");
    }
    api.post_once("a b", "/v1/runs", body()).await.is(201);
}

async fn a_parameter_is_checked_whatever_stands_beside_it(on: Engine) {
    let api = on.shared().await;
    let agent = ground(&api).await;
    for (path, named) in [
        ("/v1/runs?label=team&key=k".to_owned(), "label"),
        ("/v1/runs?status=".to_owned(), "status"),
        (agent.path("steps?after=-1"), "after"),
        ("/v1/events?after=-1".to_owned(), "after"),
    ] {
        api.get(&path).await.bad_input(named);
    }
}

/// Characters are counted, as in every other limit.
async fn a_link_is_as_long_as_its_characters(on: Engine) {
    let api = on.shared().await;
    let create = |letters: usize| {
        let url = format!("https://{}", "ü".repeat(letters));
        json!({"agent": "tests", "links": [{"label": "l", "url": url}]})
    };
    let run: Value = api.post("/v1/runs", create(1_992)).await.is(201);
    assert!(run["run"]["links"][0]["url"].is_string());
    let answer = api.post("/v1/runs", create(1_993)).await;
    answer.bad_input("links");
}

both_engines!(
    a_whole_number_may_be_written_with_a_point,
    an_unusable_key_is_refused_also_with_an_id,
    a_parameter_is_checked_whatever_stands_beside_it,
    a_link_is_as_long_as_its_characters,
);
