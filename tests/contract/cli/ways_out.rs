//! Each way out of a crash: plan, retry, commit, skip, edit, rewind, fork.

use serde_json::{Value, json};

use super::state;
use crate::{
    decisions::{charge, crashed},
    support::{Api, Cli, Engine, both_engines, unique},
};

/// What the next worker is told about the charge.
async fn told(api: &Api, run: &str) -> Value {
    assert_eq!(api.status(run).await, "ready");
    let next = api.lease(run, json!({})).await;
    next.begin("charge", charge()).await.is(200)
}

async fn a_plan_names_what_waits_for_a_decision(on: Engine) {
    let api = on.shared().await;
    let (agent, _) = crashed(&api, 3).await;
    let before = agent.facts().await;
    let cli = Cli::of(&api);
    let said = cli.says(&["plan", &agent.run]).await;
    for words in [
        "resume from step",
        "3 replayed",
        "1 to decide",
        "charge 12 € to cus_1",
        "stripe.charges",
    ] {
        assert!(said.done().contains(words), "no {words:?} in {}", said.out);
    }
    let shown = api.get(&agent.path("plan")).await.is(200);
    let hash = shown["hash"].as_str().expect("a hash");
    assert!(said.out.contains(&format!("plan {hash}")), "{}", said.out);
    let said = cli.says(&["plan", &agent.run, "--json"]).await;
    let plan: Value = serde_json::from_str(said.done()).expect("JSON");
    assert_eq!(plan["hash"], hash);
    assert_eq!(plan["steps"], shown["steps"]);
    assert_eq!(agent.facts().await, before, "looking changes nothing");
}

async fn a_retry_keeps_the_key_unless_told_otherwise(on: Engine) {
    let api = on.shared().await;
    for new_key in [false, true] {
        let (agent, seq) = crashed(&api, 2).await;
        let mut order = vec!["retry", &agent.run, "--resume", "-m", "the bank says no"];
        if new_key {
            order.push("--new-key");
        }
        let said = Cli::of(&api).says(&order).await;
        assert!(
            said.done().contains("queued: waiting for a worker"),
            "{said:?}"
        );
        let begun = told(&api, &agent.run).await;
        assert_eq!(begun["outcome"], "execute");
        let same = format!("{}:{seq}", agent.run);
        assert_eq!(begun["idempotency_key"] == json!(same), !new_key, "{begun}");
    }
}

async fn a_retry_alone_releases_nothing(on: Engine) {
    let api = on.shared().await;
    let (agent, seq) = crashed(&api, 1).await;
    let cli = Cli::of(&api);
    let said = cli
        .says(&["retry", &agent.run, &seq.to_string(), "-m", "again"])
        .await;
    assert!(
        said.done().contains(&format!("retry: step {seq}")),
        "{said:?}"
    );
    assert!(said.out.contains("step47 resume"), "{said:?}");
    assert_eq!(agent.status().await, "crashed");
    cli.says(&["resume", &agent.run, "-m", "now"]).await.done();
    assert_eq!(told(&api, &agent.run).await["outcome"], "execute");
}

async fn a_result_is_taken_for_a_step(on: Engine) {
    let api = on.shared().await;
    for kind in ["commit", "skip"] {
        let (agent, seq) = crashed(&api, 2).await;
        let result = r#"{"receipt": 7}"#;
        let order = [
            kind, &agent.run, "--result", result, "--resume", "-m", "I saw it",
        ];
        Cli::of(&api).says(&order).await.done();
        let given = told(&api, &agent.run).await;
        assert_eq!(given["outcome"], "given", "{given}");
        assert_eq!(given["decision"], kind);
        assert_eq!(given["result"], json!({"receipt": 7}));
        assert_eq!(given["seq"], seq);
    }
}

async fn one_value_is_edited(on: Engine) {
    let api = on.shared().await;
    let (agent, seq) = crashed(&api, 2).await;
    let order = [
        "edit",
        &agent.run,
        "--set",
        "/n=40",
        "--set",
        r#"/by="ana""#,
        "-m",
        "recount",
    ];
    let said = Cli::of(&api).says(&order).await;
    assert!(
        said.done().contains("the state is now snapshot 3"),
        "{said:?}"
    );
    let waits = format!("step {seq} (charge) waits for a decision");
    assert!(said.out.contains(&waits), "{said:?}");
    assert!(
        !said.out.contains("step47 resume"),
        "it would be refused: {said:?}"
    );
    assert_eq!(state(&api, &agent.run).await, json!({"n": 40, "by": "ana"}));
    assert_eq!(api.snapshot(&agent.run, 2).await["state"], json!({"n": 2}));
    assert_eq!(agent.status().await, "crashed");
}

async fn a_way_back_names_what_is_not_undone(on: Engine) {
    let api = on.shared().await;
    let (agent, seq) = crashed(&api, 3).await;
    let cli = Cli::of(&api);
    let before = agent.facts().await;
    let left = format!("not undone: {seq} charge, stripe.charges");
    let rewind = ["rewind", &agent.run, "2", "-m", "wrong file"];
    cli.says(&rewind).await.refused(&left);
    let fork = ["fork", &agent.run, "2", "-m", "wrong file"];
    cli.says(&fork).await.refused(&left);
    assert_eq!(agent.facts().await, before);

    let id = unique("fork");
    let again = seq.to_string();
    let allowed = ["--again", &again];
    let fork = [&fork[..], &allowed, &["--id", &id]].concat();
    let said = cli.says(&fork).await;
    assert!(said.done().contains(&format!("forked as {id}")), "{said:?}");
    assert_eq!(api.status(&id).await, "ready");
    assert_eq!(state(&api, &id).await, json!({"n": 1}));
    assert_eq!(agent.status().await, "crashed", "the origin is as it was");

    cli.says(&[&rewind[..], &allowed].concat()).await.done();
    assert_eq!(state(&api, &agent.run).await, json!({"n": 1}));
    for (seq, status) in [(1, "committed"), (2, "superseded"), (seq, "superseded")] {
        assert_eq!(api.step(&agent.run, seq).await["status"], status);
    }
}

async fn a_step_is_shown_with_its_input_and_its_error(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let sent = json!({"input": {"order": "o-1"}});
    agent.begin("draft", sent).await.is(200);
    let failed =
        json!({"error": {"kind": "Rejected", "message": "no such order"}, "retryable": false});
    agent.fail(1, 1, failed).await.is(200);
    let show = ["show", &agent.run, "--step", "1"];
    let said = Cli::of(&api).says(&show).await;
    for words in [
        "key        draft",
        r#"input      {"order":"o-1"}"#,
        "error      Rejected: no such order",
    ] {
        assert!(said.done().contains(words), "no {words:?} in {}", said.out);
    }
}

async fn the_plan_names_what_is_not_undone(on: Engine) {
    let api = on.shared().await;
    let (agent, seq) = crashed(&api, 1).await;
    let cli = Cli::of(&api);
    let before = cli.says(&["plan", &agent.run]).await;
    assert!(!before.done().contains("not undone"), "{before:?}");
    let step = seq.to_string();
    let back = ["rewind", &agent.run, &step, "--again", &step, "-m", "anew"];
    cli.says(&back).await.done();
    let said = cli.says(&["plan", &agent.run]).await;
    for words in ["not undone", "unknown", "charge", "charge 12 € to cus_1"] {
        assert!(said.done().contains(words), "{words}: {said:?}");
    }
}

async fn a_superseded_step_keeps_its_result(on: Engine) {
    let api = on.shared().await;
    let (agent, seq) = crashed(&api, 2).await;
    let cli = Cli::of(&api);
    let again = seq.to_string();
    let back = ["rewind", &agent.run, "2", "--again", &again, "-m", "anew"];
    cli.says(&back).await.done();
    let said = cli.says(&["show", &agent.run, "--step", "2"]).await;
    for words in [
        "committed, superseded by a rewind",
        "result     1 (superseded by a rewind)",
    ] {
        assert!(said.done().contains(words), "no {words:?} in {}", said.out);
    }
    let crashed = cli.says(&["show", &agent.run, "--step", &again]).await;
    assert!(!crashed.done().contains("result"), "{crashed:?}");
}

async fn a_run_is_shown_with_its_way_here(on: Engine) {
    let api = on.shared().await;
    let (agent, seq) = crashed(&api, 1).await;
    let (run, step) = (agent.run.as_str(), seq.to_string());
    let cli = Cli::of(&api);
    let way = ["--again", &step, "-m", "wrong file"];
    let id = unique("fork");
    let fork = [&["fork", run, &step, "--id", &id][..], &way].concat();
    cli.says(&fork).await.done();
    cli.says(&[&["rewind", run, &step][..], &way].concat())
        .await
        .done();
    let left = format!("{seq} charge · charge 12 € to cus_1 · stripe.charges · unknown");
    let said = cli.says(&["show", run]).await;
    for words in [
        format!("Rewound to before step {seq}"),
        format!("Not undone: {left}"),
        format!("rewound the run to before step {seq} “wrong file”"),
        format!("forked it from before step {seq}: {id} “wrong file”"),
    ] {
        assert!(said.done().contains(&words), "no {words:?} in {}", said.out);
    }
    let json = cli.says(&["show", run, "--json"]).await;
    let json: Value = serde_json::from_str(json.done()).expect("JSON");
    assert_eq!(json["rewound_to"], seq, "{json}");
    assert_eq!(json["not_undone"][0]["seq"], seq, "{json}");
    assert_eq!(json["decisions"][0]["kind"], "rewind", "{json}");
    assert_eq!(json["decisions"][0]["reason"], "wrong file", "{json}");
    let said = cli.says(&["show", &id]).await;
    for words in [
        format!("forked from {run} step {seq}"),
        format!("Not undone: {seq} charge in run {run} · "),
    ] {
        assert!(said.done().contains(&words), "no {words:?} in {}", said.out);
    }
}

both_engines!(
    a_superseded_step_keeps_its_result,
    a_run_is_shown_with_its_way_here,
    the_plan_names_what_is_not_undone,
    a_step_is_shown_with_its_input_and_its_error,
    a_plan_names_what_waits_for_a_decision,
    a_retry_keeps_the_key_unless_told_otherwise,
    a_retry_alone_releases_nothing,
    a_result_is_taken_for_a_step,
    one_value_is_edited,
    a_way_back_names_what_is_not_undone,
);
