//! What browsers are told to keep, to whom cookies go, which host is answered for, and where a sign-in leads.

use reqwest::{Method, Response};
use serde_json::json;

use crate::support::{Api, Browser, Engine, Server, both_engines, link};

fn header(answer: &Response, name: &str) -> String {
    let value = answer.headers().get(name).map(|it| it.to_str());
    value.and_then(Result::ok).unwrap_or_default().to_owned()
}

/// "Back" after signing out asks the server again.
async fn what_runs_hold_is_kept_in_no_cache(on: Engine) {
    let server = Server::start(on).await;
    let run = server.api().create(json!({})).await;
    let ana = Browser::signed_in(&server, "ana", "viewer").await;
    let paths = [
        "/".to_owned(),
        format!("/runs/{run}"),
        "/settings".to_owned(),
        "/nothing".to_owned(),
        format!("/v1/runs/{run}"),
        "/v1/events?after=0".to_owned(),
        "/audit.jsonl".to_owned(),
    ];
    for path in paths {
        let answer = ana.gets(&path).await;
        assert_eq!(header(&answer, "cache-control"), "no-store", "{path}");
        assert_eq!(header(&answer, "strict-transport-security"), "", "{path}");
    }
    let function = ana
        .request(Method::POST, "/api/session/me")
        .json(&json!({}));
    let function = function.send().await.expect("an answer");
    assert_eq!(header(&function, "cache-control"), "no-store");
    let icon = ana.gets("/favicon.svg").await;
    assert_ne!(header(&icon, "cache-control"), "no-store");
}

async fn behind_tls_cookies_are_bound_to_the_host(on: Engine) {
    let server = Server::start_with(on, "behind_tls = true").await;
    let ana = Browser::signed_in(&server, "ana", "viewer").await;
    let (name, secret) = ana.cookie.split_once('=').expect("a cookie");
    assert_eq!(name, "__Host-step47_session");
    let answer = ana.gets("/v1/runs").await;
    assert_eq!(answer.status(), 200);
    assert!(header(&answer, "strict-transport-security").starts_with("max-age="));
    let plain = server.api().without_token();
    let plain = plain.request(Method::GET, "/v1/runs");
    let plain = plain.header("cookie", format!("step47_session={secret}"));
    let plain = plain.send().await.expect("an answer");
    assert_eq!(
        plain.status(),
        401,
        "another host of the domain could plant it"
    );
    let out = ana.posts("/signout", "").await;
    let cookie = header(&out, "set-cookie");
    assert!(cookie.starts_with("__Host-step47_session=;"), "{cookie}");
    assert!(
        cookie.contains("; Secure") && cookie.contains("Path=/;"),
        "{cookie}"
    );
    assert!(!cookie.contains("Domain"), "{cookie}");
}

async fn only_the_configured_host_is_answered_for(on: Engine) {
    let settings = "public_url = \"https://step47.example\"\nhosts = [\"inside\"]";
    let server = Server::start_with(on, settings).await;
    let api = server.api();
    let asks = async |host: &str, path: &str| {
        let request = api.request(Method::GET, path).header("host", host);
        let answer = request.send().await.expect("an answer");
        (
            answer.status().as_u16(),
            answer.text().await.unwrap_or_default(),
        )
    };
    for own in ["step47.example", "localhost:1", "127.0.0.1", "inside:3047"] {
        assert_eq!(asks(own, "/v1/runs").await.0, 200, "{own}");
    }
    for path in ["/v1/runs", "/", "/signin", "/live", "/metrics"] {
        let (status, told) = asks("evil.example", path).await;
        assert_eq!(status, 421, "{path}");
        assert!(told.contains("--public-url"), "{told}");
    }
    assert_eq!(asks("10.1.2.3:3047", "/healthz").await.0, 200);
    assert_eq!(asks("10.1.2.3:3047", "/readyz").await.0, 200);
    let added = json!({"change": {"change": "add_user", "name": "ben", "role": "viewer"}});
    let added = api.post("/api/access/change", added).await.is(200);
    let url = added["Link"]["url"].as_str().expect("a link");
    assert!(
        url.starts_with("https://step47.example/signin?token="),
        "{url}"
    );
}

async fn a_sign_in_leads_to_our_own_pages_only(on: Engine) {
    let server = Server::start(on).await;
    for (next, leads_to) in [
        ("/runs?status=crashed", "/runs?status=crashed"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("/\t/evil.example", "/"),
        ("/\r\nset-cookie: a=b", "/"),
        ("%2f%2fevil.example", "/"),
        ("https://evil.example", "/"),
    ] {
        let link = link(&server, "ana", "viewer").await;
        let answer = Browser::of(&server).opens(&link, Some(next)).await;
        assert_eq!(answer.status(), 303, "{next:?}");
        assert_eq!(header(&answer, "location"), leads_to, "{next:?}");
    }
}

/// Who scrapes reaches a listener of its own, which answers nothing else; the other one asks for a token then.
async fn metrics_may_have_their_own_listener(on: Engine) {
    let server = Server::start_with(on, "metrics_addr = \"127.0.0.1:0\"").await;
    let said = server.said();
    let base = said.split_once("metrics on ").expect("its address").1;
    let (base, _) = base.split_once("/metrics").expect("its path");
    let scraper = bare(base);
    let measured = scraper.get("/metrics").await;
    measured.is(200);
    assert!(
        measured.text.contains("step47_store_writable"),
        "{measured:?}"
    );
    for path in ["/", "/v1/runs", "/healthz", "/signin"] {
        scraper.get(path).await.refused(404, "not_found");
    }
    let nobody = server.api().without_token().get("/metrics").await;
    nobody.refused(401, "unauthorized");
    let viewer = server.api_as("viewer", "prometheus").await;
    viewer.get("/metrics").await.is(200);
}

/// The wire to another listener, without a token.
fn bare(base: &str) -> Api {
    Api::new(base, "").without_token()
}

async fn metrics_can_ask_for_a_token(on: Engine) {
    let server = Server::start_with(on, "metrics_public = false").await;
    let viewer = server.api_as("viewer", "prometheus").await;
    let nobody = viewer.without_token().get("/metrics").await;
    nobody.refused(401, "unauthorized");
    let wrong = viewer.with_token("wrong").get("/metrics").await;
    wrong.refused(401, "unauthorized");
    let measured = viewer.get("/metrics").await;
    assert_eq!(measured.status, 200, "{measured:?}");
    assert!(measured.text.contains("step47_"), "{measured:?}");
    viewer.without_token().get("/healthz").await.is(200);
}

/// The link is worth an admin: it stands in no log.
async fn the_first_link_is_in_a_file_of_the_owner(on: Engine) {
    use std::os::unix::fs::PermissionsExt as _;
    let server = Server::start(on).await;
    let said = server.log().with_extension("out");
    let path = crate::support::eventually("the file is named", async || {
        let said = std::fs::read_to_string(&said).ok()?;
        let line = said
            .lines()
            .find_map(|it| it.strip_prefix("sign-in link in "));
        line.map(str::to_owned)
    })
    .await;
    let mode = std::fs::metadata(&path)
        .expect("the file")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let url = std::fs::read_to_string(&path).expect("the link");
    let (_, secret) = url.trim().split_once("?token=").expect("a link");
    for log in [server.log(), &said] {
        let text = std::fs::read_to_string(log).expect("a log");
        assert!(!text.contains(secret), "{}", log.display());
    }
    let log = std::fs::read_to_string(server.log()).expect("a log");
    assert!(log.contains(&path), "{log}");
    let mut admin = Browser::of(&server);
    admin.opens(secret, None).await;
    assert_eq!(admin.gets("/v1/runs").await.status(), 200);
}

both_engines!(
    metrics_may_have_their_own_listener,
    what_runs_hold_is_kept_in_no_cache,
    behind_tls_cookies_are_bound_to_the_host,
    only_the_configured_host_is_answered_for,
    a_sign_in_leads_to_our_own_pages_only,
    metrics_can_ask_for_a_token,
    the_first_link_is_in_a_file_of_the_owner,
);
