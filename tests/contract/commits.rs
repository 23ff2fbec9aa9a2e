//! `POST …/commit`: once, for good, and the same answer however often it is sent.

use serde_json::{Value, json};

use crate::support::{Engine, both_engines, is_time, together};

fn is_hash(hash: &Value) -> bool {
    let hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    hash.as_str()
        .is_some_and(|hash| hash.len() == 64 && hash.chars().all(hex))
}

async fn a_commit_appends_a_snapshot_with_its_state_and_hash(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"state": {"n": 0}})).await;
    let initial = api.snapshot(&agent.run, 0).await["hash"].clone();
    let seq = agent.executes("one", json!({})).await;
    let commit = agent
        .commit(seq, 1, json!({"result": {"ok": true}, "state": {"n": 1}}))
        .await
        .is(200);
    assert_eq!(commit["snapshot"], 1);
    assert!(is_hash(&commit["hash"]), "{commit}");
    assert_ne!(commit["hash"], initial);
    let snapshot = api.snapshot(&agent.run, 1).await;
    assert_eq!(snapshot["snapshot"], 1);
    assert_eq!(snapshot["seq"], json!(seq));
    assert_eq!(snapshot["hash"], commit["hash"]);
    assert_eq!(snapshot["state"], json!({"n": 1}));
    assert!(is_time(&snapshot["created_at"]), "{snapshot}");
    assert_eq!(
        api.snapshot(&agent.run, 0).await["state"],
        json!({"n": 0}),
        "nothing is overwritten"
    );
    let run = api.run(&agent.run).await;
    assert_eq!(
        (&run["snapshot"], &run["hash"]),
        (&json!(1), &commit["hash"])
    );
    let step = api.step(&agent.run, seq).await;
    assert_eq!(step["status"], "committed");
    assert_eq!(step["result"], json!({"ok": true}));
    assert_eq!(step["attempts"][0]["outcome"], "committed");
    assert!(is_time(&step["attempts"][0]["ended_at"]), "{step}");
}

async fn a_commit_without_state_leaves_the_state(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"state": [1]})).await;
    let initial = api.snapshot(&agent.run, 0).await["hash"].clone();
    let (_, commit) = agent.does("one", json!({"result": "r"})).await;
    assert_eq!(
        (&commit["snapshot"], &commit["hash"]),
        (&json!(0), &initial)
    );
    api.get(&agent.path("snapshots/1"))
        .await
        .refused(404, "not_found");
}

async fn every_commit_with_a_state_appends_even_an_equal_one(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"state": {"n": 0}})).await;
    let (_, first) = agent.does("one", json!({"state": {"n": 0}})).await;
    let (_, second) = agent.does("two", json!({"state": {"n": 0}})).await;
    assert_eq!(
        (&first["snapshot"], &second["snapshot"]),
        (&json!(1), &json!(2))
    );
    assert_ne!(first["hash"], second["hash"], "the chain covers the number");
}

async fn a_repeat_of_commit_gets_the_first_answer(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let seq = agent.executes("one", json!({})).await;
    let body =
        json!({"result": 1, "state": {"n": 1}, "usage": {"input_tokens": 5, "cost_usd": 0.5}});
    let first = agent.commit(seq, 1, body.clone()).await.is(200);
    let after = agent.facts().await;
    assert_eq!(agent.commit(seq, 1, body).await.is(200), first);
    assert_eq!(agent.facts().await, after, "a repeat changes nothing");
}

async fn a_repeat_of_commit_is_known_after_the_lease_is_gone(on: Engine) {
    let api = on.shared().await;
    let old = api.agent(json!({})).await;
    let seq = old.executes("one", json!({})).await;
    let body = json!({"result": 1, "patch": [{"op": "add", "path": "/a", "value": 1}]});
    let first = old.commit(seq, 1, body.clone()).await.is(200);
    let new = old.dies().await;
    new.does("two", json!({"state": {"b": 1}})).await;
    let before = new.facts().await;
    assert_eq!(old.commit(seq, 1, body.clone()).await.is(200), first);
    assert_eq!(
        new.commit(seq, 1, body.clone()).await.is(200),
        first,
        "whatever its epoch"
    );
    assert_eq!(new.facts().await, before);
    new.finish(json!({})).await.is(200);
    assert_eq!(old.commit(seq, 1, body).await.is(200), first);
}

async fn commits_are_compared_by_attempt_result_and_state(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let seq = agent.executes("one", json!({})).await;
    let body = json!({"result": {"a": 1, "b": [2]}, "state": {"n": 1}});
    let first = agent.commit(seq, 1, body.clone()).await.is(200);
    let before = agent.facts().await;
    for same in [
        json!({"result": {"b": [2], "a": 1}, "state": {"n": 1}, "usage": {"input_tokens": 9}}),
        json!({"result": {"a": 1, "b": [2]}, "state": {"n": 1}, "base": 0}),
    ] {
        assert_eq!(agent.commit(seq, 1, same).await.is(200), first);
    }
    for other in [
        json!({"result": {"a": 1, "b": [3]}, "state": {"n": 1}}),
        json!({"result": {"a": 1, "b": [2]}, "state": {"n": 2}}),
        json!({"result": {"a": 1, "b": [2]}}),
        json!({"state": {"n": 1}}),
        json!({"result": {"a": 1, "b": [2]}, "patch": [{"op": "add", "path": "/n", "value": 1}]}),
    ] {
        agent
            .commit(seq, 1, other)
            .await
            .refused(409, "commit_conflict");
    }
    assert_eq!(agent.facts().await, before);
}

async fn another_body_is_a_conflict_even_after_the_lease_is_gone(on: Engine) {
    let api = on.shared().await;
    let old = api.agent(json!({})).await;
    let (seq, _) = old.does("one", json!({"result": 1})).await;
    let new = old.dies().await;
    let before = new.facts().await;
    new.commit(seq, 1, json!({"result": 2}))
        .await
        .refused(409, "commit_conflict");
    let late = old.commit(seq, 1, json!({"result": 2})).await.refusal();
    assert!(
        late["code"] == "commit_conflict" || late["code"] == "lease_lost",
        "{late}"
    );
    assert_eq!(new.facts().await["run"], before["run"]);
    assert_eq!(api.step(&new.run, seq).await["result"], 1);
}

async fn of_many_equal_commits_one_counts_and_all_get_its_answer(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let seq = agent.executes("one", json!({})).await;
    let answers = together(16, |_| {
        let agent = agent.clone();
        let usage = json!({"input_tokens": 1});
        async move {
            agent
                .commit(seq, 1, json!({"state": {"n": 1}, "usage": usage}))
                .await
                .is(200)
        }
    })
    .await;
    assert!(
        answers.iter().all(|answer| *answer == answers[0]),
        "{answers:?}"
    );
    let run = api.run(&agent.run).await;
    assert_eq!(
        (&run["snapshot"], &run["usage"]["input_tokens"]),
        (&json!(1), &json!(1))
    );
}

async fn of_many_different_commits_one_counts_and_the_rest_conflict(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let seq = agent.executes("one", json!({})).await;
    let answers = together(16, |i| {
        let agent = agent.clone();
        async move {
            (
                i,
                agent
                    .commit(seq, 1, json!({"result": i, "state": {"n": i}}))
                    .await,
            )
        }
    })
    .await;
    let (won, lost): (Vec<_>, Vec<_>) =
        answers.iter().partition(|(_, answer)| answer.status == 200);
    assert_eq!(won.len(), 1);
    for (_, answer) in lost {
        answer.refused(409, "commit_conflict");
    }
    let winner = won[0].0;
    assert_eq!(api.step(&agent.run, seq).await["result"], json!(winner));
    assert_eq!(
        api.snapshot(&agent.run, 1).await["state"],
        json!({"n": winner})
    );
    assert_eq!(api.run(&agent.run).await["snapshot"], 1);
}

async fn a_state_made_from_a_stale_snapshot_is_refused(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"state": {"n": 0}})).await;
    let a = agent.executes("a", json!({})).await;
    let b = agent.executes("b", json!({})).await;
    agent.commit(a, 1, json!({"state": {"n": 1}})).await.is(200);
    let before = agent.facts().await;
    for stale in [
        json!({"state": {"n": 2}}),
        json!({"state": {"n": 2}, "base": 0}),
    ] {
        agent
            .commit(b, 1, stale)
            .await
            .refused(409, "state_conflict");
    }
    let patch = json!([{"op": "replace", "path": "/n", "value": 2}]);
    agent
        .commit(b, 1, json!({"patch": patch, "base": 0}))
        .await
        .refused(409, "state_conflict");
    assert_eq!(agent.facts().await, before);
    let commit = agent
        .commit(b, 1, json!({"state": {"n": 2}, "base": 1}))
        .await
        .is(200);
    assert_eq!(commit["snapshot"], 2);
}

async fn a_base_ahead_of_the_run_is_refused(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let seq = agent.executes("one", json!({})).await;
    let before = agent.facts().await;
    for base in [1, 99, i64::MAX, -1] {
        let refused = agent
            .commit(seq, 1, json!({"state": 1, "base": base}))
            .await
            .refusal();
        assert!(
            refused["code"] == "state_conflict" || refused["code"] == "invalid",
            "{refused}"
        );
    }
    assert_eq!(agent.facts().await, before);
}

async fn parallel_patches_all_apply_to_the_current_state(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"state": {"list": []}})).await;
    together(8, |i| {
        let agent = agent.clone();
        async move {
            let seq = agent.executes(&format!("k{i}"), json!({})).await;
            let patch = json!([{"op": "add", "path": "/list/-", "value": i}]);
            agent.commit(seq, 1, json!({"patch": patch})).await.is(200);
        }
    })
    .await;
    let state = api.snapshot(&agent.run, 8).await["state"].clone();
    let mut list: Vec<_> = state["list"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v.as_i64().unwrap())
        .collect();
    list.sort_unstable();
    assert_eq!(list, (0..8).collect::<Vec<_>>());
}

async fn state_and_patch_together_are_refused(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let seq = agent.executes("one", json!({})).await;
    let before = agent.facts().await;
    agent
        .commit(seq, 1, json!({"state": {}, "patch": []}))
        .await
        .refused(422, "invalid");
    assert_eq!(agent.facts().await, before);
}

async fn an_attempt_that_is_over_cannot_commit(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let seq = agent
        .executes(
            "one",
            json!({"retry": {"max_attempts": 2, "backoff_ms": 0}}),
        )
        .await;
    agent.fail(seq, 1, json!({})).await.is(200);
    agent
        .commit(seq, 1, json!({"state": 1}))
        .await
        .refused(409, "attempt_over");
    agent.begin("one", json!({})).await.is(200);
    let before = agent.facts().await;
    agent
        .commit(seq, 1, json!({"state": 1}))
        .await
        .refused(409, "attempt_over");
    agent
        .fail(seq, 1, json!({"error": {"kind": "other", "message": "m"}}))
        .await
        .refused(409, "attempt_over");
    assert_eq!(agent.facts().await, before);
    agent.commit(seq, 2, json!({"state": 1})).await.is(200);
    agent
        .fail(seq, 2, json!({}))
        .await
        .refused(409, "attempt_over");
    assert_eq!(api.step(&agent.run, seq).await["status"], "committed");
}

async fn a_crashed_attempt_cannot_commit_under_the_next_lease(on: Engine) {
    let api = on.shared().await;
    let old = api.agent(json!({})).await;
    let seq = old.executes("one", json!({})).await;
    let new = old.dies().await;
    new.commit(seq, 1, json!({"state": 1}))
        .await
        .refused(409, "attempt_over");
    assert_eq!(api.run(&new.run).await["snapshot"], 0);
    assert_eq!(api.step(&new.run, seq).await["status"], "crashed");
}

async fn an_attempt_that_never_began_cannot_commit(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let seq = agent.executes("one", json!({})).await;
    let before = agent.facts().await;
    for attempt in [2, 0, -1, i64::MAX] {
        agent
            .commit(seq, attempt, json!({"state": 1}))
            .await
            .refusal();
        agent.fail(seq, attempt, json!({})).await.refusal();
        agent
            .progress(seq, attempt, json!({"partial": 1}))
            .await
            .refusal();
    }
    assert_eq!(agent.facts().await, before);
}

async fn a_fused_next_begins_in_the_same_answer(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let seq = agent.executes("one", json!({})).await;
    let next = json!({"key": "two", "name": "two", "kind": "llm", "input": {"p": 1}});
    let body = json!({"state": {"n": 1}, "next": next});
    let first = agent.commit(seq, 1, body.clone()).await.is(200);
    assert_eq!(first["snapshot"], 1);
    assert_eq!(first["next"]["outcome"], "execute");
    assert_eq!(first["next"]["seq"], 2);
    assert_eq!(first["next"]["attempt"], 1);
    let step = api.step(&agent.run, 2).await;
    assert_eq!(
        (&step["status"], &step["kind"]),
        (&json!("running"), &json!("llm"))
    );
    assert_eq!(step["input"], json!({"p": 1}));
    assert_eq!(
        agent.commit(seq, 1, body.clone()).await.is(200),
        first,
        "a repeat gets the first answer"
    );
    assert_eq!(
        agent
            .begin("two", json!({"kind": "llm", "input": {"p": 1}}))
            .await
            .is(200),
        first["next"]
    );
}

/// What was begun with a commit is asked anew when the commit is repeated: an answer from before would have it executed twice.
async fn a_repeat_of_a_fused_commit_executes_nothing_that_moved_on(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let seq = agent.executes("one", json!({})).await;
    let pay =
        json!({"key": "pay", "name": "pay", "effect": {"target": "bank"}, "recovery": "retry"});
    let body = json!({"result": 1, "state": {"n": 1}, "next": pay});
    let first = agent.commit(seq, 1, body.clone()).await.is(200);
    assert_eq!(first["next"]["outcome"], "execute");
    let commit_stands = |again: &serde_json::Value| {
        assert_eq!(again["snapshot"], first["snapshot"]);
        assert_eq!(again["hash"], first["hash"]);
    };
    let new = agent.dies().await;
    let again = agent.commit(seq, 1, body.clone()).await.is(200);
    commit_stands(&again);
    assert_eq!(again["next"], json!({"code": "lease_lost"}));
    let more = json!({"effect": {"target": "bank"}, "recovery": "retry"});
    let begun = new.begin("pay", more).await.is(200);
    assert_eq!(begun["attempt"], 2);
    new.commit(2, 2, json!({"result": "paid"})).await.is(200);
    let again = agent.commit(seq, 1, body.clone()).await.is(200);
    assert_eq!(again["next"], json!({"code": "lease_lost"}));
    let facts = new.facts().await;
    let again = new.commit(seq, 1, body).await.is(200);
    commit_stands(&again);
    assert_eq!(again["next"]["outcome"], "replay");
    assert_eq!(again["next"]["result"], "paid");
    assert_eq!(new.facts().await["steps"], facts["steps"], "nothing began");
}

async fn a_commit_that_names_itself_as_the_next_step_is_replayed(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let seq = agent.executes("pay", json!({})).await;
    let next = json!({"key": "pay", "name": "pay"});
    let body = json!({"result": "paid", "next": next});
    let commit = agent.commit(seq, 1, body.clone()).await.is(200);
    assert_eq!(commit["next"]["outcome"], "replay");
    assert_eq!(commit["next"]["result"], "paid");
    assert_eq!(agent.commit(seq, 1, body).await.is(200), commit);
    let step = api.step(&agent.run, seq).await;
    assert_eq!(step["attempts"].as_array().map(Vec::len), Some(1));
}

async fn a_fused_next_of_a_committed_key_is_replayed(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    agent.does("one", json!({"result": "r1"})).await;
    let seq = agent.executes("two", json!({})).await;
    let next = json!({"key": "one", "name": "one"});
    let commit = agent.commit(seq, 1, json!({"next": next})).await.is(200);
    assert_eq!(commit["next"]["outcome"], "replay");
    assert_eq!(commit["next"]["result"], "r1");
}

async fn a_fused_gate_waits(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let seq = agent.executes("one", json!({})).await;
    let next = json!({"key": "g", "name": "g", "kind": "gate", "gate": {"title": "Pay?"}});
    let commit = agent.commit(seq, 1, json!({"next": next})).await.is(200);
    assert_eq!(commit["next"]["outcome"], "waiting");
    assert_eq!(api.step(&agent.run, 2).await["status"], "waiting");
}

async fn a_fused_next_that_is_refused_leaves_the_commit_standing(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    agent.does("one", json!({})).await;
    let seq = agent.executes("two", json!({})).await;
    let next = json!({"key": "one", "name": "not one"});
    let body = json!({"result": 2, "state": {"n": 2}, "next": next});
    let commit = agent.commit(seq, 1, body.clone()).await.is(200);
    assert_eq!(commit["snapshot"], 1);
    assert_eq!(commit["next"]["code"], "key_conflict");
    assert_eq!(api.step(&agent.run, seq).await["status"], "committed");
    assert_eq!(api.run(&agent.run).await["steps"], 2);
    assert_eq!(agent.commit(seq, 1, body).await.is(200), commit);
}

/// Either the whole request is refused and changes nothing, or the commit stands and `next` says why it does not.
async fn a_fused_next_that_is_bad_input_is_told_apart(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let seq = agent.executes("one", json!({})).await;
    let before = agent.facts().await;
    let next = json!({"key": "two", "name": "two", "kind": "gate"});
    let answer = agent
        .commit(seq, 1, json!({"state": 1, "next": next}))
        .await;
    if answer.status == 200 {
        assert_eq!(answer.body()["next"]["code"], "invalid");
        assert_eq!(api.step(&agent.run, seq).await["status"], "committed");
    } else {
        let path = answer.refused(422, "invalid")["path"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        assert!(
            path.starts_with("next"),
            "the path leads into `next`: {path:?}"
        );
        assert_eq!(agent.facts().await, before);
    }
}

async fn usage_adds_up_over_attempts_and_steps(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let seq = agent
        .executes(
            "one",
            json!({"retry": {"max_attempts": 2, "backoff_ms": 0}}),
        )
        .await;
    let usage =
        |i: i64, o: i64, c: f64| json!({"input_tokens": i, "output_tokens": o, "cost_usd": c});
    agent
        .fail(seq, 1, json!({"usage": usage(10, 1, 0.25)}))
        .await
        .is(200);
    agent.begin("one", json!({})).await.is(200);
    agent
        .commit(seq, 2, json!({"usage": usage(20, 2, 0.5)}))
        .await
        .is(200);
    let (two, _) = agent
        .does("two", json!({"usage": {"output_tokens": 4}}))
        .await;
    let run = api.run(&agent.run).await;
    assert_eq!(run["usage"], usage(30, 7, 0.75));
    let step = api.step(&agent.run, seq).await;
    assert_eq!(step["attempts"][0]["usage"], usage(10, 1, 0.25));
    assert_eq!(step["attempts"][1]["usage"], usage(20, 2, 0.5));
    assert_eq!(
        api.step(&agent.run, two).await["attempts"][0]["usage"],
        json!({"output_tokens": 4})
    );
}

async fn unknown_usage_is_absent_not_zero(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let (seq, _) = agent.does("one", json!({})).await;
    let usage = api.step(&agent.run, seq).await["attempts"][0]["usage"].clone();
    assert!(
        usage["cost_usd"].is_null() && usage["input_tokens"].is_null(),
        "{usage}"
    );
}

both_engines!(
    a_commit_appends_a_snapshot_with_its_state_and_hash,
    a_commit_without_state_leaves_the_state,
    every_commit_with_a_state_appends_even_an_equal_one,
    a_repeat_of_commit_gets_the_first_answer,
    a_repeat_of_commit_is_known_after_the_lease_is_gone,
    commits_are_compared_by_attempt_result_and_state,
    another_body_is_a_conflict_even_after_the_lease_is_gone,
    of_many_equal_commits_one_counts_and_all_get_its_answer,
    of_many_different_commits_one_counts_and_the_rest_conflict,
    a_state_made_from_a_stale_snapshot_is_refused,
    a_base_ahead_of_the_run_is_refused,
    parallel_patches_all_apply_to_the_current_state,
    state_and_patch_together_are_refused,
    an_attempt_that_is_over_cannot_commit,
    a_crashed_attempt_cannot_commit_under_the_next_lease,
    an_attempt_that_never_began_cannot_commit,
    a_fused_next_begins_in_the_same_answer,
    a_repeat_of_a_fused_commit_executes_nothing_that_moved_on,
    a_commit_that_names_itself_as_the_next_step_is_replayed,
    a_fused_next_of_a_committed_key_is_replayed,
    a_fused_gate_waits,
    a_fused_next_that_is_refused_leaves_the_commit_standing,
    a_fused_next_that_is_bad_input_is_told_apart,
    usage_adds_up_over_attempts_and_steps,
    unknown_usage_is_absent_not_zero,
);
