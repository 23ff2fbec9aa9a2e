//! Acknowledged means durable: `kill -9` of the server under load, again and again.

use super::load::{Load, verify};
use crate::support::{Engine, Server, both_engines, campaigns, pause, rounds};

async fn a_killed_server_loses_no_acknowledged_commit(on: Engine) {
    let mut server = Server::start(on).await;
    let load = Load::start(server.api(), 16);
    for _ in 0..rounds(3) {
        load.goes_on(120).await;
        pause(rand::random_range(0..40)).await;
        server.restart().await;
        load.moved_to(server.api());
    }
    load.goes_on(60).await;
    let acknowledged = load.finish().await;
    verify(&server.api(), &acknowledged).await;
    server.restart().await;
    verify(&server.api(), &acknowledged).await;
}

both_engines!(a_killed_server_loses_no_acknowledged_commit);

campaigns!(a_killed_server_loses_no_acknowledged_commit);
