//! Whole or nothing: a command that meets a damaged row, wherever it meets it, leaves the store bit for bit as it was;
//! the next command works, on another run and, once the row is mended, on the same.

mod behind;
mod orders;

use serde_json::json;

use crate::support::{Agent, Engine, Server, both_engines};
use behind::Behind;
use orders::{AGENTS, OPERATORS, Order};

/// Of the places on PostgreSQL, the run's own row and each third other are tried, other ones for each order: each query there
/// costs several times what it does on SQLite. `cargo xtask torture` tries all of them.
fn tried(on: Engine, order: usize, place: usize) -> bool {
    let all = on == Engine::Sqlite || std::env::var_os("STEP47_TORTURE").is_some();
    all || place == 0 || (order + place).is_multiple_of(3)
}

struct Trial<'a> {
    server: &'a Server,
    store: Behind,
    /// Another run, whose agent works on meanwhile; its rows are not compared.
    other: &'a Agent,
    met: usize,
}

impl Trial<'_> {
    /// Sends the order once for each value of the run that can be damaged.
    async fn each_place(&mut self, order: Order, tried: impl Fn(usize) -> bool) {
        let api = self.server.api();
        let mut scene = order.scene(&api).await;
        let mut before = self.store.dump(&self.other.run).await;
        let places = self.store.places(&scene.agent.run).await.len();
        for at in (0..places).filter(|at| tried(*at)) {
            let found = self.store.places(&scene.agent.run).await;
            let place = &found[at];
            let was = self.store.damage(place).await;
            let answer = order.send(&api, &scene).await;
            self.store.mend(place, &was).await;
            if !order.met_damage(&answer) {
                assert!(answer.status < 300, "{order:?} {place} {answer:?}");
                // It does without this value. The run is another one now.
                scene = order.scene(&api).await;
                before = self.store.dump(&self.other.run).await;
                continue;
            }
            // Mended, the store is the one it was before.
            let after = self.store.dump(&self.other.run).await;
            for (table, rows) in &before {
                assert_eq!(
                    after.get(table),
                    Some(rows),
                    "{order:?} met {place}: {table}"
                );
            }
            self.met += 1;
            self.other.heartbeat(json!({})).await.is(200);
        }
        let answer = order.send(&api, &scene).await;
        assert!(answer.status < 300, "{order:?} on mended rows: {answer:?}");
    }
}

async fn leave_nothing(on: Engine, orders: &[Order]) {
    let server = Server::start(on).await;
    let api = server.api();
    let run = api.create(json!({})).await;
    let other = api.lease(&run, json!({"ttl_ms": 3_600_000})).await;
    let mut trial = Trial {
        server: &server,
        store: Behind::of(&server.store.url).await,
        other: &other,
        met: 0,
    };
    for (nth, order) in orders.iter().enumerate() {
        let met = trial.met;
        trial.each_place(*order, |at| tried(on, nth, at)).await;
        assert!(
            trial.met > met,
            "{order:?} reads nothing that can be damaged"
        );
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
