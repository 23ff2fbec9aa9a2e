//! One client never takes what all share: streams and waiting requests are counted for each token and in all, and
//! wrong tokens and sign-in links are slowed down for the address they come from.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    Answer, Api, Browser, Engine, Server, Stream, eventually, link, run, together,
};

/// Refused for the moment, with the setting that says so.
async fn busy(api: &Api, path: &str, setting: &str) {
    let request = api.request(Method::GET, path);
    let answer = Answer::try_to(request, format!("GET {path}"))
        .await
        .expect("an answer");
    is_busy(&answer, setting);
}

fn is_busy(answer: &Answer, setting: &str) {
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (503, "busy"),
        "{answer:?}"
    );
    assert!(answer.retry_after.is_some(), "{answer:?}");
    assert!(answer.text.contains(setting), "{answer:?}");
}

async fn one_token_does_not_take_every_stream(on: Engine) {
    let settings =
        "viewers_max = 3\nseats.viewers_each = 2\nseats.events_max = 3\nseats.events_each = 2";
    let server = Server::start_with(on, settings).await;
    let greedy = server.api_as("viewer", "greedy").await;
    let modest = server.api_as("viewer", "modest").await;
    let pages = [
        Stream::live(&greedy, "").await,
        Stream::live(&greedy, "").await,
    ];
    let readers = [
        Stream::open(&greedy, "", None).await,
        Stream::open(&greedy, "", None).await,
    ];
    busy(&greedy, "/live", "seats.viewers_each").await;
    busy(&greedy, "/v1/events", "seats.events_each").await;
    let _page = Stream::live(&modest, "").await;
    let _reader = Stream::open(&modest, "", None).await;
    busy(&modest, "/live", "viewers_max").await;
    busy(&modest, "/v1/events", "seats.events_max").await;
    // A page of events, and everything else, is there for all.
    greedy.get("/v1/events").await.is(200);
    drop((pages, readers));
    eventually("a place is free", async || {
        Stream::try_live(&greedy, "").await.ok()
    })
    .await;
    eventually("a place is free", async || {
        Stream::try_open(&greedy, "", None).await.ok()
    })
    .await;
}

/// Waits in a place. The one who only looks whether all are taken may have it for a moment: then it is asked for again.
async fn seated(wait: impl AsyncFn() -> Answer) -> Answer {
    loop {
        let answer = wait().await;
        if answer.status != 503 {
            return answer;
        }
    }
}

async fn one_token_does_not_take_every_place_to_wait(on: Engine) {
    let settings = "seats.claims_each = 2\nseats.waits_each = 2";
    let server = Server::start_with(on, settings).await;
    let (greedy, modest) = (
        server.api_as("agent", "greedy").await,
        server.api_as("agent", "modest").await,
    );
    let claim = |wait: i64| json!({"worker": "w", "agents": ["rare"], "wait_ms": wait});
    let claims: Vec<_> = (0..2)
        .map(|_| {
            let (api, body) = (greedy.clone(), claim(60_000));
            tokio::spawn(seated(async move || {
                api.post("/v1/claims", body.clone()).await
            }))
        })
        .collect();
    eventually("two wait", async || {
        let third = greedy.post("/v1/claims", claim(500)).await;
        (third.status == 503).then(|| is_busy(&third, "seats.claims_each"))
    })
    .await;
    modest.post("/v1/claims", claim(1)).await.is(204);
    greedy.post("/v1/claims", claim(0)).await.is(204);

    let agent = server.api().agent(json!({})).await;
    let seq = agent.executes("one", json!({})).await;
    let path = format!("/v1/runs/{}/steps/{seq}?wait_ms=", agent.run);
    let waits: Vec<_> = (0..2)
        .map(|_| {
            let (api, path) = (greedy.clone(), format!("{path}60000"));
            tokio::spawn(seated(async move || api.get(&path).await))
        })
        .collect();
    eventually("two wait", async || {
        let third = greedy.get(&format!("{path}500")).await;
        (third.status == 503).then(|| is_busy(&third, "seats.waits_each"))
    })
    .await;
    modest.get(&format!("{path}1")).await.is(200);
    greedy.get(&format!("{path}0")).await.is(200);

    // Those who wait get what they wait for, and their places are free again.
    agent.commit(seq, 1, json!({"state": 1})).await.is(200);
    for wait in waits {
        assert_eq!(wait.await.unwrap().is(200)["step"]["status"], "committed");
    }
    for _ in 0..2 {
        server.api().create(json!({"agent": "rare"})).await;
    }
    for claim in claims {
        claim.await.unwrap().is(200);
    }
    greedy.post("/v1/claims", claim(1)).await.is(204);
}

async fn wrong_tokens_are_counted_logged_and_slowed(on: Engine) {
    let server = Server::start_with(on, "connections.wrong_tokens = 3").await;
    let api = server.api();
    let wrong = api.with_token("s47_guess");
    for _ in 0..3 {
        wrong.get("/v1/runs").await.refused(401, "unauthorized");
    }
    let answers = together(60, |_| {
        let wrong = wrong.clone();
        async move { wrong.get("/v1/runs").await }
    })
    .await;
    let (slow, refused): (Vec<_>, Vec<_>) =
        answers.into_iter().partition(|answer| answer.status == 401);
    assert_eq!((slow.len(), refused.len()), (15, 45));
    for answer in &refused {
        let problem: Value = answer.refused(429, "too_many");
        assert!(problem["detail"].as_str().unwrap().contains("wrong token"));
        assert!(answer.retry_after.is_some(), "{answer:?}");
    }
    // The right token is not held back, though it comes from the same address.
    api.get("/v1/runs").await.is(200);
    let metrics = api.get("/metrics").await.text;
    assert!(
        metrics.contains("step47_wrong_tokens_total 63"),
        "{metrics}"
    );
    let log = std::fs::read_to_string(server.log()).expect("a log");
    let lines: Vec<_> = log
        .lines()
        .filter(|it| it.contains("a wrong token"))
        .collect();
    assert_eq!(lines.len(), 5, "the first three, slowed, refused: {log}");
    assert!(lines.iter().all(|it| it.contains("127.0.0.1")), "{log}");
    assert!(!log.contains("s47_guess"), "a token is never logged");
}

async fn wrong_sign_in_links_are_counted_and_slowed_like_tokens(on: Engine) {
    let server = Server::start_with(on, "connections.wrong_tokens = 3").await;
    let right = link(&server, "ana", "viewer").await;
    let guess = async |n: usize| Browser::of(&server).opens(&format!("link_{n}"), None).await;
    for n in 0..3 {
        assert_eq!(guess(n).await.status(), 303);
    }
    let answers = together(60, |n| {
        let mut stranger = Browser::of(&server);
        async move { stranger.opens(&format!("link_1{n}"), None).await.status() }
    })
    .await;
    let (slow, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(|it| *it == 303);
    assert_eq!((slow.len(), refused.len()), (15, 45));
    assert!(refused.iter().all(|it| *it == 429), "{refused:?}");
    let told = guess(200).await;
    assert!(told.headers().contains_key("retry-after"), "{told:?}");
    let told: Value = told.json().await.expect("JSON");
    assert_eq!(told["code"], "too_many", "{told}");
    // Tokens and links share the count of an address.
    let token = server.api().with_token("s47_guess").get("/v1/runs").await;
    token.refused(429, "too_many");
    let metrics = server.api().get("/metrics").await.text;
    assert!(
        metrics.contains("step47_wrong_tokens_total 65"),
        "{metrics}"
    );
    // A right link is not held back, though it comes from the same address.
    let mut ana = Browser::of(&server);
    assert_eq!(ana.opens(&right, None).await.status(), 303);
    assert_eq!(ana.gets("/v1/runs").await.status(), 200);
}

#[test]
fn one_token_leaves_streams_for_the_others() {
    run(Engine::Sqlite, one_token_does_not_take_every_stream);
}

#[test]
fn one_token_leaves_places_to_wait_for_the_others() {
    run(Engine::Sqlite, one_token_does_not_take_every_place_to_wait);
}

#[test]
fn wrong_tokens_are_slowed_for_their_address_only() {
    run(Engine::Sqlite, wrong_tokens_are_counted_logged_and_slowed);
}

#[test]
fn wrong_sign_in_links_are_slowed_like_wrong_tokens() {
    run(
        Engine::Sqlite,
        wrong_sign_in_links_are_counted_and_slowed_like_tokens,
    );
}
