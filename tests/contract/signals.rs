//! Pause and cancel: at once without a worker, a request with one.

use serde_json::json;

use crate::support::{Engine, both_engines, is_time, together};

async fn a_run_without_a_worker_is_paused_or_cancelled_at_once(on: Engine) {
    let api = on.shared().await;
    for (kind, status) in [("pause", "paused"), ("cancel", "cancelled")] {
        let pending = api.create(json!({})).await;
        let ready = api.agent(json!({})).await;
        ready.release(json!({})).await.is(200);
        for run in [&pending, &ready.run] {
            let body = json!({"kind": kind, "reason": "lunch"});
            let answer = api.decide(run, body).await.is(200);
            assert_eq!(answer["run"]["status"], status);
            assert_eq!(answer["decision"]["kind"], kind);
            assert_eq!(answer["decision"]["reason"], "lunch");
            assert!(is_time(&answer["decision"]["at"]), "{answer}");
            assert_eq!(api.status(run).await, status);
        }
    }
}

async fn a_live_worker_is_told_and_may_commit_what_is_in_flight(on: Engine) {
    let api = on.shared().await;
    for kind in ["pause", "cancel"] {
        let agent = api.agent(json!({})).await;
        agent.does("done", json!({"result": "r"})).await;
        let seq = agent.executes("flying", json!({})).await;
        assert_eq!(
            agent.heartbeat(json!({})).await.is(200)["signal"],
            json!(null)
        );
        api.decide(&agent.run, json!({"kind": kind})).await.is(200);
        assert_eq!(agent.status().await, "running", "a request, not an order");
        assert_eq!(agent.heartbeat(json!({})).await.is(200)["signal"], kind);
        let stop = agent.begin("new", json!({})).await.is(200);
        assert_eq!(
            (&stop["outcome"], &stop["signal"]),
            (&json!("stop"), &json!(kind))
        );
        assert_eq!(api.run(&agent.run).await["steps"], 2, "nothing was begun");
        let replay = agent.begin("done", json!({})).await.is(200);
        assert_eq!(
            (&replay["outcome"], &replay["result"]),
            (&json!("replay"), &json!("r"))
        );
        let next = json!({"key": "new", "name": "new"});
        let commit = agent
            .commit(seq, 1, json!({"state": {"n": 1}, "next": next}))
            .await
            .is(200);
        assert_eq!(
            (&commit["snapshot"], &commit["signal"]),
            (&json!(1), &json!(kind))
        );
        assert_eq!(commit["next"]["outcome"], "stop", "{commit}");
        assert_eq!(api.run(&agent.run).await["steps"], 2);
        let released = agent.release(json!({})).await.is(200);
        let status = if kind == "pause" {
            "paused"
        } else {
            "cancelled"
        };
        assert_eq!(released["run"]["status"], status);
    }
}

async fn a_crashed_step_is_not_begun_again_once_a_stop_was_asked(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    agent.executes("one", json!({})).await;
    let agent = agent.dies().await;
    api.decide(&agent.run, json!({"kind": "pause"}))
        .await
        .is(200);
    assert_eq!(
        agent.begin("one", json!({})).await.is(200)["outcome"],
        "stop"
    );
    assert_eq!(
        api.step(&agent.run, 1).await["attempts"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

async fn cancel_is_stronger_than_pause(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    api.decide(&agent.run, json!({"kind": "pause"}))
        .await
        .is(200);
    api.decide(&agent.run, json!({"kind": "cancel"}))
        .await
        .is(200);
    assert_eq!(agent.heartbeat(json!({})).await.is(200)["signal"], "cancel");
    agent.release(json!({})).await.is(200);
    assert_eq!(agent.status().await, "cancelled");
}

async fn a_paused_run_can_be_cancelled(on: Engine) {
    let api = on.shared().await;
    let run = api.create(json!({})).await;
    api.decide(&run, json!({"kind": "pause"})).await.is(200);
    let answer = api.decide(&run, json!({"kind": "cancel"})).await.is(200);
    assert_eq!(answer["run"]["status"], "cancelled");
}

async fn what_is_over_cannot_be_paused_or_cancelled(on: Engine) {
    let api = on.shared().await;
    let done = api.agent(json!({})).await;
    done.finish(json!({})).await.is(200);
    let cancelled = api.create(json!({})).await;
    api.decide(&cancelled, json!({"kind": "cancel"}))
        .await
        .is(200);
    for run in [&done.run, &cancelled] {
        let before = api.facts(run).await;
        for kind in ["pause", "cancel"] {
            let refused = api
                .decide(run, json!({"kind": kind}))
                .await
                .refused(409, "decision_refused");
            assert!(refused["why"].is_string(), "{refused}");
        }
        assert_eq!(api.facts(run).await, before);
    }
}

async fn a_decision_on_an_old_version_names_who_was_first(on: Engine) {
    let api = on.shared().await;
    let run = api.create(json!({})).await;
    let version = api.run(&run).await["version"].clone();
    let first = api
        .decide(&run, json!({"kind": "pause", "if_version": version}))
        .await
        .is(200);
    let before = api.facts(&run).await;
    let late = api
        .decide(&run, json!({"kind": "cancel", "if_version": version}))
        .await;
    let late = late.refused(409, "version_conflict");
    assert_eq!(late["current_version"], first["run"]["version"]);
    assert_eq!(late["decided_by"], first["decision"]["author"]);
    assert_eq!(late["decided_at"], first["decision"]["at"]);
    assert_eq!(api.facts(&run).await, before);
}

async fn of_two_racing_operators_one_decides(on: Engine) {
    let api = on.shared().await;
    let run = api.create(json!({})).await;
    let version = api.run(&run).await["version"].clone();
    let answers = together(8, |i| {
        let (api, run, version) = (api.clone(), run.clone(), version.clone());
        let kind = ["pause", "cancel"][i % 2];
        async move {
            api.decide(&run, json!({"kind": kind, "if_version": version}))
                .await
        }
    })
    .await;
    let (won, lost): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
    assert_eq!(won.len(), 1);
    for answer in lost {
        answer.refused(409, "version_conflict");
    }
}

async fn a_decision_of_an_unknown_kind_is_refused(on: Engine) {
    let api = on.shared().await;
    let run = api.create(json!({})).await;
    let before = api.facts(&run).await;
    for kind in [
        json!("explode"),
        json!("Pause"),
        json!(""),
        json!(1),
        json!(null),
    ] {
        api.decide(&run, json!({"kind": kind}))
            .await
            .bad_input("kind");
    }
    assert_eq!(api.facts(&run).await, before);
}

both_engines!(
    a_run_without_a_worker_is_paused_or_cancelled_at_once,
    a_live_worker_is_told_and_may_commit_what_is_in_flight,
    a_crashed_step_is_not_begun_again_once_a_stop_was_asked,
    cancel_is_stronger_than_pause,
    a_paused_run_can_be_cancelled,
    what_is_over_cannot_be_paused_or_cancelled,
    a_decision_on_an_old_version_names_who_was_first,
    of_two_racing_operators_one_decides,
    a_decision_of_an_unknown_kind_is_refused,
);
