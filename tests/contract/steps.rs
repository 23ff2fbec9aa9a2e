//! `POST /v1/runs/{id}/steps`: what an agent is told when it begins a step.

use serde_json::json;

use crate::support::{Agent, Engine, both_engines, is_time, together, unique};

async fn a_new_step_is_to_be_executed(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let body = json!({
        "name": "Charge the card", "kind": "tool", "tool": "stripe", "input": {"eur": 12},
        "effect": {"target": "stripe:acct_1", "description": "charge", "dedupe_ms": 86_400_000},
        "recovery": "check", "retry": {"max_attempts": 3, "backoff_ms": 50},
        "refs": [{"uri": "file:po.csv", "hash": "abc"}],
        "links": [{"label": "card", "url": "https://example.org/c"}],
    });
    let begun = agent.begin("charge:1", body).await.is(200);
    assert_eq!(begun["seq"], 1);
    assert_eq!(begun["outcome"], "execute");
    assert_eq!(begun["attempt"], 1);
    assert!(
        !begun["idempotency_key"].as_str().unwrap().is_empty(),
        "{begun}"
    );
    let step = api.step(&agent.run, 1).await;
    assert_eq!(step["status"], "running");
    assert_eq!(step["key"], "charge:1");
    assert_eq!(step["name"], "Charge the card");
    assert_eq!(step["kind"], "tool");
    assert_eq!(step["tool"], "stripe");
    assert_eq!(step["input"], json!({"eur": 12}));
    assert_eq!(step["effect"]["target"], "stripe:acct_1");
    assert_eq!(step["recovery"], "check");
    assert_eq!(step["attempts"].as_array().unwrap().len(), 1);
    let attempt = &step["attempts"][0];
    assert_eq!(attempt["attempt"], 1);
    assert_eq!(attempt["worker"], "w");
    assert_eq!(attempt["epoch"], json!(agent.epoch));
    assert!(is_time(&attempt["begun_at"]), "{attempt}");
}

async fn a_step_without_details_is_code_that_may_be_retried(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    agent.executes("one", json!({})).await;
    let step = api.step(&agent.run, 1).await;
    assert_eq!(
        (&step["kind"], &step["recovery"]),
        (&json!("code"), &json!("retry"))
    );
    agent
        .executes("two", json!({"effect": {"target": "t"}}))
        .await;
    assert_eq!(api.step(&agent.run, 2).await["recovery"], "ask");
}

async fn a_repeat_of_begin_gets_the_same_answer(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let more = json!({"input": {"n": 1}});
    let first = agent.begin("one", more.clone()).await.is(200);
    assert_eq!(agent.begin("one", more).await.is(200), first);
    let step = api.step(&agent.run, 1).await;
    assert_eq!(step["attempts"].as_array().unwrap().len(), 1);
    assert_eq!(api.run(&agent.run).await["steps"], 1);
}

async fn a_repeat_of_a_begin_that_said_check_gets_check_again(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    agent.executes("one", json!({"recovery": "check"})).await;
    let agent = agent.again().await;
    let first = agent
        .begin("one", json!({"recovery": "check"}))
        .await
        .is(200);
    assert_eq!(first["outcome"], "check");
    assert_eq!(
        agent
            .begin("one", json!({"recovery": "check"}))
            .await
            .is(200),
        first
    );
}

async fn concurrent_begins_of_one_key_are_one_attempt(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let answers = together(16, |_| {
        let agent = agent.clone();
        async move { agent.begin("one", json!({})).await.is(200) }
    })
    .await;
    assert!(
        answers.iter().all(|answer| *answer == answers[0]),
        "{answers:?}"
    );
    assert_eq!(
        api.step(&agent.run, 1).await["attempts"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

async fn steps_are_counted_from_1_in_the_order_they_begin(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    for (key, seq) in [("c", 1), ("a", 2), ("b", 3)] {
        assert_eq!(agent.executes(key, json!({})).await, seq);
    }
    agent.commit(3, 1, json!({})).await.is(200);
    agent.commit(1, 1, json!({})).await.is(200);
    assert_eq!(agent.executes("d", json!({})).await, 4);
}

async fn parallel_steps_get_numbers_without_gaps(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let mut seqs = together(12, |i| {
        let agent = agent.clone();
        async move { agent.executes(&format!("k{i}"), json!({})).await }
    })
    .await;
    seqs.sort_unstable();
    assert_eq!(seqs, (1..=12).collect::<Vec<_>>());
}

async fn a_committed_step_is_replayed_with_its_result_and_snapshot(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    agent
        .does("one", json!({"result": {"id": 7}, "state": {"n": 1}}))
        .await;
    agent.does("two", json!({"state": {"n": 2}})).await;
    let replayed = async |agent: &Agent| {
        let replayed = agent.begin("one", json!({})).await.is(200);
        assert_eq!(replayed["outcome"], "replay");
        assert_eq!(replayed["seq"], 1);
        assert_eq!(replayed["result"], json!({"id": 7}));
        assert_eq!(replayed["snapshot"], 1);
        assert_ne!(replayed["drift"], true, "{replayed}");
        let step = api.step(&agent.run, 1).await;
        assert_eq!(step["attempts"].as_array().unwrap().len(), 1);
        let run = api.run(&agent.run).await;
        assert_eq!(run["snapshot"], 2, "replay never changes the state");
    };
    replayed(&agent).await;
    replayed(&agent.again().await).await;
}

async fn a_replay_with_another_input_is_marked_as_drift(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let seq = agent
        .executes("one", json!({"input": {"a": 1, "b": 2}}))
        .await;
    agent.commit(seq, 1, json!({"result": "r"})).await.is(200);
    let agent = agent.again().await;
    let same = agent
        .begin("one", json!({"input": {"b": 2, "a": 1}}))
        .await
        .is(200);
    assert_ne!(same["drift"], true, "{same}");
    for input in [json!({"a": 1, "b": 3}), json!(null), json!([])] {
        let drifted = agent.begin("one", json!({"input": input})).await.is(200);
        assert_eq!(drifted["outcome"], "replay");
        assert_eq!(drifted["drift"], true, "{drifted}");
        assert_eq!(drifted["result"], "r");
    }
    assert_eq!(
        api.step(&agent.run, 1).await["input"],
        json!({"a": 1, "b": 2})
    );
}

async fn a_replay_with_a_changed_reference_is_marked_as_drift(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let refs = |hash: &str| json!({"refs": [{"uri": "file:po.csv", "hash": hash}]});
    let seq = agent.executes("one", refs("a")).await;
    agent.commit(seq, 1, json!({})).await.is(200);
    let agent = agent.again().await;
    assert_ne!(agent.begin("one", refs("a")).await.is(200)["drift"], true);
    assert_eq!(agent.begin("one", refs("b")).await.is(200)["drift"], true);
}

async fn a_key_of_another_name_is_a_conflict(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    agent.does("done", json!({"result": 1})).await;
    agent.executes("running", json!({})).await;
    let before = agent.facts().await;
    for key in ["done", "running"] {
        agent
            .begin(key, json!({"name": "other"}))
            .await
            .refused(409, "key_conflict");
    }
    assert_eq!(agent.facts().await, before);
    let agent = agent.again().await;
    agent
        .begin("done", json!({"name": "other"}))
        .await
        .refused(409, "key_conflict");
    agent
        .begin("running", json!({"name": "other"}))
        .await
        .refused(409, "key_conflict");
}

async fn a_crashed_step_is_executed_again_with_its_partial_and_its_key(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let first = agent.begin("one", json!({})).await.is(200);
    agent
        .progress(1, 1, json!({"partial": {"pages": 1}}))
        .await
        .is(204);
    agent
        .progress(1, 1, json!({"partial": {"pages": 2}}))
        .await
        .is(204);
    let agent = agent.dies().await;
    let second = agent.begin("one", json!({})).await.is(200);
    assert_eq!(second["outcome"], "execute");
    assert_eq!(second["seq"], 1);
    assert_eq!(second["attempt"], 2);
    assert_eq!(second["partial"], json!({"pages": 2}));
    assert_eq!(second["idempotency_key"], first["idempotency_key"]);
    let attempts = api.step(&agent.run, 1).await["attempts"].clone();
    assert_eq!(attempts[0]["outcome"], "crashed");
    assert_eq!(attempts[1]["outcome"], "running");
}

async fn a_crashed_step_that_can_be_checked_is_checked(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let effect = json!({"effect": {"target": "mail"}, "recovery": "check"});
    let first = agent.begin("mail", effect.clone()).await.is(200);
    assert_eq!(first["outcome"], "execute");
    agent
        .progress(1, 1, json!({"partial": "sent 1 of 2"}))
        .await
        .is(204);
    let agent = agent.dies().await;
    let second = agent.begin("mail", effect).await.is(200);
    assert_eq!(second["outcome"], "check");
    assert_eq!(second["attempt"], 2);
    assert_eq!(second["partial"], "sent 1 of 2");
    assert_eq!(second["idempotency_key"], first["idempotency_key"]);
    agent
        .commit(1, 2, json!({"result": "it happened"}))
        .await
        .is(200);
    assert_eq!(api.step(&agent.run, 1).await["status"], "committed");
}

/// The rule is the crashed attempt's: what is begun later with another rule does not soften it.
async fn recovery_follows_the_attempt_that_crashed(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    agent.executes("one", json!({"recovery": "check"})).await;
    let agent = agent.dies().await;
    let second = agent
        .begin("one", json!({"recovery": "retry"}))
        .await
        .is(200);
    assert_eq!(second["outcome"], "check", "attempt 1 was a check");
    let agent = agent.dies().await;
    let third = agent.begin("one", json!({"recovery": "ask"})).await.is(200);
    assert_eq!(third["outcome"], "execute", "attempt 2 was a retry");
    agent.release(json!({})).await.is(200);
    assert_eq!(agent.status().await, "crashed", "attempt 3 asks");
}

async fn provider_keys_differ_between_steps_and_runs(on: Engine) {
    let api = on.shared().await;
    let mut keys = Vec::new();
    for _ in 0..2 {
        let agent = api.agent(json!({})).await;
        for key in ["one", "two"] {
            keys.push(agent.begin(key, json!({})).await.is(200)["idempotency_key"].to_string());
        }
    }
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 4, "{keys:?}");
}

async fn a_key_may_be_any_256_printable_characters(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    for key in [
        "ü".repeat(256),
        "漢😀 /?#%&\"'\\<>".to_owned(),
        " ".to_owned(),
        "a".to_owned(),
        "A".to_owned(),
    ] {
        let begun = agent.begin(&key, json!({"name": "n"})).await.is(200);
        assert_eq!(begun["outcome"], "execute", "{key:?} is a key of its own");
        let step = api.step(&agent.run, begun["seq"].as_i64().unwrap()).await;
        assert_eq!(step["key"], json!(key));
    }
}

async fn every_kind_of_step_is_taken_and_shown(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    for kind in ["code", "llm", "tool", "milestone"] {
        let seq = agent.executes(kind, json!({"kind": kind})).await;
        assert_eq!(api.step(&agent.run, seq).await["kind"], kind);
    }
    let before = agent.facts().await;
    agent
        .begin("x", json!({"kind": "dance"}))
        .await
        .bad_input("kind");
    agent
        .begin("x", json!({"recovery": "hope"}))
        .await
        .bad_input("recovery");
    assert_eq!(agent.facts().await, before);
}

async fn one_key_in_two_runs_is_two_steps(on: Engine) {
    let api = on.shared().await;
    let key = unique("key");
    let (a, b) = (api.agent(json!({})).await, api.agent(json!({})).await);
    a.does(&key, json!({"result": "a"})).await;
    assert_eq!(b.begin(&key, json!({})).await.is(200)["outcome"], "execute");
}

both_engines!(
    a_new_step_is_to_be_executed,
    a_step_without_details_is_code_that_may_be_retried,
    a_repeat_of_begin_gets_the_same_answer,
    a_repeat_of_a_begin_that_said_check_gets_check_again,
    concurrent_begins_of_one_key_are_one_attempt,
    steps_are_counted_from_1_in_the_order_they_begin,
    parallel_steps_get_numbers_without_gaps,
    a_committed_step_is_replayed_with_its_result_and_snapshot,
    a_replay_with_another_input_is_marked_as_drift,
    a_replay_with_a_changed_reference_is_marked_as_drift,
    a_key_of_another_name_is_a_conflict,
    a_crashed_step_is_executed_again_with_its_partial_and_its_key,
    a_crashed_step_that_can_be_checked_is_checked,
    recovery_follows_the_attempt_that_crashed,
    provider_keys_differ_between_steps_and_runs,
    a_key_may_be_any_256_printable_characters,
    every_kind_of_step_is_taken_and_shown,
    one_key_in_two_runs_is_two_steps,
);
