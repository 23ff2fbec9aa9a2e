//! A session that nobody uses ends by itself, before its fixed end.

use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::{Duration, Instant, sleep};

use crate::{
    revoked::{ends, stream_of},
    support::{Browser, Engine, Server, both_engines, campaigns},
};

async fn an_idle_session_ends_and_one_in_use_does_not(on: Engine) {
    let server = Server::start_with(on, "session_idle = \"6s\"").await;
    let ana = Browser::signed_in(&server, "ana", "viewer").await;
    let ben = Browser::signed_in(&server, "ben", "viewer").await;
    let streams = [
        stream_of(&ana, "/live").await,
        stream_of(&ana, "/v1/events?after=0").await,
    ];
    // Streams that are only open are no use.
    let over = Instant::now() + Duration::from_secs(6);
    let idle = async {
        for stream in streams {
            ends(stream, "a stream of an idle session", over).await;
        }
    };
    // Longer than the time-out, because the other one's runs out meanwhile.
    let uses = async {
        loop {
            assert_eq!(ben.gets("/v1/runs").await.status(), 200, "it is in use");
            sleep(Duration::from_millis(200)).await;
        }
    };
    tokio::select! {
        () = idle => {}
        () = uses => {}
    }
    assert_eq!(ana.gets("/v1/runs").await.status(), 401);
    assert_eq!(ana.gets("/").await.status(), 303, "to the sign-in page");
    assert_eq!(
        ana.gets("/v1/runs").await.status(),
        401,
        "trying helps nothing"
    );
    assert_eq!(ben.gets("/v1/runs").await.status(), 200);
}

async fn the_list_of_sessions_says_when_each_was_last_seen(on: Engine) {
    let server = Server::start(on).await;
    let ana = Browser::signed_in(&server, "ana", "viewer").await;
    let mine = ana.request(Method::POST, "/api/session/mine");
    let mine = mine.json(&json!({})).send().await.expect("an answer");
    let mine: Value = mine.json().await.expect("JSON");
    assert!(mine[0]["seen_at"].is_string(), "{mine}");
    let page = ana.gets("/settings").await.text().await.expect("a page");
    assert!(page.contains("last seen"), "{page}");
}

both_engines!(
    an_idle_session_ends_and_one_in_use_does_not,
    the_list_of_sessions_says_when_each_was_last_seen,
);

campaigns!(an_idle_session_ends_and_one_in_use_does_not);
