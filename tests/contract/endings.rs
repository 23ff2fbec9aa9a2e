//! `POST …/finish` and `…/release`: how a worker lets go.

use serde_json::json;

use crate::support::{Agent, Engine, both_engines};

async fn a_finished_run_is_done_with_its_result(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    agent.does("one", json!({"state": {"n": 1}})).await;
    let run = agent.finish(json!({"result": {"total": 3}})).await.is(200)["run"].clone();
    assert_eq!(run["status"], "done");
    assert_eq!(run["result"], json!({"total": 3}));
    assert!(run["lease"].is_null(), "{run}");
    assert_eq!(api.run(&agent.run).await, run);
    agent.heartbeat(json!({})).await.refused(409, "lease_lost");
    agent
        .begin("two", json!({}))
        .await
        .refused(409, "lease_lost");
}

async fn a_run_can_finish_as_failed_with_its_error(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let error = json!({"kind": "Budget", "message": "no money left"});
    let run = agent
        .finish(json!({"outcome": "failed", "error": error}))
        .await
        .is(200)["run"]
        .clone();
    assert_eq!((&run["status"], &run["error"]), (&json!("failed"), &error));
}

async fn a_run_cannot_finish_with_a_step_in_flight(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let seq = agent.executes("one", json!({})).await;
    let before = agent.facts().await;
    for outcome in ["done", "failed"] {
        agent
            .finish(json!({"outcome": outcome}))
            .await
            .refused(409, "step_in_flight");
    }
    assert_eq!(agent.facts().await, before);
    agent.commit(seq, 1, json!({})).await.is(200);
    agent.finish(json!({})).await.is(200);
}

async fn a_repeat_of_finish_gets_the_first_answer(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let first = agent.finish(json!({"result": 1})).await.is(200);
    let before = agent.facts().await;
    assert_eq!(agent.finish(json!({"result": 1})).await.is(200), first);
    assert_eq!(agent.facts().await, before);
}

async fn a_repeat_of_release_gets_the_first_answer(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let first = agent.release(json!({})).await.is(200);
    assert_eq!(first["run"]["status"], "ready");
    assert!(first["run"]["lease"].is_null(), "{first}");
    let before = agent.facts().await;
    assert_eq!(agent.release(json!({})).await.is(200), first);
    assert_eq!(agent.facts().await, before);
}

async fn a_repeat_of_release_does_not_touch_the_next_workers_lease(on: Engine) {
    let api = on.shared().await;
    let old = api.agent(json!({})).await;
    let new = old.again().await;
    let seq = new.executes("one", json!({})).await;
    let before = new.facts().await;
    let again = old.release(json!({})).await.is(200);
    assert_eq!(again["run"]["status"], "running", "`run` is current");
    assert_eq!(new.facts().await, before);
    new.commit(seq, 1, json!({})).await.is(200);
}

async fn a_repeat_of_a_sleep_does_not_prolong_it(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let first = agent.release(json!({"after_ms": 60_000})).await.is(200);
    let again = agent.release(json!({"after_ms": 60_000})).await.is(200);
    assert_eq!(again["run"]["runnable_at"], first["run"]["runnable_at"]);
}

async fn a_release_with_a_step_in_flight_crashes_the_step(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let seq = agent.executes("one", json!({})).await;
    assert_eq!(
        agent.release(json!({})).await.is(200)["run"]["status"],
        "ready"
    );
    let step = api.step(&agent.run, seq).await;
    assert_eq!(step["status"], "crashed");
    assert_eq!(step["attempts"][0]["outcome"], "crashed");
}

async fn who_lost_the_lease_can_neither_finish_nor_release(on: Engine) {
    let api = on.shared().await;
    let old = api.agent(json!({})).await;
    let new = old.dies().await;
    let before = new.facts().await;
    old.finish(json!({})).await.refused(409, "lease_lost");
    old.release(json!({})).await.refused(409, "lease_lost");
    old.release(json!({"after_ms": 1000}))
        .await
        .refused(409, "lease_lost");
    assert_eq!(new.facts().await, before);
}

async fn who_released_cannot_finish_and_who_finished_cannot_release(on: Engine) {
    let api = on.shared().await;
    let released = api.agent(json!({})).await;
    released.release(json!({})).await.is(200);
    released.finish(json!({})).await.refused(409, "lease_lost");
    assert_eq!(released.status().await, "ready");
    let finished = api.agent(json!({})).await;
    finished.finish(json!({})).await.is(200);
    finished.release(json!({})).await.refused(409, "lease_lost");
    assert_eq!(finished.status().await, "done");
}

async fn an_outcome_is_done_or_failed(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let before = agent.facts().await;
    for outcome in [
        json!("ready"),
        json!("Done"),
        json!(null),
        json!(1),
        json!("cancelled"),
    ] {
        agent
            .finish(json!({"outcome": outcome}))
            .await
            .bad_input("outcome");
    }
    agent
        .release(json!({"after_ms": -1}))
        .await
        .bad_input("after_ms");
    assert_eq!(agent.facts().await, before);
}

async fn a_worker_may_give_a_run_back_as_paused(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    agent.does("one", json!({})).await;
    let first = agent.release(json!({"pause": true})).await.is(200);
    assert_eq!(first["run"]["status"], "paused");
    let before = agent.facts().await;
    assert_eq!(agent.release(json!({"pause": true})).await.is(200), first);
    assert_eq!(agent.facts().await, before, "a repeat changes nothing");
    agent.release(json!({})).await.refused(409, "lease_lost");
    let lease = agent.path("lease");
    api.post(&lease, json!({"worker": "v"}))
        .await
        .refused(409, "run_not_runnable");
    let resume = json!({"kind": "resume", "reason": "r", "if_version": first["run"]["version"]});
    let resumed = api.decide(&agent.run, resume).await.is(200);
    assert_eq!(resumed["run"]["status"], "ready");
    api.lease(&agent.run, json!({})).await;
}

async fn a_pause_by_the_worker_comes_after_cancelled_and_crashed_and_before_waiting(on: Engine) {
    let api = on.shared().await;
    let paused = async |agent: &Agent| {
        let given = agent.release(json!({"pause": true})).await.is(200);
        given["run"]["status"].as_str().unwrap().to_owned()
    };
    let waits = api.agent(json!({})).await;
    let gate = json!({"kind": "gate", "gate": {"title": "?"}});
    waits.begin("ask", gate).await.is(200);
    assert_eq!(paused(&waits).await, "paused");
    let step = api.step(&waits.run, 1).await;
    assert_eq!(step["status"], "waiting", "the gate stays open");

    let crashed = api.agent(json!({"on_crash": "hold"})).await;
    crashed.executes("one", json!({})).await;
    assert_eq!(paused(&crashed).await, "crashed");

    let cancelled = api.agent(json!({})).await;
    let cancel = json!({"kind": "cancel", "reason": "r"});
    api.decide(&cancelled.run, cancel).await.is(200);
    assert_eq!(paused(&cancelled).await, "cancelled");
}

async fn a_run_sleeps_or_is_paused_not_both(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let before = agent.facts().await;
    for after_ms in [0, 1000] {
        agent
            .release(json!({"pause": true, "after_ms": after_ms}))
            .await
            .bad_input("pause");
    }
    assert_eq!(agent.facts().await, before);
}

both_engines!(
    a_finished_run_is_done_with_its_result,
    a_worker_may_give_a_run_back_as_paused,
    a_pause_by_the_worker_comes_after_cancelled_and_crashed_and_before_waiting,
    a_run_sleeps_or_is_paused_not_both,
    a_run_can_finish_as_failed_with_its_error,
    a_run_cannot_finish_with_a_step_in_flight,
    a_repeat_of_finish_gets_the_first_answer,
    a_repeat_of_release_gets_the_first_answer,
    a_repeat_of_release_does_not_touch_the_next_workers_lease,
    a_repeat_of_a_sleep_does_not_prolong_it,
    a_release_with_a_step_in_flight_crashes_the_step,
    who_lost_the_lease_can_neither_finish_nor_release,
    who_released_cannot_finish_and_who_finished_cannot_release,
    an_outcome_is_done_or_failed,
);
