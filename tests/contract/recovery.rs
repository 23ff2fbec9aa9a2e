//! What a run becomes when its lease ends: the first that fits of cancelled, crashed, paused, waiting, ready.

use serde_json::{Value, json};

use crate::support::{Agent, Api, Engine, both_engines, past, together};

struct Ending {
    run: fn() -> Value,
    /// Recovery rules of the steps in flight.
    flying: &'static [&'static str],
    gate: bool,
    asked: Option<&'static str>,
    becomes: &'static str,
}

const fn ending(
    flying: &'static [&'static str],
    gate: bool,
    asked: Option<&'static str>,
    becomes: &'static str,
) -> Ending {
    Ending {
        run: || json!({}),
        flying,
        gate,
        asked,
        becomes,
    }
}

const fn held(
    run: fn() -> Value,
    flying: &'static [&'static str],
    asked: Option<&'static str>,
    becomes: &'static str,
) -> Ending {
    Ending {
        run,
        flying,
        gate: false,
        asked,
        becomes,
    }
}

/// Every row of the rule, and each pair of rows that compete.
const ENDINGS: &[Ending] = &[
    ending(&[], false, None, "ready"),
    ending(&["retry"], false, None, "ready"),
    ending(&["check"], false, None, "ready"),
    ending(&["retry", "check"], false, None, "ready"),
    ending(&["ask"], false, None, "crashed"),
    ending(&["retry", "ask", "check"], false, None, "crashed"),
    ending(&[], true, None, "waiting"),
    ending(&["retry"], true, None, "waiting"),
    ending(&["ask"], true, None, "crashed"),
    ending(&[], false, Some("pause"), "paused"),
    ending(&["retry"], false, Some("pause"), "paused"),
    ending(&["ask"], false, Some("pause"), "crashed"),
    ending(&[], true, Some("pause"), "paused"),
    ending(&[], false, Some("cancel"), "cancelled"),
    ending(&["retry"], true, Some("cancel"), "cancelled"),
    ending(&["ask"], false, Some("cancel"), "cancelled"),
    held(|| json!({"on_crash": "hold"}), &["retry"], None, "crashed"),
    held(
        || json!({"on_crash": "hold"}),
        &["retry"],
        Some("pause"),
        "crashed",
    ),
    held(
        || json!({"on_crash": "hold"}),
        &["retry"],
        Some("cancel"),
        "cancelled",
    ),
    held(|| json!({"on_crash": "hold"}), &[], None, "ready"),
    held(|| json!({"max_recoveries": 0}), &["retry"], None, "crashed"),
    held(
        || json!({"max_recoveries": 0}),
        &["retry"],
        Some("pause"),
        "crashed",
    ),
    held(|| json!({"max_recoveries": 0}), &[], None, "ready"),
];

impl Ending {
    async fn prepare(&self, api: &Api, ttl_ms: i64) -> Agent {
        let run = api.create((self.run)()).await;
        let agent = api.lease(&run, json!({"ttl_ms": ttl_ms})).await;
        for (i, recovery) in self.flying.iter().enumerate() {
            agent
                .executes(&format!("k{i}"), json!({"recovery": recovery}))
                .await;
        }
        if self.gate {
            let gate = json!({"kind": "gate", "gate": {"title": "?"}});
            assert_eq!(agent.begin("g", gate).await.is(200)["outcome"], "waiting");
        }
        if let Some(kind) = self.asked {
            let asked = api.decide(&agent.run, json!({"kind": kind})).await.is(200);
            assert_eq!(
                asked["run"]["status"], "running",
                "with a live lease it is a request"
            );
        }
        agent
    }

    async fn verify(&self, agent: &Agent, i: usize, how: &str) {
        let told = format!("row {i}, by {how}");
        assert_eq!(agent.status().await, self.becomes, "{told}");
        for seq in 1..=self.flying.len() as i64 {
            assert_eq!(
                agent.api.step(&agent.run, seq).await["status"],
                "crashed",
                "{told}"
            );
        }
        if self.gate {
            let seq = self.flying.len() as i64 + 1;
            assert_eq!(
                agent.api.step(&agent.run, seq).await["status"],
                "waiting",
                "{told}"
            );
        }
    }
}

async fn a_released_run_becomes_the_first_that_fits(on: Engine) {
    let api = on.shared().await;
    for (i, ending) in ENDINGS.iter().enumerate() {
        let agent = ending.prepare(&api, 30_000).await;
        let released = agent.release(json!({})).await.is(200);
        assert_eq!(released["run"]["status"], ending.becomes, "row {i}");
        ending.verify(&agent, i, "release").await;
    }
}

async fn an_expired_run_becomes_the_first_that_fits(on: Engine) {
    let api = on.shared().await;
    together(ENDINGS.len(), |i| {
        let (api, ending) = (api.clone(), &ENDINGS[i]);
        async move {
            let agent = ending.prepare(&api, 5000).await;
            let last = agent.heartbeat(json!({"ttl_ms": 1000})).await.is(200);
            past(&last["expires_at"]).await;
            ending.verify(&agent, i, "expiry").await;
        }
    })
    .await;
}

async fn a_run_taken_over_becomes_the_first_that_fits(on: Engine) {
    let api = on.shared().await;
    for (i, ending) in ENDINGS.iter().enumerate() {
        let agent = ending.prepare(&api, 30_000).await;
        let body = json!({"worker": agent.worker, "takeover": true});
        let answer = api.post(&agent.path("lease"), body).await;
        if ending.becomes == "ready" {
            assert_eq!(answer.is(200)["run"]["status"], "running", "row {i}");
        } else {
            assert_eq!(
                answer.refused(409, "run_not_runnable")["status"],
                ending.becomes,
                "row {i}"
            );
            ending.verify(&agent, i, "takeover").await;
        }
    }
}

async fn a_run_that_keeps_crashing_is_held_for_an_operator(on: Engine) {
    let api = on.shared().await;
    let run = api.create(json!({"max_recoveries": 2})).await;
    for becomes in ["ready", "ready", "crashed"] {
        let agent = api.lease(&run, json!({})).await;
        assert_eq!(
            agent.begin("one", json!({})).await.is(200)["outcome"],
            "execute"
        );
        agent.release(json!({})).await.is(200);
        assert_eq!(agent.status().await, becomes);
    }
}

async fn a_commit_starts_the_count_of_recoveries_anew(on: Engine) {
    let api = on.shared().await;
    let run = api.create(json!({"max_recoveries": 1})).await;
    for i in 1..=3 {
        let key = format!("k{i}");
        let agent = api.lease(&run, json!({})).await;
        agent.executes(&key, json!({})).await;
        let agent = agent.again().await;
        assert_eq!(agent.begin(&key, json!({})).await.is(200)["attempt"], 2);
        agent.commit(i, 2, json!({})).await.is(200);
        agent.release(json!({})).await.is(200);
        assert_eq!(agent.status().await, "ready");
    }
}

async fn endings_between_steps_are_no_recoveries(on: Engine) {
    let api = on.shared().await;
    let run = api.create(json!({"max_recoveries": 0})).await;
    for _ in 0..3 {
        let agent = api.lease(&run, json!({})).await;
        agent.release(json!({})).await.is(200);
        assert_eq!(agent.status().await, "ready");
    }
}

async fn a_sleep_with_a_step_that_asks_is_held_too(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    agent
        .executes("pay", json!({"effect": {"target": "bank"}}))
        .await;
    agent.release(json!({"after_ms": 10})).await.is(200);
    assert_eq!(agent.status().await, "crashed");
}

async fn a_step_that_asks_is_never_handed_out_by_itself(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    agent
        .executes("pay", json!({"effect": {"target": "bank"}}))
        .await;
    agent.release(json!({})).await.is(200);
    for takeover in [false, true] {
        let body = json!({"worker": "w", "takeover": takeover});
        let refused = api.post(&agent.path("lease"), body).await;
        assert_eq!(
            refused.refused(409, "run_not_runnable")["status"],
            "crashed"
        );
    }
}

both_engines!(
    a_released_run_becomes_the_first_that_fits,
    an_expired_run_becomes_the_first_that_fits,
    a_run_taken_over_becomes_the_first_that_fits,
    a_run_that_keeps_crashing_is_held_for_an_operator,
    a_commit_starts_the_count_of_recoveries_anew,
    endings_between_steps_are_no_recoveries,
    a_sleep_with_a_step_that_asks_is_held_too,
    a_step_that_asks_is_never_handed_out_by_itself,
);
