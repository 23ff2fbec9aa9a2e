//! `POST /v1/runs/{id}/lease` and heartbeats: one writer, until its lease ends.

use serde_json::{Value, json};

use crate::support::{Agent, Api, Engine, both_engines, is_time, past, together};
use step47::domain::Run;

async fn each_lease_has_a_higher_epoch_and_the_current_state(on: Engine) {
    let api = on.shared().await;
    let first = api.agent(json!({"state": {"n": 0}})).await;
    assert_eq!(first.lease["state"], json!({"n": 0}));
    assert_eq!(first.lease["snapshot"], 0);
    assert_eq!(first.lease["run"]["status"], "running");
    assert!(is_time(&first.lease["expires_at"]), "{}", first.lease);
    first.does("one", json!({"state": {"n": 1}})).await;
    let second = first.again().await;
    assert!(second.epoch > first.epoch);
    assert_eq!(second.lease["state"], json!({"n": 1}));
    assert_eq!(second.lease["snapshot"], 1);
}

async fn a_held_lease_is_refused_to_all_even_to_its_own_name(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let before = agent.facts().await;
    for worker in ["w", "other"] {
        let held = api
            .post(&agent.path("lease"), json!({"worker": worker}))
            .await;
        let held = held.refused(409, "lease_held");
        assert_eq!(held["worker"], "w");
        assert_eq!(held["expires_at"], agent.lease["expires_at"]);
    }
    assert_eq!(agent.facts().await, before);
    agent.heartbeat(json!({})).await.is(200);
}

async fn a_takeover_needs_the_holders_name(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let body = json!({"worker": "other", "takeover": true});
    api.post(&agent.path("lease"), body)
        .await
        .refused(409, "lease_held");
    agent.heartbeat(json!({})).await.is(200);
}

async fn a_takeover_ends_the_old_lease_at_once(on: Engine) {
    let api = on.shared().await;
    let old = api.agent(json!({})).await;
    let seq = old.executes("one", json!({})).await;
    let new = old.dies().await;
    assert!(new.epoch > old.epoch);
    assert_eq!(api.step(&old.run, seq).await["status"], "crashed");
    old.heartbeat(json!({})).await.refused(409, "lease_lost");
    old.begin("two", json!({})).await.refused(409, "lease_lost");
    new.heartbeat(json!({})).await.is(200);
    let begun = new.begin("one", json!({})).await.is(200);
    assert_eq!(
        (&begun["outcome"], &begun["attempt"]),
        (&json!("execute"), &json!(2))
    );
}

async fn a_takeover_of_a_free_run_is_a_lease(on: Engine) {
    let api = on.shared().await;
    let run = api.create(json!({})).await;
    let agent = api.lease(&run, json!({"takeover": true})).await;
    agent.heartbeat(json!({})).await.is(200);
}

async fn a_takeover_of_a_step_that_needs_an_operator_hands_out_nothing(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    agent
        .executes("pay", json!({"effect": {"target": "bank"}}))
        .await;
    let body = json!({"worker": "w", "takeover": true});
    let refused = api.post(&agent.path("lease"), body).await;
    assert_eq!(
        refused.refused(409, "run_not_runnable")["status"],
        "crashed"
    );
    assert_eq!(agent.status().await, "crashed");
    agent.heartbeat(json!({})).await.refused(409, "lease_lost");
}

/// One run per way to look first: nobody may use a lease after its last moment.
async fn an_expired_lease_is_over_at_that_instant_whoever_looks_first(on: Engine) {
    let api = on.shared().await;
    let runs = together(8, |way| {
        let api = api.clone();
        async move {
            let agent = expiring(&api).await;
            let late = match way {
                0 => agent.heartbeat(json!({})).await,
                1 => agent.begin("one", json!({})).await,
                2 => agent.begin("two", json!({})).await,
                3 => agent.commit(1, 1, json!({"state": 1})).await,
                4 => agent.fail(1, 1, json!({})).await,
                5 => agent.progress(1, 1, json!({"partial": 1})).await,
                6 => agent.finish(json!({})).await,
                _ => agent.release(json!({})).await,
            };
            late.refused(409, "lease_lost");
            agent.run
        }
    })
    .await;
    for run in runs {
        assert_eq!(api.status(&run).await, "ready");
        assert_eq!(api.step(&run, 1).await["status"], "crashed");
        assert_eq!(api.run(&run).await["snapshot"], 0);
    }
}

async fn an_expired_lease_can_be_taken_at_that_instant(on: Engine) {
    let api = on.shared().await;
    let old = expiring(&api).await;
    let next = api.lease(&old.run, json!({"worker": "next"})).await;
    assert!(next.epoch > old.epoch);
    assert_eq!(next.begin("one", json!({})).await.is(200)["attempt"], 2);
}

/// A run with a step in flight, whose lease ended just now.
async fn expiring(api: &Api) -> Agent {
    let run = api.create(json!({})).await;
    let agent = api.lease(&run, json!({"ttl_ms": 1000})).await;
    agent.executes("one", json!({})).await;
    past(&agent.heartbeat(json!({})).await.is(200)["expires_at"]).await;
    agent
}

async fn a_read_after_the_last_moment_shows_no_running_step(on: Engine) {
    let api = on.shared().await;
    together(4, |way| {
        let api = api.clone();
        async move {
            let run = expiring(&api).await.run;
            match way {
                0 => assert_eq!(api.status(&run).await, "ready"),
                1 => assert_eq!(api.step(&run, 1).await["status"], "crashed"),
                2 => {
                    let steps = api.get(&format!("/v1/runs/{run}/steps")).await.is(200);
                    assert_eq!(steps["steps"][0]["status"], "crashed");
                }
                _ => {
                    let listed = api.get(&format!("/v1/runs?q={run}")).await.is(200);
                    assert_eq!(listed["runs"][0]["status"], "ready");
                }
            }
        }
    })
    .await;
}

async fn every_accepted_write_renews_the_lease(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let expiry = async || {
        api.run(&agent.run).await["lease"]["expires_at"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let mut last = expiry().await;
    let mut renewed = async |what: &str| {
        let now = expiry().await;
        assert!(now > last, "{what}: {last} → {now}");
        last = now;
    };
    let beat = agent.heartbeat(json!({})).await.is(200);
    assert_eq!(beat["signal"], json!(null));
    assert!(
        beat.as_object().unwrap().contains_key("signal"),
        "signal: null is said: {beat}"
    );
    assert!(is_time(&beat["expires_at"]), "{beat}");
    renewed("heartbeat").await;
    agent
        .executes("one", json!({"retry": {"max_attempts": 2}}))
        .await;
    renewed("begin").await;
    agent.progress(1, 1, json!({"partial": 1})).await.is(204);
    renewed("progress").await;
    agent.fail(1, 1, json!({})).await.is(200);
    renewed("fail").await;
    agent.begin("one", json!({})).await.is(200);
    renewed("begin again").await;
    agent.commit(1, 2, json!({})).await.is(200);
    renewed("commit").await;
}

async fn a_refused_write_does_not_renew_the_lease(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    agent.executes("one", json!({})).await;
    let before = agent.facts().await;
    agent
        .begin("one", json!({"name": "other"}))
        .await
        .refused(409, "key_conflict");
    agent.finish(json!({})).await.refused(409, "step_in_flight");
    agent
        .commit(1, 1, json!({"patch": [{"op": "remove", "path": "/x"}]}))
        .await
        .refused(422, "patch_failed");
    agent
        .commit(9, 1, json!({}))
        .await
        .refused(404, "not_found");
    assert_eq!(agent.facts().await, before);
}

async fn a_heartbeat_can_change_the_term(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let hour = agent.heartbeat(json!({"ttl_ms": 3_600_000})).await.is(200);
    let ahead = |time: &str, minutes| {
        let time = chrono::DateTime::parse_from_rfc3339(time).unwrap();
        time - chrono::TimeDelta::minutes(minutes) > chrono::Utc::now()
    };
    assert!(ahead(hour["expires_at"].as_str().unwrap(), 55), "{hour}");
    let second = agent.heartbeat(json!({"ttl_ms": 1000})).await.is(200);
    assert!(
        !ahead(second["expires_at"].as_str().unwrap(), 1),
        "{second}"
    );
}

async fn the_terms_of_a_lease_are_1000_to_3600000_ms(on: Engine) {
    let api = on.shared().await;
    let run = api.create(json!({})).await;
    let path = format!("/v1/runs/{run}/lease");
    let before = api.facts(&run).await;
    for ttl in [999, 3_600_001, 0, -1, i64::MAX, i64::MIN] {
        let body = json!({"worker": "w", "ttl_ms": ttl});
        api.post(&path, body.clone()).await.refused(422, "invalid");
        api.post("/v1/claims", body).await.refused(422, "invalid");
    }
    assert_eq!(api.facts(&run).await, before);
    let agent = api.lease(&run, json!({"ttl_ms": 3_600_000})).await;
    let before = agent.facts().await;
    for ttl in [999, 3_600_001, -1] {
        let refused = agent.heartbeat(json!({"ttl_ms": ttl})).await;
        assert_eq!(refused.refused(422, "invalid")["path"], "ttl_ms");
    }
    assert_eq!(agent.facts().await, before);
    agent.heartbeat(json!({"ttl_ms": 1000})).await.is(200);
}

async fn a_run_that_is_not_runnable_says_its_status(on: Engine) {
    let api = on.shared().await;
    let refused = async |run: &str, status: &str| {
        assert_eq!(api.status(run).await, status);
        let answer = api
            .post(&format!("/v1/runs/{run}/lease"), json!({"worker": "w"}))
            .await;
        let problem = answer.refused(409, "run_not_runnable");
        assert_eq!(problem["status"], status);
        assert_eq!(problem["run_status"], status);
    };
    let done = api.agent(json!({})).await;
    done.finish(json!({})).await.is(200);
    refused(&done.run, "done").await;
    let failed = api.agent(json!({})).await;
    failed.finish(json!({"outcome": "failed"})).await.is(200);
    refused(&failed.run, "failed").await;
    let waiting = api.agent(json!({})).await;
    waiting
        .begin("g", json!({"kind": "gate", "gate": {"title": "?"}}))
        .await
        .is(200);
    waiting.release(json!({})).await.is(200);
    refused(&waiting.run, "waiting").await;
    let crashed = api.agent(json!({"on_crash": "hold"})).await;
    crashed.executes("one", json!({})).await;
    crashed.release(json!({})).await.is(200);
    refused(&crashed.run, "crashed").await;
    for (kind, status) in [("pause", "paused"), ("cancel", "cancelled")] {
        let run = api.create(json!({})).await;
        api.decide(&run, json!({"kind": kind})).await.is(200);
        refused(&run, status).await;
    }
}

async fn the_newest_workers_version_and_model_are_shown(on: Engine) {
    let api = on.shared().await;
    let run = api.create(json!({"version": "1", "model": "m1"})).await;
    let schema = json!({"type": "object", "required": ["n"]});
    let body = json!({"version": "2", "model": "m2", "state_schema": schema});
    let agent = api.lease(&run, body).await;
    let shown = api.run(&run).await;
    assert_eq!(shown["code_version"], "2");
    assert_eq!(shown["model"], "m2");
    assert_eq!(shown["state_schema"], schema);
    agent.again().await;
    let shown = api.run(&run).await;
    assert_eq!(
        (&shown["code_version"], &shown["model"]),
        (&json!("2"), &json!("m2"))
    );
}

async fn of_many_workers_one_gets_the_lease(on: Engine) {
    let api = on.shared().await;
    let run = api.create(json!({})).await;
    let answers = together(16, |i| {
        let (api, path) = (api.clone(), format!("/v1/runs/{run}/lease"));
        async move { api.post(&path, json!({"worker": format!("w{i}")})).await }
    })
    .await;
    let (got, held): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
    assert_eq!(got.len(), 1);
    for answer in held {
        answer.refused(409, "lease_held");
    }
}

async fn an_epoch_from_nowhere_holds_nothing(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    agent.executes("one", json!({})).await;
    let before = agent.facts().await;
    for epoch in [
        0,
        -1,
        agent.epoch + 1,
        agent.epoch + 1000,
        i64::MAX,
        i64::MIN,
    ] {
        let stranger = Agent {
            epoch,
            ..agent.clone()
        };
        for answer in [
            stranger.heartbeat(json!({})).await,
            stranger.begin("two", json!({})).await,
            stranger.begin("one", json!({})).await,
            stranger.fail(1, 1, json!({})).await,
            stranger.progress(1, 1, json!({"partial": 1})).await,
            stranger.finish(json!({})).await,
            stranger.release(json!({})).await,
        ] {
            let code = answer.refusal()["code"].clone();
            assert!(
                code == "lease_lost" || code == "invalid",
                "epoch {epoch}: {code}"
            );
        }
    }
    assert_eq!(agent.facts().await, before);
}

/// Elapsed as it stands at the moment a worker was last heard.
fn worked(run: &Value) -> i64 {
    let run: Run = serde_json::from_value(run.clone()).expect("a run");
    let (from, to) = run.worked().expect("it was taken");
    to.or(run.heard_at).expect("heard").0 - from.0
}

async fn elapsed_goes_on_where_it_stood_when_a_worker_takes_the_run(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"on_crash": "hold"})).await;
    agent.does("a", json!({})).await;
    agent.executes("b", json!({})).await;
    agent.release(json!({})).await.is(200);
    let stopped = api.run(&agent.run).await;
    let before = worked(&stopped);
    let resume = json!({"kind": "resume", "if_version": stopped["version"], "reason": "again"});
    api.decide(&agent.run, resume).await.is(200);
    assert_eq!(worked(&api.run(&agent.run).await), before, "a decision");
    api.lease(&agent.run, json!({})).await;
    let taken = api.run(&agent.run).await;
    assert!(taken["unheld_us"].as_i64() > Some(0), "{taken}");
    assert_eq!(worked(&taken), before, "taken again");
}

async fn a_run_that_ended_goes_on_where_it_ended(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    agent.does("a", json!({})).await;
    let error = json!({"kind": "Gone", "message": "404"});
    agent
        .finish(json!({"outcome": "failed", "error": error}))
        .await
        .is(200);
    let failed = api.run(&agent.run).await;
    let before = worked(&failed);
    let resume = json!({"kind": "resume", "if_version": failed["version"], "reason": "again"});
    api.decide(&agent.run, resume).await.is(200);
    assert_eq!(worked(&api.run(&agent.run).await), before, "a decision");
    api.lease(&agent.run, json!({})).await;
    assert_eq!(worked(&api.run(&agent.run).await), before, "taken again");
}

async fn a_run_that_ended_or_waits_is_reopened_for_its_next_turn(on: Engine) {
    let api = on.shared().await;
    let error = json!({"kind": "Gone", "message": "404"});
    for (body, was) in [
        (json!({"result": {"total": 3}}), "done"),
        (json!({"outcome": "failed", "error": error}), "failed"),
    ] {
        let agent = api.agent(json!({})).await;
        agent.does("one", json!({"state": {"n": 1}})).await;
        let ended = agent.finish(body.clone()).await.is(200);
        let lease = agent.path("lease");
        let plain = api.post(&lease, json!({"worker": "w"})).await;
        plain.refused(409, "run_not_runnable");
        let next = api.lease(&agent.run, json!({"reopen": true})).await;
        let run = api.run(&agent.run).await;
        assert_eq!(run["status"], "running", "{was}");
        assert!(run["result"].is_null() && run["error"].is_null(), "{run}");
        assert!(run["finished_at"].is_null(), "{run}");
        let events = api.events(0, Some(&agent.run)).await;
        let reopened = events.iter().find(|it| it["kind"] == "run_reopened");
        assert_eq!(reopened.expect("an event")["data"], json!({"was": was}));
        // Sent again, the end of the turn before is known, and changes nothing of this one.
        let again = agent.finish(body).await.is(200);
        assert_eq!(again["run"]["status"], "running");
        assert_eq!(ended["run"]["status"], was);
        let replayed = next.begin("one", json!({})).await.is(200);
        assert_eq!(replayed["outcome"], "replay");
        next.does("two", json!({"state": {"n": 2}})).await;
        next.finish(json!({})).await.is(200);
        assert_eq!(api.run(&agent.run).await["status"], "done");
    }
    let agent = api.agent(json!({})).await;
    let gate = json!({"kind": "gate", "gate": {"title": "Go on?"}});
    agent.begin("ask", gate.clone()).await.is(200);
    agent.release(json!({})).await.is(200);
    assert_eq!(api.run(&agent.run).await["status"], "waiting");
    let next = api.lease(&agent.run, json!({"reopen": true})).await;
    let still = next.begin("ask", gate).await.is(200);
    assert_eq!(still["outcome"], "waiting", "the gate stays open");
    next.release(json!({})).await.is(200);
    assert_eq!(api.run(&agent.run).await["status"], "waiting");
}

async fn what_an_operator_must_decide_about_is_not_reopened(on: Engine) {
    let api = on.shared().await;
    let cancelled = api.agent(json!({})).await;
    api.decide(&cancelled.run, json!({"kind": "cancel", "reason": "no"}))
        .await
        .is(200);
    cancelled.release(json!({})).await.is(200);
    let crashed = api.agent(json!({})).await;
    let effect = json!({"effect": {"target": "bank"}});
    crashed.executes("pay", effect.clone()).await;
    crashed.release(json!({})).await.is(200);
    // It stopped itself with a payment that may have happened.
    let unsure = api.agent(json!({})).await;
    let pay = unsure.executes("pay", effect).await;
    unsure
        .fail(pay, 1, json!({"effect": "unknown"}))
        .await
        .is(200);
    let error = json!({"kind": "Unsure", "message": "?"});
    let failed = json!({"outcome": "failed", "error": error});
    unsure.finish(failed).await.is(200);
    for agent in [cancelled, crashed, unsure] {
        let before = agent.facts().await;
        let body = json!({"worker": "w", "reopen": true});
        let refused = api.post(&agent.path("lease"), body).await;
        refused.refused(409, "run_not_runnable");
        assert_eq!(agent.facts().await, before);
    }
}

both_engines!(
    a_run_that_ended_or_waits_is_reopened_for_its_next_turn,
    what_an_operator_must_decide_about_is_not_reopened,
    elapsed_goes_on_where_it_stood_when_a_worker_takes_the_run,
    a_run_that_ended_goes_on_where_it_ended,
    each_lease_has_a_higher_epoch_and_the_current_state,
    a_held_lease_is_refused_to_all_even_to_its_own_name,
    a_takeover_needs_the_holders_name,
    a_takeover_ends_the_old_lease_at_once,
    a_takeover_of_a_free_run_is_a_lease,
    a_takeover_of_a_step_that_needs_an_operator_hands_out_nothing,
    an_expired_lease_is_over_at_that_instant_whoever_looks_first,
    an_expired_lease_can_be_taken_at_that_instant,
    a_read_after_the_last_moment_shows_no_running_step,
    every_accepted_write_renews_the_lease,
    a_refused_write_does_not_renew_the_lease,
    a_heartbeat_can_change_the_term,
    the_terms_of_a_lease_are_1000_to_3600000_ms,
    a_run_that_is_not_runnable_says_its_status,
    the_newest_workers_version_and_model_are_shown,
    of_many_workers_one_gets_the_lease,
    an_epoch_from_nowhere_holds_nothing,
);
