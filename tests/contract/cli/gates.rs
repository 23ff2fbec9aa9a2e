//! Answers to questions: approve, reject, answer.

use serde_json::{Value, json};

use crate::support::{Agent, Api, Cli, Engine, both_engines};

async fn waiting(api: &Api, gate: &Value) -> Agent {
    let agent = api.agent(json!({})).await;
    let begun = agent
        .begin("g", json!({"kind": "gate", "gate": gate}))
        .await;
    assert_eq!(begun.is(200)["outcome"], "waiting");
    agent.release(json!({})).await.is(200);
    assert_eq!(agent.status().await, "waiting");
    agent
}

async fn an_answer_releases_the_run(on: Engine) {
    let api = on.shared().await;
    let plain = json!({"title": "Refund?"});
    let choices = json!({"title": "Refund?", "choices": ["full", "half"]});
    for (gate, order, kind, result) in [
        (&plain, vec!["approve"], "approve", Value::Null),
        (&plain, vec!["reject"], "reject", Value::Null),
        (
            &plain,
            vec!["answer", "--result", r#"{"eur": 3}"#],
            "answer",
            json!({"eur": 3}),
        ),
        (
            &choices,
            vec!["approve", "--choice", "half"],
            "approve",
            json!({"choice": "half"}),
        ),
        (&choices, vec!["reject"], "reject", Value::Null),
    ] {
        let agent = waiting(&api, gate).await;
        let (verb, rest) = order.split_first().expect("a verb");
        let order = [&[*verb, &agent.run], rest, &["-m", "asked the customer"]].concat();
        let said = Cli::of(&api).says(&order).await;
        assert!(
            said.done().contains("queued: waiting for a worker"),
            "{said:?}"
        );
        let next = api.lease(&agent.run, json!({})).await;
        let given = next
            .begin("g", json!({"kind": "gate", "gate": gate}))
            .await
            .is(200);
        assert_eq!(given["outcome"], "given", "{given}");
        assert_eq!(
            (&given["decision"], &given["result"]),
            (&json!(kind), &result)
        );
    }
}

async fn an_answer_that_the_gate_does_not_take_changes_nothing(on: Engine) {
    let api = on.shared().await;
    let schema =
        json!({"type": "object", "properties": {"eur": {"type": "number"}}, "required": ["eur"]});
    let agent = waiting(&api, &json!({"title": "How much?", "schema": schema})).await;
    let other = waiting(
        &api,
        &json!({"title": "Refund?", "choices": ["full", "half"]}),
    )
    .await;
    let before = (agent.facts().await, other.facts().await);
    let cli = Cli::of(&api);
    for (run, order, words) in [
        (
            &agent.run,
            vec!["answer", "--result", r#"{"eur": "three"}"#],
            "result/eur",
        ),
        (&agent.run, vec!["approve"], "result"),
        (
            &agent.run,
            vec!["answer", "--result", "{"],
            "is not valid JSON",
        ),
        (&agent.run, vec!["approve", "7"], "not_found"),
        (
            &other.run,
            vec!["approve", "--choice", "most"],
            "with one of",
        ),
        (&other.run, vec!["approve"], "with one of"),
        (&other.run, vec!["retry", "1"], "decision_refused"),
    ] {
        let (verb, rest) = order.split_first().expect("a verb");
        let order = [&[*verb, run], rest, &["-m", "why"]].concat();
        cli.says(&order).await.refused(words);
    }
    assert_eq!((agent.facts().await, other.facts().await), before);
}

both_engines!(
    an_answer_releases_the_run,
    an_answer_that_the_gate_does_not_take_changes_nothing,
);
