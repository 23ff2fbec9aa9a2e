//! `POST …/fail`: retried, looked at, or held, by the step's rules.

use serde_json::json;

use crate::support::{Agent, Engine, both_engines};

async fn a_step_that_fails_once_too_often_stops_for_good(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let seq = agent.executes("one", json!({})).await;
    let error = json!({"kind": "Http", "message": "502", "stack": "at line 1\nat line 2"});
    let failed = agent.fail(seq, 1, json!({"error": error})).await.is(200);
    assert_eq!(failed["outcome"], "stop");
    let step = api.step(&agent.run, seq).await;
    assert_eq!(step["status"], "failed");
    assert_eq!(step["attempts"][0]["outcome"], "failed");
    assert_eq!(step["attempts"][0]["error"], error);
    let replayed = async |agent: &Agent| {
        let again = agent.begin("one", json!({})).await.is(200);
        assert_eq!(
            (&again["outcome"], &again["seq"]),
            (&json!("failed"), &json!(seq))
        );
        assert_eq!(again["error"], error, "replayed code takes the same branch");
        let step = api.step(&agent.run, seq).await;
        assert_eq!(step["attempts"].as_array().unwrap().len(), 1);
    };
    replayed(&agent).await;
    replayed(&agent.again().await).await;
}

async fn an_agent_may_go_on_after_a_failed_step(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let seq = agent.executes("one", json!({})).await;
    agent.fail(seq, 1, json!({})).await.is(200);
    assert_eq!(agent.status().await, "running", "the lease stays");
    agent.does("two", json!({"state": 1})).await;
    assert_eq!(
        agent.finish(json!({})).await.is(200)["run"]["status"],
        "done"
    );
}

async fn a_failing_step_is_retried_with_doubling_pauses(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let retry = json!({"retry": {"max_attempts": 4, "backoff_ms": 10}});
    let first = agent.begin("one", retry.clone()).await.is(200);
    for (attempt, pause) in [(1, 10), (2, 20), (3, 40)] {
        let failed = agent.fail(1, attempt, json!({})).await.is(200);
        assert_eq!(
            failed,
            json!({"outcome": "retry", "after_ms": pause}),
            "attempt {attempt}"
        );
        let next = agent.begin("one", retry.clone()).await.is(200);
        assert_eq!(next["outcome"], "execute");
        assert_eq!(next["attempt"], json!(attempt + 1));
        assert_eq!(next["idempotency_key"], first["idempotency_key"]);
    }
    assert_eq!(agent.fail(1, 4, json!({})).await.is(200)["outcome"], "stop");
    assert_eq!(api.step(&agent.run, 1).await["status"], "failed");
}

async fn the_first_pause_is_a_second_unless_said(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    agent
        .executes("one", json!({"retry": {"max_attempts": 2}}))
        .await;
    assert_eq!(
        agent.fail(1, 1, json!({})).await.is(200),
        json!({"outcome": "retry", "after_ms": 1000})
    );
}

async fn a_failure_that_is_not_retryable_stops_at_once(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    agent
        .executes("one", json!({"retry": {"max_attempts": 5}}))
        .await;
    assert_eq!(
        agent.fail(1, 1, json!({"retryable": false})).await.is(200)["outcome"],
        "stop"
    );
    assert_eq!(
        agent.begin("one", json!({})).await.is(200)["outcome"],
        "failed"
    );
}

async fn crashed_attempts_do_not_use_up_retries(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let retry = json!({"retry": {"max_attempts": 2, "backoff_ms": 10}});
    agent.executes("one", retry.clone()).await;
    let agent = agent.dies().await;
    agent.begin("one", retry.clone()).await.is(200);
    assert_eq!(
        agent.fail(1, 2, json!({})).await.is(200),
        json!({"outcome": "retry", "after_ms": 10})
    );
    let agent = agent.again().await;
    assert_eq!(agent.begin("one", retry).await.is(200)["attempt"], 3);
    assert_eq!(agent.fail(1, 3, json!({})).await.is(200)["outcome"], "stop");
}

async fn a_retry_can_be_begun_under_the_next_lease(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    agent
        .executes(
            "one",
            json!({"retry": {"max_attempts": 2, "backoff_ms": 5}}),
        )
        .await;
    agent.fail(1, 1, json!({})).await.is(200);
    let agent = agent.again().await;
    let next = agent.begin("one", json!({})).await.is(200);
    assert_eq!(
        (&next["outcome"], &next["attempt"]),
        (&json!("execute"), &json!(2))
    );
}

async fn an_effect_of_which_nobody_knows_waits_for_an_operator(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let effect = json!({"effect": {"target": "bank"}, "retry": {"max_attempts": 5}});
    agent.executes("pay", effect.clone()).await;
    let failed = agent.fail(1, 1, json!({})).await.is(200);
    assert_eq!(
        failed["outcome"], "stop",
        "an effect is unknown unless said, and asks unless said"
    );
    assert_eq!(api.step(&agent.run, 1).await["status"], "crashed");
    let again = agent.begin("pay", effect).await;
    assert_ne!(
        again.body()["outcome"],
        "execute",
        "never by itself: {}",
        again.text
    );
    agent.release(json!({})).await.is(200);
    assert_eq!(agent.status().await, "crashed");
}

async fn an_effect_that_did_not_happen_is_a_plain_failure(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let effect =
        json!({"effect": {"target": "bank"}, "retry": {"max_attempts": 2, "backoff_ms": 7}});
    agent.executes("pay", effect.clone()).await;
    let none = json!({"effect": "none"});
    assert_eq!(
        agent.fail(1, 1, none.clone()).await.is(200),
        json!({"outcome": "retry", "after_ms": 7})
    );
    assert_eq!(
        agent.begin("pay", effect).await.is(200)["outcome"],
        "execute"
    );
    assert_eq!(agent.fail(1, 2, none).await.is(200)["outcome"], "stop");
    assert_eq!(api.step(&agent.run, 1).await["status"], "failed");
    agent.release(json!({})).await.is(200);
    assert_eq!(agent.status().await, "ready");
}

async fn an_unknown_effect_that_can_be_checked_is_checked_next(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let effect = json!({"effect": {"target": "bank"}, "recovery": "check", "retry": {"max_attempts": 3, "backoff_ms": 0}});
    agent.executes("pay", effect.clone()).await;
    assert_eq!(
        agent.fail(1, 1, json!({})).await.is(200)["outcome"],
        "retry"
    );
    let next = agent.begin("pay", effect).await.is(200);
    assert_eq!(
        (&next["outcome"], &next["attempt"]),
        (&json!("check"), &json!(2))
    );
    agent
        .commit(1, 2, json!({"result": "it had happened"}))
        .await
        .is(200);
}

async fn an_unknown_effect_that_may_be_retried_is_retried(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let effect = json!({"effect": {"target": "bank"}, "recovery": "retry", "retry": {"max_attempts": 3, "backoff_ms": 0}});
    let first = agent.begin("pay", effect.clone()).await.is(200);
    assert_eq!(
        agent.fail(1, 1, json!({})).await.is(200)["outcome"],
        "retry"
    );
    let next = agent.begin("pay", effect).await.is(200);
    assert_eq!(next["outcome"], "execute");
    assert_eq!(next["idempotency_key"], first["idempotency_key"]);
}

async fn a_failure_said_to_be_unknown_counts_without_an_effect_too(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    agent.executes("one", json!({"recovery": "ask"})).await;
    assert_eq!(
        agent.fail(1, 1, json!({"effect": "unknown"})).await.is(200)["outcome"],
        "stop"
    );
    assert_eq!(api.step(&agent.run, 1).await["status"], "crashed");
}

async fn a_repeat_of_fail_gets_the_first_answer(on: Engine) {
    let api = on.shared().await;
    let old = api.agent(json!({})).await;
    let retry = json!({"retry": {"max_attempts": 3, "backoff_ms": 10}});
    old.executes("one", retry.clone()).await;
    let body = json!({"usage": {"input_tokens": 3}});
    let first = old.fail(1, 1, body.clone()).await.is(200);
    let after = old.facts().await;
    assert_eq!(old.fail(1, 1, body.clone()).await.is(200), first);
    assert_eq!(old.facts().await, after);
    let new = old.dies().await;
    new.begin("one", retry).await.is(200);
    let before = new.facts().await;
    assert_eq!(
        old.fail(1, 1, body).await.is(200),
        first,
        "also after its lease is gone"
    );
    assert_eq!(new.facts().await, before);
}

async fn a_repeat_of_a_final_fail_gets_the_first_answer(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    agent
        .executes("one", json!({"effect": {"target": "bank"}}))
        .await;
    let first = agent.fail(1, 1, json!({})).await.is(200);
    agent.release(json!({})).await.is(200);
    let before = agent.facts().await;
    assert_eq!(agent.fail(1, 1, json!({})).await.is(200), first);
    assert_eq!(agent.facts().await, before);
}

async fn a_failure_may_change_the_state(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"state": {"tried": []}})).await;
    agent
        .executes(
            "one",
            json!({"retry": {"max_attempts": 3, "backoff_ms": 10}}),
        )
        .await;
    let patch = |url: &str| json!({"patch": [{"op": "add", "path": "/tried/-", "value": url}]});
    let failed = agent.fail(1, 1, patch("a")).await.is(200);
    assert_eq!(
        failed,
        json!({"outcome": "retry", "after_ms": 10, "snapshot": 1})
    );
    let snapshot = api.snapshot(&agent.run, 1).await;
    assert_eq!(snapshot["state"], json!({"tried": ["a"]}));
    assert_eq!(snapshot["seq"], 1);
    let before = agent.facts().await;
    assert_eq!(agent.fail(1, 1, patch("a")).await.is(200), failed);
    assert_eq!(agent.facts().await, before, "a repeat changes nothing");
    agent
        .fail(1, 1, patch("b"))
        .await
        .refused(409, "attempt_over");
    agent
        .fail(1, 1, json!({}))
        .await
        .refused(409, "attempt_over");

    agent.begin("one", json!({})).await.is(200);
    agent.fail(1, 2, json!({})).await.is(200);
    agent.begin("one", json!({})).await.is(200);
    let last = agent.fail(1, 3, patch("c")).await.is(200);
    assert_eq!(last, json!({"outcome": "stop", "snapshot": 2}));
    let next = agent.again().await;
    assert_eq!(next.lease["state"], json!({"tried": ["a", "c"]}));
}

async fn a_failure_whose_patch_does_not_fit_changes_nothing(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"state": {"n": 1}})).await;
    let seq = agent.executes("one", json!({})).await;
    let before = agent.facts().await;
    let patch = json!([{"op": "add", "path": "/a", "value": 1}, {"op": "remove", "path": "/b"}]);
    agent
        .fail(seq, 1, json!({"patch": patch}))
        .await
        .refused(422, "patch_failed");
    assert_eq!(agent.facts().await, before);
    agent
        .fail(seq, 1, json!({"patch": [{"op": "nothing"}]}))
        .await
        .bad_input("patch");
    assert_eq!(agent.facts().await, before);
    agent.commit(seq, 1, json!({})).await.is(200);
}

async fn a_held_effect_keeps_what_its_failure_said_of_the_state(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"state": {}})).await;
    let effect = json!({"effect": {"target": "bank"}});
    let seq = agent.executes("pay", effect).await;
    let patch = json!([{"op": "add", "path": "/tried", "value": true}]);
    let failed = agent.fail(seq, 1, json!({"patch": patch})).await.is(200);
    assert_eq!(failed, json!({"outcome": "stop", "snapshot": 1}));
    assert_eq!(api.step(&agent.run, seq).await["status"], "crashed");
    assert_eq!(
        api.snapshot(&agent.run, 1).await["state"],
        json!({"tried": true})
    );
    agent.release(json!({})).await.is(200);
    let rewound = json!({
        "kind": "rewind", "step": seq, "again": [seq], "reason": "r",
        "if_version": api.run(&agent.run).await["version"],
    });
    api.decide(&agent.run, rewound).await.is(200);
    assert_eq!(
        api.snapshot(&agent.run, 2).await["state"],
        json!({}),
        "before the step is before its failure"
    );
}

/// Who fails and cannot say whether it happened may not take the doubt along: a rewind or a fork must name the effect.
async fn a_failed_effect_that_may_have_happened_is_named_by_a_rewind_and_a_fork(on: Engine) {
    let api = on.shared().await;
    let pay = json!({"effect": {"target": "bank"}, "recovery": "retry"});
    // It failed for good without a word of what happened; or it could not say so, and its last attempt did nothing.
    let endings = [
        vec![json!({"retryable": false})],
        vec![
            json!({"effect": "unknown"}),
            json!({"effect": "none", "retryable": false}),
        ],
    ];
    for fails in endings {
        let agent = api.agent(json!({})).await;
        for (at, fail) in fails.iter().enumerate() {
            agent.begin("pay", pay.clone()).await.is(200);
            agent.fail(1, at as i64 + 1, fail.clone()).await.is(200);
        }
        let step = api.step(&agent.run, 1).await;
        assert_eq!(
            (&step["status"], &step["effect_unknown"]),
            (&json!("failed"), &json!(true)),
            "{fails:?}"
        );
        agent.finish(json!({"outcome": "failed"})).await.is(200);
        let version = api.run(&agent.run).await["version"].clone();
        let order = |kind: &str, again: &[i64]| {
            let version = (kind == "rewind").then_some(&version);
            json!({"kind": kind, "step": 1, "if_version": version, "again": again, "reason": "once more"})
        };
        for kind in ["rewind", "fork"] {
            let refused = api.decide(&agent.run, order(kind, &[])).await;
            refused.refusal();
        }
        api.decide(&agent.run, order("fork", &[1])).await.is(200);
        api.decide(&agent.run, order("rewind", &[1])).await.is(200);
    }
}

/// The first attempt failed for certain: nothing is in doubt.
async fn an_effect_that_certainly_did_not_happen_need_not_be_named(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let seq = agent
        .executes("pay", json!({"effect": {"target": "bank"}}))
        .await;
    let fail = json!({"effect": "none", "retryable": false});
    agent.fail(seq, 1, fail).await.is(200);
    agent.finish(json!({"outcome": "failed"})).await.is(200);
    let version = &api.run(&agent.run).await["version"];
    let order = json!({"kind": "rewind", "step": seq, "if_version": version, "reason": "again"});
    api.decide(&agent.run, order).await.is(200);
}

both_engines!(
    a_step_that_fails_once_too_often_stops_for_good,
    a_failure_may_change_the_state,
    a_failure_whose_patch_does_not_fit_changes_nothing,
    a_held_effect_keeps_what_its_failure_said_of_the_state,
    an_agent_may_go_on_after_a_failed_step,
    a_failing_step_is_retried_with_doubling_pauses,
    the_first_pause_is_a_second_unless_said,
    a_failure_that_is_not_retryable_stops_at_once,
    crashed_attempts_do_not_use_up_retries,
    a_retry_can_be_begun_under_the_next_lease,
    an_effect_of_which_nobody_knows_waits_for_an_operator,
    an_effect_that_did_not_happen_is_a_plain_failure,
    an_unknown_effect_that_can_be_checked_is_checked_next,
    an_unknown_effect_that_may_be_retried_is_retried,
    a_failure_said_to_be_unknown_counts_without_an_effect_too,
    a_failed_effect_that_may_have_happened_is_named_by_a_rewind_and_a_fork,
    an_effect_that_certainly_did_not_happen_need_not_be_named,
    a_repeat_of_fail_gets_the_first_answer,
    a_repeat_of_a_final_fail_gets_the_first_answer,
);
