//! A disk that is full, read-only or failing for a while stops writes for that while, and nothing longer.

use reqwest::Method;
use serde_json::{Value, json};
use std::fs;

use super::load::{Load, verify};
use crate::support::{
    Answer, Api, Engine, Server, Stream, block_on, disk, disk::SmallDisk, eventually, on_postgres,
    rounds,
};

/// Waits until readiness has this status, and gives what it says.
pub(super) async fn ready(api: &Api, status: u16) -> String {
    eventually(&format!("/readyz is {status}"), async || {
        let said = api.without_token().get("/readyz").await;
        (said.status == status).then_some(said.text)
    })
    .await
}

/// A page as a browser asks for it.
async fn page(api: &Api, path: &str) -> Answer {
    let request = api.request(Method::GET, path).header("accept", "text/html");
    Answer::try_to(request, format!("GET {path}"))
        .await
        .expect("a page")
}

pub(super) async fn refused_for(api: &Api, reason: &str) -> Value {
    let body = json!({"agent": "tests", "state": {"pad": "x".repeat(300_000)}});
    let refused = eventually("a write is refused", async || {
        let answer = api.post("/v1/runs", body.clone()).await;
        (answer.status != 201).then_some(answer)
    })
    .await;
    let told = (refused.status, refused.code());
    assert_eq!(told, (503, "busy".to_owned()), "{refused:?}");
    assert!(refused.retry_after.is_some(), "{refused:?}");
    let body = refused.body();
    assert_eq!(body["reason"], reason, "{body}");
    body
}

/// How often the log says this.
pub(super) fn said(server: &Server, words: &str) -> usize {
    let log = fs::read_to_string(server.log()).expect("a log");
    assert!(!log.contains("panicked"), "{log}");
    log.matches(words).count()
}

#[test]
fn a_disk_that_takes_no_writes_for_a_while_stops_nothing_for_good() {
    block_on(async {
        let server = Server::start(Engine::Sqlite).await;
        server.may_fail();
        let api = server.api();
        let load = Load::start(api.clone(), 8);
        for round in 1..=rounds(2) {
            load.goes_on(30).await;
            disk::stops_taking_writes(server.pid());
            let why = ready(&api, 503).await;
            assert!(why.contains("I/O error"), "{why}");
            disk::takes_writes_again(server.pid());
            load.goes_on(30).await;
            ready(&api, 200).await;
            assert_eq!(said(&server, "nothing can be saved"), round);
            assert_eq!(said(&server, "writes work again"), round);
        }
        let acknowledged = load.finish().await;
        verify(&api, &acknowledged).await;
    });
}

#[test]
fn a_full_disk_is_told_to_agents_operators_and_the_log_and_ends_by_itself() {
    block_on(async {
        let Some(disk) = SmallDisk::mount() else {
            return;
        };
        let mut server = Server::start_in(disk.path()).await;
        server.may_fail();
        let api = server.api();
        let banner = "The disk is full: nothing can be saved now.";
        let load = Load::start(api.clone(), 4);
        for round in 1..=rounds(2) {
            load.goes_on(20).await;
            assert!(!page(&api, "/").await.text.contains(banner));
            let mut open = Stream::live(&api, "?run=another-run").await;
            disk.fill();
            let why = ready(&api, 503).await;
            assert!(why.contains("the disk is full: free some room"), "{why}");
            let problem = refused_for(&api, "disk_full").await;
            let detail = problem["detail"].as_str().expect("a detail");
            assert!(detail.contains("the disk is full"), "{detail}");

            let heard = async |stream: &mut Stream, wanted: Value| loop {
                let frame = stream.next().await.expect("the stream goes on");
                if frame["writing"] == wanted {
                    break;
                }
            };
            heard(&mut open, json!({"fails": "disk_full"})).await;
            let mut late = Stream::live(&api, "?after=0").await;
            heard(&mut late, json!({"fails": "disk_full"})).await;
            for path in ["/", "/inbox", "/settings"] {
                let page = page(&api, path).await;
                assert!(page.text.contains(banner), "{path}: {page:?}");
            }
            let metrics = api.get("/metrics").await.text;
            assert!(metrics.contains("step47_store_writable 0"), "{metrics}");

            disk.free();
            load.goes_on(20).await;
            heard(&mut open, json!("works")).await;
            ready(&api, 200).await;
            assert!(!page(&api, "/").await.text.contains(banner));
            assert_eq!(
                said(&server, "nothing can be saved: the disk is full"),
                round
            );
        }
        let acknowledged = load.finish().await;
        verify(&api, &acknowledged).await;
        server.restart().await;
        verify(&server.api(), &acknowledged).await;
    });
}

/// The log is on the full disk, too: a line that cannot be written must not take anything down.
#[test]
fn a_log_on_a_full_disk_stops_nothing() {
    block_on(async {
        let server = Server::start(Engine::Sqlite).await;
        server.may_fail();
        let api = server.api();
        let agent = api.agent(json!({})).await;
        // No byte more, of the log neither.
        disk::takes_no_byte(server.pid());
        ready(&api, 503).await;
        for _ in 0..20 {
            let answer = agent.heartbeat(json!({})).await;
            assert_eq!(answer.status, 503, "{answer:?}");
        }
        disk::takes_writes_again(server.pid());
        ready(&api, 200).await;
        agent.heartbeat(json!({})).await.is(200);
        assert_eq!(said(&server, "panicked"), 0);
    });
}

async fn a_database_that_is_read_only_for_a_while_stops_nothing_for_good(on: Engine) {
    let server = Server::start(on).await;
    server.may_fail();
    let api = server.api();
    let load = Load::start(api.clone(), 8);
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}'";
    for _ in 0..rounds(1) {
        load.goes_on(40).await;
        let read_only = "ALTER DATABASE {} SET default_transaction_read_only = on";
        server.store.administer(read_only).await;
        server.store.administer(cut).await;
        ready(&api, 503).await;
        refused_for(&api, "read_only").await;
        let writable = "ALTER DATABASE {} RESET default_transaction_read_only";
        server.store.administer(writable).await;
        load.goes_on(40).await;
        ready(&api, 200).await;
    }
    let acknowledged = load.finish().await;
    verify(&api, &acknowledged).await;
}

on_postgres!(a_database_that_is_read_only_for_a_while_stops_nothing_for_good);

mod torture {
    #[test]
    #[ignore = "a long campaign: cargo xtask torture"]
    fn a_disk_that_takes_no_writes_for_a_while_stops_nothing_for_good() {
        super::a_disk_that_takes_no_writes_for_a_while_stops_nothing_for_good();
    }

    #[test]
    #[ignore = "a long campaign: cargo xtask torture"]
    fn a_full_disk_is_told_to_agents_operators_and_the_log_and_ends_by_itself() {
        super::a_full_disk_is_told_to_agents_operators_and_the_log_and_ends_by_itself();
    }
}
