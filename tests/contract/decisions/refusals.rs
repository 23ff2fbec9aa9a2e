//! Decisions that are refused: clearly, and without a trace in the run.

use serde_json::json;

use super::{crashed, decides};
use crate::support::{Engine, both_engines, merged};

async fn the_second_of_two_hears_who_was_first(on: Engine) {
    let api = on.shared().await;
    let (agent, seq) = crashed(&api, 0).await;
    let version = api.run(&agent.run).await["version"].clone();
    let body = json!({"kind": "skip", "step": seq, "if_version": version});
    let first = api.decide(&agent.run, body.clone()).await.is(200);
    let problem = api
        .decide(&agent.run, body)
        .await
        .refused(409, "version_conflict");
    assert_eq!(problem["decided_by"], first["decision"]["author"]);
    assert_eq!(problem["decided_at"], first["decision"]["at"]);
    let what = format!("skipped step {seq}");
    assert_eq!(problem["decided_what"], what);
    assert_eq!(problem["current_version"], first["run"]["version"]);
}

/// Whoever read the page again before the answer has the newest version, and is told all the same.
async fn who_answers_what_is_answered_hears_what_was_said(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let gate = json!({"title": "Refund?", "choices": ["Refund €120.00", "Refuse"]});
    let begun = json!({"kind": "gate", "gate": gate});
    agent.begin("g", begun).await.is(200);
    agent.release(json!({})).await.is(200);
    let answer = |choice: &str| json!({"kind": "answer", "step": 1, "result": {"choice": choice}});
    let before = api.run(&agent.run).await["version"].clone();
    let first = decides(&api, &agent.run, answer("Refund €120.00")).await;
    let now = api.run(&agent.run).await["version"].clone();
    for (version, code) in [(before, "version_conflict"), (now, "decision_refused")] {
        let body = merged(
            answer("Refuse"),
            json!({"if_version": version, "reason": "no"}),
        );
        let problem = api.decide(&agent.run, body).await.refused(409, code);
        assert_eq!(problem["decided_by"], first["decision"]["author"], "{code}");
        assert_eq!(problem["decided_at"], first["decision"]["at"], "{code}");
        assert_eq!(
            problem["decided_what"], "answered “Refund €120.00”",
            "{code}"
        );
        let detail = problem["detail"].as_str().expect("words");
        assert!(detail.contains("answered “Refund €120.00”"), "{detail}");
    }
}

async fn a_plan_that_is_no_longer_true_is_not_resumed(on: Engine) {
    let api = on.shared().await;
    let (agent, seq) = crashed(&api, 0).await;
    let plan = api.get(&agent.path("plan")).await.is(200);
    agent
        .commit(seq, 1, json!({"result": "late"}))
        .await
        .refused(409, "lease_lost");
    let version = api.run(&agent.run).await["version"].clone();
    let choices = json!([{"kind": "retry", "step": seq}]);
    let body =
        json!({"kind": "resume", "if_version": version, "plan": plan["hash"], "choices": choices});
    api.decide(&agent.run, body)
        .await
        .refused(409, "plan_changed");
    let plan = api.get(&agent.path("plan")).await.is(200);
    assert_eq!(
        plan["steps"][0]["evidence"]["result"], "late",
        "offered as the result"
    );
    let body =
        json!({"kind": "resume", "if_version": version, "plan": plan["hash"], "choices": choices});
    api.decide(&agent.run, body).await.is(200);
}

async fn unknown_steps_wrong_statuses_and_missing_versions_are_refused(on: Engine) {
    let api = on.shared().await;
    let (agent, seq) = crashed(&api, 1).await;
    let before = agent.facts().await;
    let version = before["run"]["version"].clone();
    for (body, status, code) in [
        (json!({"kind": "retry", "step": 99}), 404, "not_found"),
        (json!({"kind": "rewind", "step": 99}), 404, "not_found"),
        (json!({"kind": "skip", "step": 99}), 404, "not_found"),
        (json!({"kind": "retry", "step": 1}), 409, "decision_refused"),
        (
            json!({"kind": "approve", "step": seq}),
            409,
            "decision_refused",
        ),
        (json!({"kind": "retry"}), 422, "invalid"),
        (
            json!({"kind": "retry", "step": seq, "again": [1]}),
            422,
            "invalid",
        ),
        (
            json!({"kind": "resume", "choices": [{"kind": "edit", "step": seq}]}),
            422,
            "invalid",
        ),
        (
            json!({"kind": "resume", "choices": [{"kind": "retry", "step": seq}, {"kind": "skip", "step": seq}]}),
            422,
            "invalid",
        ),
        (json!({"kind": "note"}), 422, "invalid"),
    ] {
        let body = crate::support::merged(body, json!({"if_version": version}));
        api.decide(&agent.run, body).await.refused(status, code);
    }
    api.decide(&agent.run, json!({"kind": "retry", "step": seq}))
        .await
        .bad_input("if_version");
    assert_eq!(agent.facts().await, before);
}

async fn marks_move_no_version_and_an_acknowledged_run_needs_nobody(on: Engine) {
    let api = on.shared().await;
    let (agent, _) = crashed(&api, 0).await;
    let version = api.run(&agent.run).await["version"].clone();
    for body in [
        json!({"kind": "note", "text": "asked the bank"}),
        json!({"kind": "pin"}),
        json!({"kind": "claim"}),
    ] {
        api.decide(&agent.run, body).await.is(200);
    }
    let run = api.run(&agent.run).await;
    assert_eq!(run["version"], version);
    assert!(run["looking"]["by"].is_string(), "{run}");
    let answer = decides(&api, &agent.run, json!({"kind": "acknowledge"})).await;
    assert_eq!(
        (&answer["run"]["acknowledged"], &answer["run"]["status"]),
        (&json!(true), &json!("crashed"))
    );
}

both_engines!(
    who_answers_what_is_answered_hears_what_was_said,
    the_second_of_two_hears_who_was_first,
    a_plan_that_is_no_longer_true_is_not_resumed,
    unknown_steps_wrong_statuses_and_missing_versions_are_refused,
    marks_move_no_version_and_an_acknowledged_run_needs_nobody,
);
