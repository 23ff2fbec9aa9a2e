//! Rewinds: nothing outside is undone, and what happened is named first.

use serde_json::json;

use super::{charge, decides, resumes};
use crate::support::{Agent, Api, Engine, both_engines};

/// Three steps, the second an effect; then the run is released between steps and paused.
async fn paused(api: &Api) -> Agent {
    let agent = api.agent(json!({"state": {"n": 0}})).await;
    for (i, key) in ["one", "pay", "three"].iter().enumerate() {
        let more = if *key == "pay" { charge() } else { json!({}) };
        let seq = agent.executes(key, more).await;
        let patch = json!([{"op": "replace", "path": "/n", "value": i + 1}]);
        agent
            .commit(seq, 1, json!({"result": key, "patch": patch}))
            .await
            .is(200);
    }
    agent.release(json!({})).await.is(200);
    api.decide(&agent.run, json!({"kind": "pause"}))
        .await
        .is(200);
    agent
}

async fn an_effect_left_behind_must_be_named(on: Engine) {
    let api = on.shared().await;
    let agent = paused(&api).await;
    let before = agent.facts().await;
    let version = before["run"]["version"].clone();
    let body = json!({"kind": "rewind", "step": 2, "if_version": version});
    let refused = api.decide(&agent.run, body).await;
    let problem = refused.refused(409, "decision_refused");
    assert!(
        problem["why"]
            .as_str()
            .unwrap()
            .contains("2 pay, stripe.charges"),
        "{problem}"
    );
    assert_eq!(problem["effects"][0]["seq"], 2);
    assert_eq!(agent.facts().await, before);
    decides(&api, &agent.run, json!({"kind": "rewind", "step": 3})).await;
}

async fn a_rewind_supersedes_and_keys_begin_as_new_steps(on: Engine) {
    let api = on.shared().await;
    let agent = paused(&api).await;
    let old_key = api.step(&agent.run, 2).await["idempotency_key"].clone();
    let answer = decides(
        &api,
        &agent.run,
        json!({"kind": "rewind", "step": 2, "again": [2]}),
    )
    .await;
    assert_eq!(answer["run"]["snapshot"], 4);
    assert_eq!(api.snapshot(&agent.run, 4).await["state"], json!({"n": 1}));
    assert_eq!(
        api.snapshot(&agent.run, 3).await["state"],
        json!({"n": 3}),
        "the old stays"
    );
    for seq in [2, 3] {
        assert_eq!(api.step(&agent.run, seq).await["status"], "superseded");
    }
    assert_eq!(answer["run"]["committed"], 1);
    resumes(&api, &agent.run, json!([])).await;
    let next = api.lease(&agent.run, json!({})).await;
    assert_eq!(next.lease["state"], json!({"n": 1}));
    assert_eq!(
        next.begin("one", json!({})).await.is(200)["outcome"],
        "replay"
    );
    let again = next.begin("pay", charge()).await.is(200);
    assert_eq!(
        (&again["outcome"], &again["seq"]),
        (&json!("execute"), &json!(4))
    );
    assert_ne!(again["idempotency_key"], old_key);
    let late = next.commit(3, 1, json!({"result": "late"})).await;
    late.refusal();
}

/// Hearing the answer later does not move the place that the gate began at.
async fn a_rewind_to_an_answered_gate_gives_the_state_it_began_from(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"state": {"n": 0}})).await;
    let gate = json!({"kind": "gate", "gate": {"title": "Go on?"}});
    agent.begin("ask", gate.clone()).await.is(200);
    agent.does("beside", json!({"state": {"n": 1}})).await;
    decides(&api, &agent.run, json!({"kind": "approve", "step": 1})).await;
    let given = agent.begin("ask", gate).await.is(200);
    assert_eq!(given["outcome"], "given");
    let folded = json!({"state": {"n": 1, "approved": true}});
    agent.commit(1, 1, folded).await.is(200);
    agent.release(json!({})).await.is(200);
    let fork = api
        .decide(&agent.run, json!({"kind": "fork", "step": 1}))
        .await
        .is(200);
    assert_eq!(fork["run"]["snapshot"], 0, "{fork}");
    let back = decides(&api, &agent.run, json!({"kind": "rewind", "step": 1})).await;
    let newest = back["run"]["snapshot"].as_i64().unwrap();
    let state = api.snapshot(&agent.run, newest).await["state"].clone();
    assert_eq!(state, json!({"n": 0}));
}

async fn a_done_run_that_is_rewound_waits_for_an_operator_and_goes_on(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"state": {"n": 0}})).await;
    for i in 1..=3 {
        let commit = json!({"state": {"n": i}, "tag": {"id": format!("t{i}")}});
        agent.does(&format!("s{i}"), commit).await;
    }
    agent.finish(json!({"result": "all"})).await.is(200);
    let back = decides(&api, &agent.run, json!({"kind": "rewind", "step": 2})).await;
    let run = &back["run"];
    assert_eq!(run["status"], "paused");
    assert!(
        run["result"].is_null() && run["finished_at"].is_null(),
        "{run}"
    );
    assert_eq!(&api.run(&agent.run).await, run);
    let finished = api.events(0, Some(&agent.run)).await;
    assert!(finished.iter().any(|it| it["kind"] == "run_finished"));
    let tags = api
        .get(&format!("/v1/tags?run={}", agent.run))
        .await
        .is(200);
    assert_eq!(tags["tags"].as_array().unwrap().len(), 1, "{tags}");
    let resumed = resumes(&api, &agent.run, json!([])).await;
    assert_eq!(resumed["run"]["status"], "ready");
    let next = api.lease(&agent.run, json!({})).await;
    assert_eq!(next.lease["state"], json!({"n": 1}));
    assert_eq!(
        next.begin("s1", json!({})).await.is(200)["outcome"],
        "replay"
    );
    next.does("s2", json!({})).await;
    next.finish(json!({})).await.is(200);

    let cancelled = api.agent(json!({})).await;
    cancelled.does("one", json!({})).await;
    cancelled.release(json!({})).await.is(200);
    decides(&api, &cancelled.run, json!({"kind": "cancel"})).await;
    let version = api.run(&cancelled.run).await["version"].clone();
    let body = json!({"kind": "rewind", "step": 1, "if_version": version});
    api.decide(&cancelled.run, body)
        .await
        .refused(409, "decision_refused");
}

/// A failure may bring a patch, and so a snapshot, as a commit does: that makes it no commit.
async fn a_failed_step_that_is_rewound_past_was_failed(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"state": {"n": 0}})).await;
    let found = |n: i64| json!([{"op": "replace", "path": "/n", "value": n}]);
    let twice = json!({"retry": {"max_attempts": 2, "backoff_ms": 0}});
    let seq = agent.executes("second try", twice).await;
    let failed = json!({"retryable": true, "patch": found(1)});
    let answer = agent.fail(seq, 1, failed).await.is(200);
    assert_eq!(answer["outcome"], "retry", "{answer}");
    let retry = json!({"retry": {"max_attempts": 2, "backoff_ms": 0}});
    agent.begin("second try", retry).await.is(200);
    agent.commit(seq, 2, json!({"result": 1})).await.is(200);
    let seq = agent.executes("node", charge()).await;
    let failed = json!({"retryable": false, "effect": "none", "patch": found(2)});
    let answer = agent.fail(seq, 1, failed).await.is(200);
    assert!(answer["snapshot"].is_i64(), "{answer}");
    agent.finish(json!({"outcome": "failed"})).await.is(200);
    decides(&api, &agent.run, json!({"kind": "rewind", "step": 1})).await;
    let was = [api.step(&agent.run, 1).await, api.step(&agent.run, 2).await];
    assert_eq!(
        [&was[0]["status"], &was[1]["status"]],
        ["superseded", "superseded"]
    );
    assert_eq!([&was[0]["was"], &was[1]["was"]], ["committed", "failed"]);
    let listed = api
        .get(&format!("/v1/runs/{}/steps", agent.run))
        .await
        .is(200);
    assert_eq!(listed["steps"][1]["was"], "failed", "{listed}");
}

both_engines!(
    a_failed_step_that_is_rewound_past_was_failed,
    a_done_run_that_is_rewound_waits_for_an_operator_and_goes_on,
    a_rewind_to_an_answered_gate_gives_the_state_it_began_from,
    an_effect_left_behind_must_be_named,
    a_rewind_supersedes_and_keys_begin_as_new_steps,
);
