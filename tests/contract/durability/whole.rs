//! Whole or nothing: a command that meets a damaged row, wherever it meets it, leaves the store bit for bit as it was;
//! the next command works, on another run and, once the row is mended, on the same.

mod behind;
mod orders;

use serde_json::json;

use crate::support::{Agent, Engine, Server, both_engines};
use behind::Behind;
use orders::{AGENTS, OPERATORS, Order};

/// Sends the order once for each value of the run that can be damaged; answers how many it met.
async fn each_place(server: &Server, store: &mut Behind, order: Order, other: &Agent) -> usize {
    let api = server.api();
    let mut scene = order.scene(&api).await;
    let mut met = 0;
    let places = store.places(&scene.agent.run).await.len();
    for at in 0..places {
        let found = store.places(&scene.agent.run).await;
        let place = &found[at];
        let was = store.damage(place).await;
        let before = store.dump().await;
        let answer = order.send(&api, &scene).await;
        if !order.met_damage(&answer) {
            assert!(answer.status < 300, "{order:?} {place} {answer:?}");
            // It does without this value. The run is another one now.
            store.mend(place, &was).await;
            scene = order.scene(&api).await;
            continue;
        }
        let after = store.dump().await;
        for (table, rows) in &before {
            assert_eq!(
                after.get(table),
                Some(rows),
                "{order:?} met {place}: {table}"
            );
        }
        met += 1;
        other.heartbeat(json!({})).await.is(200);
        store.mend(place, &was).await;
    }
    let answer = order.send(&api, &scene).await;
    assert!(answer.status < 300, "{order:?} on mended rows: {answer:?}");
    met
}

async fn leave_nothing(on: Engine, orders: &[Order]) {
    let server = Server::start(on).await;
    let mut store = Behind::of(&server.store.url).await;
    let api = server.api();
    let run = api.create(json!({})).await;
    let other = api.lease(&run, json!({"ttl_ms": 3_600_000})).await;
    for order in orders {
        let met = each_place(&server, &mut store, *order, &other).await;
        assert!(met > 0, "{order:?} reads nothing that can be damaged");
    }
    let verified = server.store.command(&["verify"]).await;
    assert!(verified.status.success(), "{verified:?}");
}

async fn what_an_agent_sends_leaves_nothing_where_it_meets_damage(on: Engine) {
    leave_nothing(on, AGENTS).await;
}

async fn what_an_operator_decides_leaves_nothing_where_it_meets_damage(on: Engine) {
    leave_nothing(on, OPERATORS).await;
}

both_engines! {
    what_an_agent_sends_leaves_nothing_where_it_meets_damage,
    what_an_operator_decides_leaves_nothing_where_it_meets_damage,
}
