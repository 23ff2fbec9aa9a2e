//! The database hangs up in the middle of everything: the outcome of a COMMIT may be unknown, but never wrong.

use super::load::{Load, verify};
use crate::support::{Engine, Server, on_postgres, rounds};

async fn a_lost_database_connection_loses_no_acknowledged_commit(on: Engine) {
    let server = Server::start(on).await;
    server.may_fail();
    let load = Load::start(server.api(), 16);
    for _ in 0..rounds(5) {
        load.goes_on(60).await;
        let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}'";
        server.store.administer(cut).await;
    }
    load.goes_on(60).await;
    let acknowledged = load.finish().await;
    verify(&server.api(), &acknowledged).await;
}

on_postgres!(a_lost_database_connection_loses_no_acknowledged_commit);
