//! Tokens have an owner, with whom they end, may end by themselves, and tell when they were last used.

use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::{Duration, Instant};

use crate::{
    revoked::{ended, ends, still_open, waits},
    support::{Api, Browser, Engine, Server, Stream, both_engines, eventually, unique},
};

async fn change(browser: &Browser, change: Value) -> Value {
    let request = browser.request(Method::POST, "/api/access/change");
    let answer = request.json(&json!({"change": change})).send().await;
    let answer = answer.expect("an answer");
    assert_eq!(answer.status(), 200, "{answer:?}");
    answer.json().await.expect("JSON")
}

fn secret(made: &Value) -> &str {
    made["Secret"]["secret"].as_str().expect("a secret")
}

/// A token as the settings list it.
async fn listed(server: &Server, name: &str) -> Value {
    let sheet = server.api().post("/api/access/sheet", json!({})).await;
    let sheet = sheet.is(200);
    let tokens = sheet["managed"]["tokens"].as_array().expect("tokens");
    let token = tokens.iter().find(|it| it["name"] == name);
    token
        .unwrap_or_else(|| panic!("no {name}: {sheet}"))
        .clone()
}

/// What a token has open: both streams, a claim and a long poll.
struct Open {
    streams: [Stream; 2],
    waiting: Vec<tokio::task::JoinHandle<u16>>,
}

impl Open {
    async fn by(server: &Server, api: &Api) -> Self {
        let events = Stream::open(api, "?after=0", None).await;
        let live = Stream::live(api, "").await;
        Self {
            streams: [events, live],
            waiting: waits(server, api).await,
        }
    }

    async fn all_ends(self, over: Instant) {
        for stream in self.streams {
            ends(stream, "a stream", over).await;
        }
        for waited in self.waiting {
            let answer = ended("what waits", over, waited).await;
            assert_eq!(answer.expect("an answer"), 401);
        }
    }
}

async fn is_refused(api: &Api) {
    eventually("the token is refused", async || {
        (api.get("/v1/runs").await.status == 401).then_some(())
    })
    .await;
}

async fn a_token_ends_with_its_owner_and_for_good(on: Engine) {
    let server = Server::start(on).await;
    let ana = Browser::signed_in(&server, "ana", "admin").await;
    let name = unique("hers");
    let order = json!({"change": "create_token", "name": name, "role": "admin"});
    let made = change(&ana, order).await;
    let hers = server.api().with_token(secret(&made));
    assert_eq!(listed(&server, &name).await["owner"], "ana");
    // What her token makes is hers as well.
    let order = json!({"change": {"change": "create_token", "name": "child", "role": "agent"}});
    let made = hers.post("/api/access/change", order).await.is(200);
    let child = server.api().with_token(secret(&made));
    child.get("/v1/runs").await.is(200);
    assert_eq!(listed(&server, "child").await["owner"], "ana");
    assert_eq!(listed(&server, "tests").await["owner"], Value::Null);

    let open = Open::by(&server, &hers).await;
    let other = Stream::open(&server.api(), "?after=0", None).await;
    let out = server.store.command(&["user", "disable", "ana"]).await;
    assert!(out.status.success(), "{out:?}");
    open.all_ends(Instant::now()).await;
    for api in [&hers, &child] {
        is_refused(api).await;
    }
    still_open(&server, other).await;
    let again = ["user", "add", "ana", "--role", "admin"];
    let again = server.store.command(&again).await;
    assert!(again.status.success(), "{again:?}");
    for api in [&hers, &child] {
        api.get("/v1/runs").await.refused(401, "unauthorized");
    }
    let sound = server.store.command(&["verify"]).await;
    assert!(sound.status.success(), "{sound:?}");
}

/// Also where the token itself was not revoked: an owner who may not come in has no token that may.
async fn a_token_made_on_the_command_line_may_have_an_owner(on: Engine) {
    let server = Server::start(on).await;
    let make = ["token", "create", "--role", "viewer", "--name", "t"];
    let nobody = [&make[..], &["--owner", "nobody"]].concat();
    let refused = server.store.command(&nobody).await;
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    let why = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(why.contains("owner"), "{why}");
    let added = ["user", "add", "ben", "--role", "viewer"];
    server.store.command(&added).await;
    let made = [&make[..], &["--owner", "ben"]].concat();
    let made = server.store.command(&made).await;
    let token = String::from_utf8_lossy(&made.stdout).trim().to_owned();
    let api = server.api().with_token(&token);
    api.get("/v1/runs").await.is(200);
    let list = server.store.command(&["token", "list"]).await;
    let list = String::from_utf8_lossy(&list.stdout).into_owned();
    let line = list.lines().find(|it| it.contains(" t "));
    assert!(line.is_some_and(|it| it.contains("ben")), "{list}");
    server.store.command(&["user", "disable", "ben"]).await;
    is_refused(&api).await;
}

async fn a_token_ends_by_itself(on: Engine) {
    let server = Server::start(on).await;
    let make = ["token", "create", "--role", "agent", "--name", "brief"];
    for wrong in ["0d", "soon", "-1h", "30", "9999d"] {
        let span = format!("--expires={wrong}");
        let refused = server.store.command(&[&make[..], &[&span]].concat()).await;
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    }
    let made = [&make[..], &["--expires", "8s"]].concat();
    let made = server.store.command(&made).await;
    let over = Instant::now() + Duration::from_secs(8);
    let token = String::from_utf8_lossy(&made.stdout).trim().to_owned();
    let brief = server.api().with_token(&token);
    let open = Open::by(&server, &brief).await;
    assert!(listed(&server, "brief").await["expires_at"].is_string());
    open.all_ends(over).await;
    is_refused(&brief).await;

    let ana = Browser::signed_in(&server, "ana", "admin").await;
    let order =
        json!({"change": "create_token", "name": "long", "role": "agent", "expires": "30d"});
    let made = change(&ana, order).await;
    let long = server.api().with_token(secret(&made));
    long.get("/v1/runs").await.is(200);
    let form = "change=create_token&name=by-form&role=agent&expires=90d";
    assert_eq!(ana.posts("/settings", form).await.status(), 200);
    assert!(listed(&server, "by-form").await["expires_at"].is_string());
    let form = "change=create_token&name=wrong&role=agent&expires=soon";
    assert_eq!(ana.posts("/settings", form).await.status(), 422);
}

async fn it_is_told_when_a_token_was_last_used(on: Engine) {
    let server = Server::start(on).await;
    let used = async |name: &str| listed(&server, name).await["used_at"].clone();
    let first = server.api_as("viewer", "first").await;
    let second = server.api_as("viewer", "second").await;
    assert_eq!(used("first").await, Value::Null, "nobody used it");
    first.get("/v1/runs").await.is(200);
    let told = async |name: &str| {
        eventually("its use is told", async || {
            Some(used(name).await).filter(Value::is_string)
        })
        .await
    };
    let at = told("first").await;
    for _ in 0..20 {
        first.get("/v1/runs").await.is(200);
    }
    // Whatever was due when the second one was written is written with it.
    second.get("/v1/runs").await.is(200);
    told("second").await;
    assert_eq!(used("first").await, at, "once a minute is enough");
    let ana = Browser::signed_in(&server, "ana", "admin").await;
    let page = ana.gets("/settings").await.text().await.expect("a page");
    assert!(page.contains("last used"), "{page}");
    let sound = server.store.command(&["verify"]).await;
    assert!(sound.status.success(), "{sound:?}");
}

both_engines!(
    a_token_ends_with_its_owner_and_for_good,
    a_token_made_on_the_command_line_may_have_an_owner,
    a_token_ends_by_itself,
    it_is_told_when_a_token_was_last_used,
);
