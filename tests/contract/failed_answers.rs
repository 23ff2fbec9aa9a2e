//! An answer of 500 is told in the server's log, once, with its route and its cause: there the tests find it, whoever asked.

use reqwest::Method;
use serde_json::json;
use std::fs;

use crate::{
    durability::behind,
    support::{Browser, Engine, Server, both_engines, found},
};

/// The lines about answers of 500, oldest first.
fn told(server: &Server) -> Vec<String> {
    found::in_log(server.log(), false)
}

/// Takes a table away under the server; nothing explains to it what became of it.
async fn loses(server: &Server, table: &str) {
    let sql = format!("ALTER TABLE {table} RENAME TO {table}_elsewhere");
    let done = behind(&server.store.url, sql).await;
    assert!(done.is_some(), "{table} is still there");
}

async fn an_answer_of_500_is_told_once_with_its_route_and_cause(on: Engine) {
    let server = Server::start(on).await;
    server.may_fail();
    let api = server.api();
    api.create(json!({})).await;
    loses(&server, "tags").await;
    let asked = api
        .request(Method::GET, "/v1/tags?space=graph")
        .send()
        .await;
    assert_eq!(asked.expect("an answer").status(), 500);
    let lines = told(&server);
    assert_eq!(lines.len(), 1, "{lines:#?}");
    for part in ["GET /v1/tags", "the store failed", "ERROR"] {
        assert!(lines[0].contains(part), "no {part} in {}", lines[0]);
    }
}

async fn a_page_that_failed_is_told_once_with_its_route_and_cause(on: Engine) {
    let server = Server::start(on).await;
    server.may_fail();
    let browser = Browser::signed_in(&server, "ana", "admin").await;
    assert_eq!(browser.gets("/audit").await.status(), 200);
    loses(&server, "audit").await;
    let answer = browser.gets("/audit").await;
    assert_eq!(answer.status(), 500);
    let page = answer.text().await.expect("a page");
    assert!(page.contains("This could not be read"), "{page}");
    let lines = told(&server);
    assert_eq!(lines.len(), 1, "{lines:#?}");
    for part in ["GET /audit", "the store failed"] {
        assert!(lines[0].contains(part), "no {part} in {}", lines[0]);
    }
}

/// The line that the server writes is the line that the tests look for, and no other: a panic counts always.
#[test]
fn a_log_is_searched_for_panics_and_for_answers_of_500() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    assert_eq!(found::in_log(&log, false), Vec::<String>::new());
    let lines = [
        r#"{"level":"ERROR","message":"stored data is damaged"}"#,
        "thread 'main' panicked at src/a.rs:1:2:",
        "it broke",
        r#"{"level":"ERROR","message":"answered 500","route":"GET /v1/runs"}"#,
    ];
    fs::write(&log, lines.join("\n")).expect("a log");
    let panic = format!("{} {}", lines[1], lines[2]);
    assert_eq!(
        found::in_log(&log, false),
        [panic.clone(), lines[3].to_owned()]
    );
    assert_eq!(found::in_log(&log, true), [panic]);
}

both_engines!(
    an_answer_of_500_is_told_once_with_its_route_and_cause,
    a_page_that_failed_is_told_once_with_its_route_and_cause,
);
