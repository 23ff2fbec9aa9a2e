//! What people say about a run from the command line: notes, pins, claims, and that they have seen what is not undone.

use serde_json::json;

use crate::{
    decisions::crashed,
    support::{Cli, Engine, both_engines},
};

async fn a_run_is_noted_pinned_claimed_and_acknowledged(on: Engine) {
    let api = on.shared().await;
    let (agent, seq) = crashed(&api, 1).await;
    let (run, step) = (agent.run.as_str(), seq.to_string());
    let cli = Cli::of(&api);
    let note = ["note", run, "asked the bank", "--step", &step];
    cli.says(&note).await.done();
    let notes = cli.says(&["notes", run]).await;
    assert!(notes.done().contains("asked the bank"), "{notes:?}");
    cli.says(&["pin", run, "-m", "for the audit"]).await.done();
    cli.says(&["claim", run]).await.done();
    let claimed = api.run(run).await;
    assert!(claimed["looking"]["by"].is_string(), "{claimed}");
    cli.says(&["acknowledge", run]).await.done();
    let seen = api.run(run).await;
    assert_eq!(seen["acknowledged"], true, "{seen}");
    assert_eq!(seen["status"], "crashed", "nothing goes on by it");
    let told = cli.says(&["audit", "--run", run]).await;
    for words in [
        "asked the bank",
        "pin",
        "for the audit",
        "claim",
        "acknowledge",
    ] {
        assert!(told.done().contains(words), "{words}: {told:?}");
    }
}

async fn what_is_not_undone_is_acknowledged_on_a_fork(on: Engine) {
    let api = on.shared().await;
    let (agent, seq) = crashed(&api, 1).await;
    let step = seq.to_string();
    let cli = Cli::of(&api);
    let fork = [
        "fork", &agent.run, &step, "--again", &step, "--json", "-m", "anew",
    ];
    let made = cli.says(&fork).await;
    let made: serde_json::Value = serde_json::from_str(made.done()).expect("JSON");
    let fork = made["run"]["id"].as_str().expect("an id");
    assert!(
        cli.says(&["plan", fork])
            .await
            .done()
            .contains("not undone")
    );
    cli.says(&["acknowledge", fork, "-m", "looked at Stripe"])
        .await
        .done();
    let after = cli.says(&["plan", fork]).await;
    assert!(!after.done().contains("not undone"), "{after:?}");
}

async fn a_mark_that_does_not_fit_changes_nothing(on: Engine) {
    let api = on.shared().await;
    let run = api.create(json!({})).await;
    let cli = Cli::of(&api);
    let before = api.facts(&run).await;
    cli.says(&["note", &run, " "]).await.refused("text");
    cli.says(&["acknowledge", &run])
        .await
        .refused("decision_refused");
    assert_eq!(api.facts(&run).await, before);
}

both_engines!(
    a_run_is_noted_pinned_claimed_and_acknowledged,
    what_is_not_undone_is_acknowledged_on_a_fork,
    a_mark_that_does_not_fit_changes_nothing,
);
