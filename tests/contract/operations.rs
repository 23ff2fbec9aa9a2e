//! What the owner of the service relies on: health, readiness, metrics, and a server that says what it needs.

use reqwest::Method;
use serde_json::json;

use crate::support::{Answer, Engine, Server, both_engines, eventually, on_postgres};

async fn a_running_server_is_healthy_ready_and_measured(on: Engine) {
    let api = on.shared().await;
    let bare = api.without_token();
    bare.get("/healthz").await.is(200);
    bare.get("/readyz").await.is(200);
    api.agent(json!({}))
        .await
        .does("one", json!({"state": 1}))
        .await;
    let metrics = api.get("/metrics").await;
    metrics.is(200);
    assert!(
        metrics.content_type.starts_with("text/plain"),
        "{}",
        metrics.content_type
    );
    let samples = metrics
        .text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty());
    for sample in samples.clone() {
        let value = sample.rsplit(' ').next().unwrap_or_default();
        assert!(value.parse::<f64>().is_ok(), "{sample}");
    }
    assert!(samples.count() > 0, "{}", metrics.text);
}

/// Ids in labels would make a series for each run.
async fn metrics_do_not_grow_with_the_number_of_runs(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    agent.does("one", json!({})).await;
    assert!(!api.get("/metrics").await.text.contains(&agent.run));
}

async fn a_server_without_its_database_says_so_and_comes_back(on: Engine) {
    let server = Server::start(on).await;
    server.may_fail();
    let api = server.api();
    let agent = api.agent(json!({})).await;
    agent.heartbeat(json!({"ttl_ms": 3_600_000})).await.is(200);
    let seq = agent.executes("one", json!({})).await;
    server
        .store
        .administer("ALTER DATABASE {} ALLOW_CONNECTIONS false")
        .await;
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}'";
    server.store.administer(cut).await;
    eventually("not ready", async || {
        (api.get("/readyz").await.status == 503).then_some(())
    })
    .await;
    api.get("/healthz").await.is(200);
    let away = agent.commit(seq, 1, json!({"state": 1})).await;
    assert_eq!(
        (away.status, away.code().as_str()),
        (503, "busy"),
        "{away:?}"
    );
    assert!(away.retry_after.is_some(), "{away:?}");
    // Who asks is remembered for a moment: then the page itself says it, and afterwards one that needs no store.
    let asks_again = "http-equiv=\"refresh\"";
    eventually("a page that asks again", async || {
        let page = api
            .request(Method::GET, "/workers")
            .header("accept", "text/html");
        let page = Answer::try_to(page, "GET /workers".into()).await.ok()?;
        assert_eq!(page.status, 503, "{page:?}");
        assert!(page.content_type.starts_with("text/html"), "{page:?}");
        let said = page.text.contains("The store cannot be reached");
        assert!(said, "{page:?}");
        page.text.contains(asks_again).then_some(())
    })
    .await;
    server
        .store
        .administer("ALTER DATABASE {} ALLOW_CONNECTIONS true")
        .await;
    eventually("ready again", async || {
        (api.get("/readyz").await.status == 200).then_some(())
    })
    .await;
    let commit = eventually("the commit is taken", async || {
        let answer = agent.commit(seq, 1, json!({"state": 1})).await;
        (answer.status == 200).then(|| answer.body())
    })
    .await;
    assert_eq!(commit["snapshot"], 1);
}

/// An error at the start names the store, says what is wrong, and keeps the password to itself.
async fn a_store_that_cannot_be_used_is_named(on: Engine) {
    let server = Server::start(on).await;
    let fails = async |url: &str| {
        let said = server.store.command_on(url, &["migrate"]).await;
        assert_eq!(said.status.code(), Some(1), "{said:?}");
        let words = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(
            !words.contains("hush") && !words.contains("secret"),
            "{words}"
        );
        words
    };
    match on {
        Engine::Sqlite => {
            let nowhere = fails("sqlite:/nowhere/at/all/step47.db").await;
            assert!(nowhere.contains("/nowhere/at/all/step47.db"), "{nowhere}");
            assert!(nowhere.contains("No such file"), "{nowhere}");
            let folder = fails("sqlite:/tmp").await;
            assert!(folder.contains("the store /tmp"), "{folder}");
            let other = server.store.file("-other");
            std::fs::write(&other, "this is no database, though it is long enough").unwrap();
            let other = fails(&format!("sqlite:{}", other.display())).await;
            assert!(other.contains("step47.db-other"), "{other}");
            let odd = fails("mysql://me:secret@host/db?password=secret").await;
            assert!(odd.contains("\"mysql\""), "{odd}");
        }
        Engine::Postgres => {
            let url = &server.store.url;
            let (before, host) = url.rsplit_once('@').expect("a host");
            let (_, user) = before.split_once("://").expect("a scheme");
            let user = user.split(':').next().expect("a user");
            let (host, _) = host.split_once('/').expect("a database");
            let wrong = fails(&format!("postgres://nobody:secret@{host}/void")).await;
            assert!(wrong.contains(host) && wrong.contains("void"), "{wrong}");
            let gone = fails(&format!("{before}@{host}/there_is_no_such_database")).await;
            assert!(gone.contains(host) && gone.contains(user), "{gone}");
            assert!(gone.contains("there_is_no_such_database"), "{gone}");
        }
    }
}

both_engines!(
    a_store_that_cannot_be_used_is_named,
    a_running_server_is_healthy_ready_and_measured,
    metrics_do_not_grow_with_the_number_of_runs,
);
on_postgres!(a_server_without_its_database_says_so_and_comes_back);
