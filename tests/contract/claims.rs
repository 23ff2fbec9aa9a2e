//! `POST /v1/claims`: the oldest runnable run, to one worker, as soon as there is one.

use serde_json::{Value, json};
use std::{collections::HashSet, time::Duration};
use tokio::time::Instant;

use crate::support::{Agent, Api, Engine, both_engines, past, together, unique};

/// A claim for one agent's runs, so that tests do not take each other's.
async fn claim(api: &Api, agent: &str, more: Value) -> Option<Agent> {
    let body = crate::support::merged(json!({"worker": "claimer", "agents": [agent]}), more);
    let answer = api.post("/v1/claims", body).await;
    match answer.status {
        204 => {
            assert_eq!(answer.text, "", "204 has no body");
            None
        }
        _ => Some(Agent::new(api, "claimer", answer.is(200))),
    }
}

async fn the_oldest_runnable_run_comes_first(on: Engine) {
    let api = on.shared().await;
    let agent = unique("agent");
    let mut runs = Vec::new();
    for _ in 0..4 {
        runs.push(api.create(json!({"agent": agent})).await);
    }
    let mut claimed = Vec::new();
    while let Some(lease) = claim(&api, &agent, json!({})).await {
        lease.heartbeat(json!({})).await.is(200);
        claimed.push(lease.run);
    }
    assert_eq!(claimed, runs);
}

async fn a_claim_answers_as_a_lease_does(on: Engine) {
    let api = on.shared().await;
    let agent = unique("agent");
    api.create(json!({"agent": agent, "state": {"n": 5}})).await;
    let more = json!({"version": "7", "model": "m9", "ttl_ms": 5000});
    let lease = claim(&api, &agent, more).await.expect("a run").lease;
    assert_eq!(lease["state"], json!({"n": 5}));
    assert_eq!(lease["snapshot"], 0);
    assert_eq!(lease["run"]["status"], "running");
    assert_eq!(lease["run"]["code_version"], "7");
    assert_eq!(lease["run"]["model"], "m9");
    assert!(crate::support::is_time(&lease["expires_at"]), "{lease}");
}

async fn only_runs_of_the_named_agents_are_handed_out(on: Engine) {
    let api = on.shared().await;
    let (a, b, c) = (unique("a"), unique("b"), unique("c"));
    let first = api.create(json!({"agent": a})).await;
    let second = api.create(json!({"agent": b})).await;
    assert!(claim(&api, &c, json!({})).await.is_none());
    let both = json!({"agents": [c, b]});
    assert_eq!(claim(&api, "", both).await.expect("b's run").run, second);
    assert_eq!(
        claim(&api, &a, json!({})).await.expect("a's run").run,
        first
    );
}

async fn what_is_not_runnable_is_never_handed_out(on: Engine) {
    let api = on.shared().await;
    let agent = unique("agent");
    let more = json!({"agent": agent, "on_crash": "hold"});
    let _leased = api.agent(more.clone()).await;
    api.agent(more.clone())
        .await
        .finish(json!({}))
        .await
        .is(200);
    api.agent(more.clone())
        .await
        .finish(json!({"outcome": "failed"}))
        .await
        .is(200);
    let crashed = api.agent(more.clone()).await;
    crashed.executes("one", json!({})).await;
    crashed.release(json!({})).await.is(200);
    let waiting = api.agent(more.clone()).await;
    waiting
        .begin("g", json!({"kind": "gate", "gate": {"title": "?"}}))
        .await
        .is(200);
    waiting.release(json!({})).await.is(200);
    for kind in ["pause", "cancel"] {
        let run = api.create(more.clone()).await;
        api.decide(&run, json!({"kind": kind})).await.is(200);
    }
    assert!(claim(&api, &agent, json!({})).await.is_none());
}

async fn a_sleeping_run_is_runnable_only_when_its_time_has_come(on: Engine) {
    let api = on.shared().await;
    let agent = unique("agent");
    let sleeper = api.agent(json!({"agent": agent})).await;
    let slept = sleeper.release(json!({"after_ms": 1500})).await.is(200);
    assert_eq!(slept["run"]["status"], "ready");
    let until = slept["run"]["runnable_at"].clone();
    assert!(claim(&api, &agent, json!({})).await.is_none(), "it sleeps");
    let early = api
        .post(&sleeper.path("lease"), json!({"worker": "w"}))
        .await;
    assert_eq!(early.refused(409, "run_not_runnable")["status"], "ready");
    let woken = claim(&api, &agent, json!({"wait_ms": 20_000})).await;
    assert!(woken.is_some(), "it woke a waiting claim");
    let now = chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Micros, true);
    assert!(now.as_str() > until.as_str().unwrap(), "not before {until}");
}

async fn a_slept_out_run_can_be_leased_by_name(on: Engine) {
    let api = on.shared().await;
    let sleeper = api.agent(json!({})).await;
    let slept = sleeper.release(json!({"after_ms": 300})).await.is(200);
    past(&slept["run"]["runnable_at"]).await;
    api.lease(&sleeper.run, json!({})).await;
}

/// Starts a waiting claim, then makes a run runnable: the claim must get it long before its wait is over.
async fn wakes(api: &Api, agent: &str, make: impl AsyncFnOnce()) {
    let started = Instant::now();
    let (api2, agent2) = (api.clone(), agent.to_owned());
    let waiting =
        tokio::spawn(async move { claim(&api2, &agent2, json!({"wait_ms": 60_000})).await });
    crate::support::pause(100).await;
    assert!(!waiting.is_finished(), "nothing is runnable yet");
    make().await;
    assert!(waiting.await.unwrap().is_some());
    assert!(
        started.elapsed() < Duration::from_secs(20),
        "{:?}",
        started.elapsed()
    );
}

async fn a_waiting_claim_gets_a_new_run_at_once(on: Engine) {
    let api = on.shared().await;
    let agent = unique("agent");
    wakes(&api, &agent, async || {
        api.create(json!({"agent": agent})).await;
    })
    .await;
}

async fn a_waiting_claim_gets_a_released_run_at_once(on: Engine) {
    let api = on.shared().await;
    let agent = unique("agent");
    let holder = api.agent(json!({"agent": agent})).await;
    wakes(&api, &agent, async || {
        holder.release(json!({})).await.is(200);
    })
    .await;
}

async fn a_waiting_claim_gets_a_run_whose_worker_went_silent(on: Engine) {
    let api = on.shared().await;
    let agent = unique("agent");
    let run = api.create(json!({"agent": agent})).await;
    let silent = api.lease(&run, json!({"ttl_ms": 1000})).await;
    wakes(&api, &agent, async || drop(silent)).await;
}

async fn a_waiting_claim_ends_with_204_when_its_time_is_over(on: Engine) {
    let api = on.shared().await;
    let started = Instant::now();
    assert!(
        claim(&api, &unique("agent"), json!({"wait_ms": 400}))
            .await
            .is_none()
    );
    assert!(
        started.elapsed() >= Duration::from_millis(390),
        "{:?}",
        started.elapsed()
    );
    let started = Instant::now();
    assert!(
        claim(&api, &unique("agent"), json!({"wait_ms": 0}))
            .await
            .is_none()
    );
    assert!(started.elapsed() < Duration::from_secs(10));
}

async fn a_claimer_that_hung_up_takes_no_run(on: Engine) {
    let api = on.shared().await;
    let agent = unique("agent");
    let (api2, agent2) = (api.clone(), agent.clone());
    let gone = tokio::spawn(async move { claim(&api2, &agent2, json!({"wait_ms": 60_000})).await });
    crate::support::pause(200).await;
    gone.abort();
    let _ = gone.await;
    crate::support::pause(200).await;
    let run = api.create(json!({"agent": agent})).await;
    assert_eq!(
        claim(&api, &agent, json!({"wait_ms": 5000}))
            .await
            .expect("the run")
            .run,
        run
    );
}

async fn concurrent_claimers_never_share_a_run(on: Engine) {
    let api = on.shared().await;
    let agent = unique("agent");
    let mut runs = HashSet::new();
    for _ in 0..40 {
        runs.insert(api.create(json!({"agent": agent})).await);
    }
    let claimed = together(16, |i| {
        let (api, agent) = (api.clone(), agent.clone());
        async move {
            let mut mine = Vec::new();
            while let Some(lease) = claim(&api, &agent, json!({"worker": format!("w{i}")})).await {
                mine.push(lease.run);
            }
            mine
        }
    })
    .await;
    let claimed: Vec<_> = claimed.concat();
    assert_eq!(claimed.len(), 40, "each run once");
    assert_eq!(claimed.into_iter().collect::<HashSet<_>>(), runs);
}

async fn the_wait_of_a_claim_is_0_to_60000_ms(on: Engine) {
    let api = on.shared().await;
    for wait in [-1, 60_001, i64::MAX] {
        let body = json!({"worker": "w", "agents": [unique("agent")], "wait_ms": wait});
        let refused = api.post("/v1/claims", body).await;
        assert_eq!(refused.refused(422, "invalid")["path"], "wait_ms");
    }
}

both_engines!(
    the_oldest_runnable_run_comes_first,
    a_claim_answers_as_a_lease_does,
    only_runs_of_the_named_agents_are_handed_out,
    what_is_not_runnable_is_never_handed_out,
    a_sleeping_run_is_runnable_only_when_its_time_has_come,
    a_slept_out_run_can_be_leased_by_name,
    a_waiting_claim_gets_a_new_run_at_once,
    a_waiting_claim_gets_a_released_run_at_once,
    a_waiting_claim_gets_a_run_whose_worker_went_silent,
    a_waiting_claim_ends_with_204_when_its_time_is_over,
    a_claimer_that_hung_up_takes_no_run,
    concurrent_claimers_never_share_a_run,
    the_wait_of_a_claim_is_0_to_60000_ms,
);
