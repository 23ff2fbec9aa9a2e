//! Nobody can renew a lease at a server that is not there: those that were live get one more term, from the first
//! request on.

use serde_json::json;
use sqlx::{
    AssertSqlSafe, ConnectOptions as _, Connection as _, PgConnection, Row as _,
    postgres::PgConnectOptions,
};
use std::{str::FromStr as _, time::Duration};

use crate::support::{Engine, Server, both_engines, on_postgres, past, signal, together};

/// Longer than a server is silent that is there, and longer than the lease.
const AWAY: Duration = Duration::from_millis(3_500);

async fn no_request_finds_a_lease_ended_by_a_pause_of_the_server(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let mut agents = Vec::new();
    for _ in 0..8 {
        let run = api.create(json!({})).await;
        let agent = api.lease(&run, json!({})).await;
        agent.executes("one", json!({})).await;
        agents.push(agent);
    }
    let beats = |ttl_ms: i64| {
        let agents = agents.clone();
        together(agents.len(), move |i| {
            let agent = agents[i].clone();
            async move { agent.heartbeat(json!({"ttl_ms": ttl_ms})).await.status }
        })
    };
    assert_eq!(beats(2_000).await, [200; 8]);
    signal(server.pid(), "STOP");
    // They wait in line, so that they are the first that the server sees.
    let waiting = tokio::spawn(beats(60_000));
    tokio::time::sleep(AWAY).await;
    signal(server.pid(), "CONT");
    assert_eq!(waiting.await.expect("answers"), [200; 8]);
    for agent in &agents {
        agent.commit(1, 1, json!({"state": 1})).await.is(200);
    }
}

/// The database still lists the connections of a server that was killed a moment ago.
async fn a_server_that_only_seems_to_be_there_takes_no_grace_away(on: Engine) {
    let mut server = Server::start(on).await;
    let run = server.api().create(json!({})).await;
    let agent = server.api().lease(&run, json!({})).await;
    let seq = agent.executes("one", json!({})).await;
    let options = PgConnectOptions::from_str(&server.store.url).expect("a URL");
    let mut plain = options.clone().connect().await.expect("a connection");
    let sql = "SELECT id FROM servers ORDER BY ticked_at DESC LIMIT 1";
    let row = sqlx::query(AssertSqlSafe(sql)).fetch_one(&mut plain).await;
    let id: String = row.expect("a server").get(0);
    let ghost = options.application_name(&format!("step47-{id}"));
    let ghost: PgConnection = ghost.connect().await.expect("a connection");
    let renewed = agent.heartbeat(json!({"ttl_ms": 1_500})).await.is(200);
    server.kill();
    past(&renewed["expires_at"]).await;
    server.restart().await;
    let agent = agent.through(&server.api());
    agent.heartbeat(json!({"ttl_ms": 60_000})).await.is(200);
    agent.commit(seq, 1, json!({})).await.is(200);
    ghost.close().await.expect("closed");
}

both_engines!(no_request_finds_a_lease_ended_by_a_pause_of_the_server);
on_postgres!(a_server_that_only_seems_to_be_there_takes_no_grace_away);
