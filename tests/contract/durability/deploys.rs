//! A deploy under load: the old server ends in good order, the next one takes its address.

use std::time::Duration;

use super::load::{Load, verify};
use crate::support::{Engine, Server, both_engines, campaigns, rounds};

/// Who is cut off between two requests sends again once; who is under way is answered.
async fn a_deploy_under_load_loses_nothing_and_costs_one_retry(on: Engine) {
    let mut server = Server::start(on).await;
    let load = Load::start(server.api(), 16);
    for _ in 0..rounds(3) {
        load.goes_on(100).await;
        server.redeploy(Duration::from_secs(12)).await;
        load.moved_to(server.api());
    }
    load.goes_on(60).await;
    let worst = load.worst();
    let acknowledged = load.finish().await;
    verify(&server.api(), &acknowledged).await;
    assert!(worst <= 1, "one call was sent again {worst} times");
}

/// With a socket that a supervisor holds, connections wait for the next server instead of being refused.
async fn a_deploy_on_a_held_socket_refuses_nobody(on: Engine) {
    let mut server = Server::start_on_held_socket(on).await;
    let load = Load::start(server.api(), 16);
    for _ in 0..rounds(3) {
        load.goes_on(100).await;
        server.redeploy(Duration::from_secs(12)).await;
    }
    load.goes_on(60).await;
    let (worst, refused) = (load.worst(), load.refused());
    let acknowledged = load.finish().await;
    verify(&server.api(), &acknowledged).await;
    assert_eq!(refused, 0, "connections met nobody");
    assert!(worst <= 1, "one call was sent again {worst} times");
}

both_engines!(
    a_deploy_under_load_loses_nothing_and_costs_one_retry,
    a_deploy_on_a_held_socket_refuses_nobody,
);

campaigns!(
    a_deploy_under_load_loses_nothing_and_costs_one_retry,
    a_deploy_on_a_held_socket_refuses_nobody,
);
