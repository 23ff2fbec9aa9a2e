//! Orders that cannot be followed: a clear word, an exit code that says so, and nothing is changed.

use serde_json::json;

use super::api_as;
use crate::{
    decisions::crashed,
    support::{Cli, Engine, both_engines},
};

async fn a_bad_edit_changes_nothing(on: Engine) {
    let api = on.shared().await;
    let schema =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let agent = api
        .agent(json!({"state": {"n": 0}, "state_schema": schema}))
        .await;
    agent.release(json!({})).await.is(200);
    let before = agent.facts().await;
    let cli = Cli::of(&api);
    let large = json!({"n": 1, "t": "x".repeat(17 << 20)}).to_string();
    for (text, words) in [
        ("{\n \"n\": ", "line 2"),
        (r#"{"n": "one"}"#, "state/n"),
        ("{}", "state"),
        (r#"{"n": 1, "t": "\u0000"}"#, "NUL"),
        (r#"{"n": 1, "n": 2}"#, "/n stands twice"),
        (r#"{"n": 123456789012345678901234567890}"#, "beyond 64 bits"),
        (&large, "too_large"),
    ] {
        let file = cli.file("state.json", text);
        let said = cli
            .says(&["edit", &agent.run, "--state", &file, "-m", "fix"])
            .await;
        said.refused(words);
        assert!(
            !said.err.contains("kept in"),
            "it is where it was: {said:?}"
        );
    }
    for (set, words) in [
        ("/n", "POINTER=JSON"),
        ("/n={", "is not valid JSON"),
        (r#"/n="one""#, "state/n"),
        (r#"/t="\u0000""#, "NUL"),
        ("/n=123456789012345678901234567890", "beyond 64 bits"),
        ("/gone/deep=1", "patch_failed"),
        ("n=1", "n"),
    ] {
        cli.says(&["edit", &agent.run, "--set", set, "-m", "fix"])
            .await
            .refused(words);
    }
    let absent = ["edit", &agent.run, "--state", "absent.json", "-m", "fix"];
    cli.says(&absent).await.refused("absent.json");
    assert_eq!(agent.facts().await, before);
}

async fn an_order_that_does_not_fit_changes_nothing(on: Engine) {
    let api = on.shared().await;
    let (agent, seq) = crashed(&api, 1).await;
    let before = agent.facts().await;
    let run = agent.run.as_str();
    let seq = seq.to_string();
    let cli = Cli::of(&api);
    for (order, words) in [
        (vec!["retry", run, "99", "-m", "x"], "has none 99"),
        (vec!["commit", run, "99", "-m", "x"], "has none 99"),
        (vec!["rewind", run, "99", "-m", "x"], "has none 99"),
        (vec!["skip", run, "99", "-m", "x"], "not_found"),
        (vec!["retry", run, "1", "-m", "x"], "decision_refused"),
        (vec!["approve", run, &seq, "-m", "x"], "decision_refused"),
        (vec!["approve", run, "-m", "x"], "no step"),
        (
            vec!["commit", run, "--result", "{", "-m", "x"],
            "is not valid JSON",
        ),
        (
            vec!["commit", run, "--result", r#"{"a":1,"a":2}"#, "-m", "x"],
            "stands twice",
        ),
        (vec!["retry", run], "--reason"),
        (vec!["retry", run, "-m", "  "], "--reason"),
        (
            vec!["retry", run, "--if-version", "1", "-m", "x"],
            "version_conflict",
        ),
        (vec!["retry", "no-such-run", "-m", "x"], "not_found"),
        (vec!["plan", "no-such-run"], "not_found"),
        (vec!["plan", "no such run"], "invalid value"),
    ] {
        cli.says(&order).await.refused(words);
    }
    assert_eq!(agent.facts().await, before);
}

async fn the_second_of_two_hears_who_was_first(on: Engine) {
    let api = on.shared().await;
    let (agent, _) = crashed(&api, 1).await;
    let version = api.run(&agent.run).await["version"].to_string();
    let order = ["skip", &agent.run, "--if-version", &version, "-m", "x"];
    let operator = Cli::of(&api_as(&api, "operator").await);
    operator.says(&order).await.done();
    let after = agent.facts().await;
    let order = [
        "retry",
        &agent.run,
        "2",
        "--if-version",
        &version,
        "-m",
        "x",
    ];
    Cli::of(&api)
        .says(&order)
        .await
        .refused("already decided by operator at ");
    assert_eq!(agent.facts().await, after);
}

async fn a_run_that_a_worker_holds_is_not_changed_beneath_it(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({"state": {"n": 0}})).await;
    agent.executes("one", json!({})).await;
    let before = agent.facts().await;
    let cli = Cli::editing(&api, "touch opened");
    for order in [
        vec!["edit", &agent.run, "-m", "x"],
        vec!["edit", &agent.run, "--set", "/n=1", "-m", "x"],
        vec!["rewind", &agent.run, "1", "-m", "x"],
        vec!["retry", &agent.run, "1", "-m", "x"],
        vec!["resume", &agent.run, "-m", "x"],
    ] {
        assert_eq!(cli.says(&order).await.code, Some(1), "{order:?}");
    }
    let opened = cli.home().join("opened").exists();
    assert!(!opened, "nobody types what will be refused");
    assert_eq!(agent.facts().await, before);
}

async fn who_may_not_decide_changes_nothing(on: Engine) {
    let api = on.shared().await;
    let (agent, _) = crashed(&api, 1).await;
    let before = agent.facts().await;
    let run = agent.run.as_str();
    for role in ["viewer", "agent"] {
        let cli = Cli::of(&api_as(&api, role).await);
        cli.says(&["plan", run]).await.done();
        for order in [
            vec!["retry", run, "-m", "x"],
            vec!["skip", run, "-m", "x"],
            vec!["commit", run, "-m", "x"],
            vec!["edit", run, "--set", "/n=1", "-m", "x"],
            vec!["rewind", run, "1", "--again", "2", "-m", "x"],
            vec!["fork", run, "--again", "2", "-m", "x"],
            vec!["resume", run, "-m", "x"],
            vec!["pause", run, "-m", "x"],
            vec!["cancel", run, "-m", "x"],
            vec!["note", run, "x"],
            vec!["pin", run],
            vec!["claim", run],
            vec!["acknowledge", run],
        ] {
            cli.says(&order).await.refused("forbidden");
        }
    }
    let stranger = Cli::of(&api.with_token("s47_nobody"));
    stranger
        .says(&["cancel", run, "-m", "x"])
        .await
        .refused("unauthorized");
    assert_eq!(agent.facts().await, before);
}

both_engines!(
    a_bad_edit_changes_nothing,
    an_order_that_does_not_fit_changes_nothing,
    the_second_of_two_hears_who_was_first,
    a_run_that_a_worker_holds_is_not_changed_beneath_it,
    who_may_not_decide_changes_nothing,
);
