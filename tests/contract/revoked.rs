//! Revoked means now: what is open ends with the right to it, and what was shut stays shut.

use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::{Duration, Instant, timeout_at};

use crate::support::{
    Api, Browser, DEADLINE, Engine, Server, Stream, Wire, both_engines, campaigns, eventually,
    link, unique,
};

/// How long something may go on when the right to it is over. Two seconds are promised, and measured by campaigns on a
/// release; a debug build beside all other tests only has a deadline.
fn grace() -> Duration {
    match std::env::var_os("STEP47_TORTURE") {
        Some(_) => Duration::from_secs(2),
        None => Duration::from_secs(10),
    }
}

/// Waits for the end of what nobody has a right to any more since `over`; what goes on fails the test.
pub async fn ended<T>(what: &str, over: Instant, end: impl Future<Output = T>) -> T {
    let end = timeout_at(over + grace(), end).await;
    let end = end.unwrap_or_else(|_| panic!("{what} goes on for more than {:?}", grace()));
    eprintln!("{what} ended within {:?}", over.elapsed());
    end
}

/// Reads until the stream ends.
pub async fn ends(mut stream: Stream, what: &str, over: Instant) {
    let end = async { while stream.next().await.is_some() {} };
    ended(what, over, end).await;
}

/// A claim and a step's long poll that nothing answers, as this token.
pub async fn waits(server: &Server, api: &Api) -> Vec<tokio::task::JoinHandle<u16>> {
    let holder = server.api().agent(json!({"agent": unique("held")})).await;
    let seq = holder.executes("slow", json!({})).await;
    holder.heartbeat(json!({"ttl_ms": 3_600_000})).await.is(200);
    let (claimer, reader, run) = (api.clone(), api.clone(), holder.run.clone());
    let claim = json!({"worker": "w-revoked", "agents": [unique("nobody")], "wait_ms": 60_000});
    let poll = format!("/v1/runs/{run}/steps/{seq}?wait_ms=60000");
    let waiting = vec![
        tokio::spawn(async move { claimer.post("/v1/claims", claim).await.status }),
        tokio::spawn(async move { reader.get(&poll).await.status }),
    ];
    eventually("the claim waits", async || {
        let seen = server
            .api()
            .post("/api/workers/page", json!({"cursor": null}))
            .await;
        seen.text.contains("w-revoked").then_some(())
    })
    .await;
    waiting
}

async fn what_a_token_opened_ends_when_it_is_revoked(on: Engine) {
    let server = Server::start(on).await;
    let name = unique("gone");
    let api = server.api_as("agent", &name).await;
    let events = Stream::open(&api, "?after=0", None).await;
    let live = Stream::live(&api, "").await;
    let waiting = waits(&server, &api).await;
    let other = Stream::open(&server.api(), "?after=0", None).await;
    // From another process, as an admin on another server would.
    let revoked = server.store.command(&["token", "revoke", &name]).await;
    assert!(revoked.status.success(), "{revoked:?}");
    let over = Instant::now();
    ends(events, "/v1/events", over).await;
    ends(live, "/live", over).await;
    for waited in waiting {
        let answer = ended("what waits", over, waited).await;
        assert_eq!(answer.expect("an answer"), 401);
    }
    still_open(&server, other).await;
}

/// Who is let in when a request begins may be shut out before its body has come.
async fn a_request_that_is_under_way_ends_with_its_token(on: Engine) {
    let server = Server::start(on).await;
    let name = unique("slow");
    let api = server.api_as("agent", &name).await;
    let id = unique("late");
    let body = json!({"id": id, "agent": "a"}).to_string();
    let mut wire = Wire::posting(&api, "/v1/runs", body.len()).await;
    wire.send(&body.as_bytes()[..3]).await;
    let revoked = server.store.command(&["token", "revoke", &name]).await;
    assert!(revoked.status.success(), "{revoked:?}");
    let refused = eventually("the token is refused", async || {
        (api.get("/v1/runs").await.status == 401).then_some(())
    });
    ended("the token", Instant::now(), refused).await;
    wire.send(&body.as_bytes()[3..]).await;
    let said = wire.says(DEADLINE).await.unwrap_or_default();
    assert!(said.starts_with("HTTP/1.1 401"), "{said}");
    let run = server.api().get(&format!("/v1/runs/{id}")).await;
    run.refused(404, "not_found");
}

/// Nobody else's stream ends.
pub async fn still_open(server: &Server, mut stream: Stream) {
    let run = server.api().create(json!({})).await;
    while let Some(event) = stream.next().await {
        if event["run"] == json!(run) {
            return;
        }
    }
    panic!("a stream ended that nobody revoked");
}

pub async fn stream_of(browser: &Browser, path: &str) -> Stream {
    let stream = Stream::of(browser.request(Method::GET, path)).await;
    stream.expect("a stream")
}

async fn who_is_shut_out_stays_out_when_added_again(on: Engine) {
    let server = Server::start(on).await;
    let unused = link(&server, "ben", "viewer").await;
    let ben = Browser::signed_in(&server, "ben", "viewer").await;
    let streams = [
        stream_of(&ben, "/live").await,
        stream_of(&ben, "/v1/events?after=0").await,
    ];
    let out = server.store.command(&["user", "disable", "ben"]).await;
    assert!(out.status.success(), "{out:?}");
    let over = Instant::now();
    for stream in streams {
        ends(stream, "a stream of a disabled person", over).await;
    }
    let refused = eventually("the session is refused", async || {
        (ben.gets("/v1/runs").await.status() == 401).then_some(())
    });
    ended("the session", over, refused).await;
    let fresh = link(&server, "ben", "viewer").await;
    assert_eq!(ben.gets("/v1/runs").await.status(), 401, "an old session");
    let mut again = Browser::of(&server);
    again.opens(&unused, None).await;
    assert_eq!(again.cookie, "", "an old link");
    again.opens(&fresh, None).await;
    assert_eq!(again.gets("/v1/runs").await.status(), 200);
}

async fn signing_out_everywhere_ends_every_session(on: Engine) {
    let server = Server::start(on).await;
    let here = Browser::signed_in(&server, "ana", "operator").await;
    let there = Browser::signed_in(&server, "ana", "operator").await;
    let other = Browser::signed_in(&server, "ben", "operator").await;
    let listed = here
        .request(Method::POST, "/api/session/mine")
        .json(&json!({}));
    let listed: Value = listed
        .send()
        .await
        .expect("an answer")
        .json()
        .await
        .expect("JSON");
    let sessions = listed.as_array().expect("a list");
    assert_eq!(sessions.len(), 2, "{listed}");
    let current = sessions.iter().filter(|it| it["current"] == true);
    assert_eq!(current.count(), 1, "{listed}");
    let settings = here.gets("/settings").await.text().await.expect("a page");
    assert!(settings.contains("Sign out everywhere"), "{settings}");
    let stream = stream_of(&there, "/live").await;
    let out = here.posts("/signout?everywhere", "").await;
    assert_eq!(out.status(), 303);
    ends(stream, "a stream of another session", Instant::now()).await;
    for browser in [&here, &there] {
        assert_eq!(browser.gets("/v1/runs").await.status(), 401);
    }
    assert_eq!(other.gets("/v1/runs").await.status(), 200);
}

async fn a_session_is_no_token_and_a_token_no_session(on: Engine) {
    let server = Server::start(on).await;
    let ana = Browser::signed_in(&server, "ana", "viewer").await;
    let (name, secret) = ana.cookie.split_once('=').expect("a cookie");
    let token = server.store.token("viewer", "t").await.expect("a token");
    let nobody = server.api().without_token();
    for _ in 0..3 {
        // What is remembered of the one must not count for the other.
        assert_eq!(ana.gets("/v1/runs").await.status(), 200);
        let as_token = server.api().with_token(secret).get("/v1/runs").await;
        as_token.refused(401, "unauthorized");
        server
            .api()
            .with_token(&token)
            .get("/v1/runs")
            .await
            .is(200);
        let as_session = nobody
            .request(Method::GET, "/v1/runs")
            .header("cookie", format!("{name}={token}"));
        let as_session = as_session.send().await.expect("an answer");
        assert_eq!(as_session.status(), 401);
    }
}

both_engines!(
    a_request_that_is_under_way_ends_with_its_token,
    what_a_token_opened_ends_when_it_is_revoked,
    who_is_shut_out_stays_out_when_added_again,
    signing_out_everywhere_ends_every_session,
    a_session_is_no_token_and_a_token_no_session,
);

campaigns!(
    a_request_that_is_under_way_ends_with_its_token,
    what_a_token_opened_ends_when_it_is_revoked,
    who_is_shut_out_stays_out_when_added_again,
    signing_out_everywhere_ends_every_session,
);
