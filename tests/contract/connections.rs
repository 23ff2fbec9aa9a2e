//! Connections are counted, and none is kept for ever: not by half a request, not by a body that stops, not by a
//! server that is told to end.

use serde_json::json;
use std::time::Duration;

use crate::{
    memory::{HALF, memory, until_open},
    support::{DEADLINE, Engine, Server, Stream, Wire, eventually, pause, run, unique},
};

async fn who_does_not_go_on_is_cut_off(on: Engine) {
    let times =
        "connections.header_ms = 1500\nconnections.idle_ms = 2000\nconnections.body_ms = 2500";
    let server = Server::start_with(on, times).await;
    let api = server.api();
    let mut stream = Stream::open(&api, "?after=0", None).await;
    let mut silent = Wire::open(&api).await;
    let mut half = Wire::with(&api, HALF).await;
    let mut idle = Wire::with(&api, "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    let mut stopped = Wire::posting(&api, "/v1/runs", 1_000).await;
    stopped.send(b"{\"agent\":").await;
    let mut drip = Wire::posting(&api, "/v1/runs", 1_000).await;
    let dripping = tokio::spawn(async move {
        for _ in 0..30 {
            drip.send(b" ").await;
            pause(100).await;
        }
        drip.rest().await
    });
    assert_eq!(silent.rest().await, "");
    assert_eq!(half.rest().await, "");
    assert!(idle.rest().await.starts_with("HTTP/1.1 200 "));
    for said in [stopped.rest().await, dripping.await.expect("it is told")] {
        assert!(said.starts_with("HTTP/1.1 503 "), "{said}");
        assert!(said.contains("\r\nretry-after: "), "{said}");
        assert!(said.contains("connections.body_ms"), "{said}");
    }
    // A stream is no idle connection, however long it is quiet.
    let run = api.create(json!({})).await;
    assert_eq!(stream.next().await.expect("an event")["run"], json!(run));
}

async fn one_address_has_its_share_of_connections(on: Engine) {
    are_refused_beyond_five(on, "connections.per_peer = 5").await;
}

async fn there_are_only_so_many_connections_in_all(on: Engine) {
    are_refused_beyond_five(on, "connections.max = 5").await;
}

async fn are_refused_beyond_five(on: Engine, setting: &str) {
    let server = Server::start_with(on, setting).await;
    let api = server.api();
    let mut open = Vec::new();
    for _ in 0..5 {
        open.push(Wire::with(&api, HALF).await);
    }
    let mut one_more = Wire::open(&api).await;
    let said = one_more.rest().await;
    assert!(said.starts_with("HTTP/1.1 503 "), "{said}");
    assert!(said.contains("\"busy\""), "{said}");
    drop(open);
    eventually("there is room again", async || {
        let answer = api.try_post("/v1/runs", &json!({"agent": "a"})).await;
        answer.is_ok_and(|it| it.status == 201).then_some(())
    })
    .await;
}

/// What its values count beside its bytes must not put off for ever what is within every limit.
async fn a_body_of_many_values_fits_under_a_small_budget(on: Engine) {
    let settings = "body_max = 1048576\nconnections.body_budget = 1048576";
    let server = Server::start_with(on, settings).await;
    let api = server.api_as("agent", "many").await;
    let body = json!({"agent": "a", "input": vec![1; 500_000]});
    api.post("/v1/runs", body).await.is(201);
}

/// Half of the budget is for one token: of its bodies two fit, and the other token's is not in their way.
async fn unfinished_bodies_stay_within_their_budget(on: Engine) {
    const MIB: usize = 1 << 20;
    let settings = format!(
        "body_max = {}\nconnections.body_budget = {}\nconnections.body_ms = 120000",
        4 * MIB,
        16 * MIB
    );
    let server = Server::start_with(on, &settings).await;
    let greedy = server.api_as("agent", "greedy").await;
    let patient = server.api_as("agent", "patient").await;
    greedy.get("/v1/runs").await.is(200);
    let before = memory(&server);

    let body = json!({"id": unique("run"), "agent": "a"}).to_string() + &" ".repeat(3 * MIB);
    let (start, end) = body.split_at(2 * MIB);
    let mut wire = Wire::posting(&patient, "/v1/runs", body.len()).await;
    wire.send(start.as_bytes()).await;
    let (told, mut answers) = tokio::sync::mpsc::unbounded_channel();
    let mut unfinished = tokio::task::JoinSet::new();
    for _ in 0..40 {
        let (api, told) = (greedy.clone(), told.clone());
        unfinished.spawn(async move {
            let mut wire = Wire::posting(&api, "/v1/runs", 3 * MIB).await;
            wire.send(" ".repeat(3 * MIB - 1).as_bytes()).await;
            let said = wire.says(Duration::from_secs(100)).await;
            let _ = told.send(said);
        });
    }
    let mut refused = Vec::new();
    while refused.len() < 38 {
        let said = tokio::time::timeout(DEADLINE, answers.recv()).await;
        refused.push(
            said.expect("it is refused in time")
                .flatten()
                .expect("an answer"),
        );
    }
    let grown = memory(&server).saturating_sub(before);
    assert!(grown < 80 * MIB, "{} MiB for 40 bodies", grown / MIB);
    for said in &refused {
        let told = said.starts_with("HTTP/1.1 503 ") && said.contains("\r\nretry-after: ");
        assert!(told, "{said}");
    }

    wire.send(end.as_bytes()).await;
    let said = wire.says(DEADLINE).await.unwrap_or_default();
    assert!(said.starts_with("HTTP/1.1 201 "), "{said}");
    unfinished.shutdown().await;
    eventually("the budget is free again", async || {
        let body = json!({"agent": "a", "state": "x".repeat(3 * MIB)});
        let answer = greedy.try_post("/v1/runs", &body).await;
        answer.is_ok_and(|it| it.status == 201).then_some(())
    })
    .await;
}

async fn sigterm_answers_what_is_under_way_and_ends_though_clients_hang(on: Engine) {
    let mut server = Server::start_with(on, "connections.shutdown_ms = 3000").await;
    let api = server.api();
    api.get("/healthz").await.is(200);
    let mut half = Wire::with(&api, HALF).await;
    let mut never = Wire::posting(&api, "/v1/runs", 1_000).await;
    never.send(b"{\"agent\":").await;
    let body = json!({"id": unique("run"), "agent": "a"}).to_string();
    let (start, end) = body.split_at(10);
    let mut slow = Wire::posting(&api, "/v1/runs", body.len()).await;
    slow.send(start.as_bytes()).await;
    until_open(&api, 4).await;
    let answered = async {
        // Its end comes when the server is stopping already: that is told by its door.
        let (base, _) = api.parts();
        let address = base.trim_start_matches("http://");
        eventually("nobody is let in any more", async || {
            tokio::net::TcpStream::connect(address).await.err()
        })
        .await;
        slow.send(end.as_bytes()).await;
        slow.rest().await
    };
    let (said, ()) = tokio::join!(answered, server.terminates_within(DEADLINE));
    assert!(said.starts_with("HTTP/1.1 201 "), "{said}");
    assert!(said.contains("\r\nconnection: close\r\n"), "{said}");
    assert_eq!(half.rest().await, "");
    assert_eq!(never.rest().await, "");
}

async fn a_server_that_nobody_asks_anything_ends_at_once(on: Engine) {
    let mut server = Server::start_with(on, "connections.shutdown_ms = 600000").await;
    let api = server.api();
    api.get("/healthz").await.is(200);
    let _idle = Wire::with(&api, "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    let _half = Wire::with(&api, HALF).await;
    until_open(&api, 3).await;
    server.terminates_within(Duration::from_secs(15)).await;
}

macro_rules! on_one_engine {
    ($($test:ident),+ $(,)?) => {
        mod sqlite {
            use super::*;
            $(#[test] fn $test() { run(Engine::Sqlite, super::$test) })+
        }
    };
}
on_one_engine!(
    who_does_not_go_on_is_cut_off,
    one_address_has_its_share_of_connections,
    there_are_only_so_many_connections_in_all,
    a_body_of_many_values_fits_under_a_small_budget,
    unfinished_bodies_stay_within_their_budget,
    sigterm_answers_what_is_under_way_and_ends_though_clients_hang,
    a_server_that_nobody_asks_anything_ends_at_once,
);
