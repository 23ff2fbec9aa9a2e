//! Retry, commit and skip, and how the agent that comes back hears of them.

use serde_json::json;

use super::{charge, crashed, decides, resumes};
use crate::support::{Cli, Engine, both_engines};

async fn a_retry_keeps_the_key_and_a_new_key_is_new(on: Engine) {
    let api = on.shared().await;
    for new_key in [false, true] {
        let (agent, seq) = crashed(&api, 1).await;
        let key = api.step(&agent.run, seq).await["idempotency_key"].clone();
        let choice = json!([{"kind": "retry", "step": seq, "new_key": new_key}]);
        let answer = resumes(&api, &agent.run, choice).await;
        assert_eq!(answer["run"]["status"], "ready");
        assert_eq!(answer["decision"]["kind"], "resume");
        let next = api.lease(&agent.run, json!({})).await;
        assert_eq!(
            next.begin("s0", json!({})).await.is(200)["outcome"],
            "replay"
        );
        let begun = next.begin("charge", charge()).await.is(200);
        assert_eq!(
            (&begun["outcome"], &begun["attempt"]),
            (&json!("execute"), &json!(2))
        );
        assert_eq!(begun["idempotency_key"] == key, !new_key, "{begun} {key}");
        // The order is used up: the next crash asks again.
        next.release(json!({})).await.is(200);
        assert_eq!(api.status(&agent.run).await, "crashed");
    }
}

async fn what_happened_is_given_once_and_then_replayed(on: Engine) {
    let api = on.shared().await;
    for kind in ["commit", "skip"] {
        let (agent, seq) = crashed(&api, 1).await;
        let choice = json!([{"kind": kind, "step": seq, "result": {"id": "ch_1"}}]);
        resumes(&api, &agent.run, choice).await;
        let status = if kind == "skip" {
            "skipped"
        } else {
            "committed"
        };
        assert_eq!(api.step(&agent.run, seq).await["status"], status);
        let next = api.lease(&agent.run, json!({})).await;
        let given = next.begin("charge", charge()).await.is(200);
        assert_eq!(
            (&given["outcome"], &given["decision"]),
            (&json!("given"), &json!(kind))
        );
        assert_eq!(given["result"], json!({"id": "ch_1"}));
        let attempt = given["attempt"].as_i64().unwrap();
        let fold = json!({"result": "mine", "state": {"n": 1, "charged": true}});
        assert_eq!(next.commit(seq, attempt, fold).await.is(200)["snapshot"], 2);
        let replay = next.begin("charge", charge()).await.is(200);
        assert_eq!(replay["outcome"], "replay");
        assert_eq!(
            replay["result"],
            json!({"id": "ch_1"}),
            "it stays the operator's"
        );
        let attempts = api.step(&agent.run, seq).await["attempts"].clone();
        assert_eq!(
            attempts[0]["outcome"], "crashed",
            "what crashed stays readable: {attempts}"
        );
    }
}

async fn single_decisions_and_a_resume_do_the_same(on: Engine) {
    let api = on.shared().await;
    let (agent, seq) = crashed(&api, 0).await;
    let refused = api
        .decide(
            &agent.run,
            json!({"kind": "resume", "if_version": api.run(&agent.run).await["version"]}),
        )
        .await;
    let why = refused.refused(409, "decision_refused")["why"].to_string();
    assert!(
        why.contains("charge") && why.contains("stripe.charges"),
        "{why}"
    );
    let answer = decides(
        &api,
        &agent.run,
        json!({"kind": "retry", "step": seq, "new_key": true}),
    )
    .await;
    assert_eq!(
        answer["run"]["status"], "crashed",
        "held until it is resumed"
    );
    let answer = decides(&api, &agent.run, json!({"kind": "resume"})).await;
    assert_eq!(answer["run"]["status"], "ready");
}

async fn a_choice_may_edit_the_state_too(on: Engine) {
    let api = on.shared().await;
    let (agent, seq) = crashed(&api, 1).await;
    let patch = json!([{"op": "add", "path": "/currency", "value": "EUR"}]);
    let answer = resumes(
        &api,
        &agent.run,
        json!([{"kind": "retry", "step": seq, "patch": patch}]),
    )
    .await;
    assert_eq!(answer["decision"]["snapshot"], 2);
    let next = api.lease(&agent.run, json!({})).await;
    assert_eq!(next.lease["state"], json!({"n": 1, "currency": "EUR"}));
    assert_eq!(api.snapshot(&agent.run, 1).await["state"], json!({"n": 1}));
}

async fn a_failed_run_goes_on_from_its_last_failed_step(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    for key in ["early", "last"] {
        let seq = agent.executes(key, json!({})).await;
        agent
            .fail(seq, 1, json!({"retryable": false}))
            .await
            .is(200);
    }
    agent.finish(json!({"outcome": "failed"})).await.is(200);
    let plan = api.get(&agent.path("plan")).await.is(200);
    assert_eq!(plan["steps"][0]["action"], "replay");
    assert_eq!(plan["steps"][1]["action"], "decide");
    resumes(&api, &agent.run, json!([{"kind": "retry", "step": 2}])).await;
    let next = api.lease(&agent.run, json!({})).await;
    assert_eq!(
        next.begin("early", json!({})).await.is(200)["outcome"],
        "failed"
    );
    assert_eq!(
        next.begin("last", json!({})).await.is(200)["outcome"],
        "execute"
    );
}

async fn a_step_can_be_skipped_before_it_begins(on: Engine) {
    let api = on.shared().await;
    let plan = json!([{"key": "one", "name": "one"}, {"key": "mail", "name": "mail"}]);
    let agent = api.agent(json!({"plan": plan})).await;
    agent.does("one", json!({})).await;
    decides(
        &api,
        &agent.run,
        json!({"kind": "skip", "step": 2, "result": "not needed"}),
    )
    .await;
    let given = agent.begin("mail", json!({})).await.is(200);
    assert_eq!(
        (&given["outcome"], &given["result"]),
        (&json!("given"), &json!("not needed"))
    );
    assert_eq!(api.step(&agent.run, 2).await["status"], "skipped");
    agent.commit(2, 1, json!({})).await.is(200);
    assert_eq!(
        agent.begin("mail", json!({})).await.is(200)["outcome"],
        "replay"
    );
}

async fn a_skip_keeps_the_doubt_until_a_result_says_what_happened(on: Engine) {
    let api = on.shared().await;
    for (kind, doubts) in [("skip", true), ("commit", false)] {
        let (agent, seq) = crashed(&api, 1).await;
        let key = api.step(&agent.run, seq).await["idempotency_key"].clone();
        let choice = json!([{"kind": kind, "step": seq, "result": {"note": "by hand"}}]);
        resumes(&api, &agent.run, choice).await;
        let doubt = format!(
            "attempt 1 may have happened: charge 12 € to cus_1 (stripe.charges), key {}",
            key.as_str().expect("a key")
        );
        let says = async |when: &str| {
            let step = api.step(&agent.run, seq).await;
            assert_eq!(step["effect_unknown"] == true, doubts, "{when}: {step}");
            let plan = api.get(&agent.path("plan")).await.is(200);
            let lines = plan["steps"].as_array().expect("steps");
            let line = lines.iter().find(|it| it["seq"] == seq);
            let why = line.map_or(String::new(), |it| it["why"].to_string());
            assert_eq!(why.contains(&doubt), doubts, "{when}: {plan}");
            for show in [
                vec!["show", &agent.run],
                vec!["show", &agent.run, "--step", "2"],
            ] {
                let said = Cli::of(&api).says(&show).await;
                assert_eq!(said.done().contains(&doubt), doubts, "{when}: {said:?}");
            }
        };
        says("decided").await;
        let next = api.lease(&agent.run, json!({})).await;
        let given = next.begin("charge", charge()).await.is(200);
        assert_eq!(given["outcome"], "given");
        let attempt = given["attempt"].as_i64().expect("an attempt");
        next.commit(seq, attempt, json!({})).await.is(200);
        says("folded into the state").await;
    }
}

both_engines!(
    a_skip_keeps_the_doubt_until_a_result_says_what_happened,
    a_retry_keeps_the_key_and_a_new_key_is_new,
    what_happened_is_given_once_and_then_replayed,
    single_decisions_and_a_resume_do_the_same,
    a_choice_may_edit_the_state_too,
    a_failed_run_goes_on_from_its_last_failed_step,
    a_step_can_be_skipped_before_it_begins,
);
