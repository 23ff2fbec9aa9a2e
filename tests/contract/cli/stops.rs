//! Pause, resume and cancel: a request where a worker holds the run, done at once where none does.

use serde_json::json;

use crate::{
    decisions::crashed,
    support::{Cli, Engine, both_engines},
};

async fn a_worker_is_asked_and_stops_between_two_steps(on: Engine) {
    let api = on.shared().await;
    for (kind, becomes) in [("pause", "paused"), ("cancel", "cancelled")] {
        let agent = api.agent(json!({})).await;
        agent.executes("one", json!({})).await;
        let said = Cli::of(&api).says(&[kind, &agent.run, "-m", "wait"]).await;
        let asked = format!("its worker is asked to {kind} between two steps");
        assert!(said.done().contains(&asked), "{said:?}");
        assert_eq!(agent.status().await, "running");
        let told = agent.commit(1, 1, json!({"state": {"n": 1}})).await.is(200);
        assert_eq!(told["signal"], kind, "what is in flight is committed");
        let next = agent.begin("two", json!({})).await.is(200);
        assert_eq!(next["outcome"], "stop");
        agent.release(json!({})).await.is(200);
        assert_eq!(agent.status().await, becomes);
    }
}

async fn a_run_that_nobody_holds_stops_and_goes_on_at_once(on: Engine) {
    let api = on.shared().await;
    let run = api.create(json!({})).await;
    let cli = Cli::of(&api);
    cli.says(&["pause", &run, "-m", "not now"]).await.done();
    assert_eq!(api.status(&run).await, "paused");
    api.post(&format!("/v1/runs/{run}/lease"), json!({"worker": "w"}))
        .await
        .refused(409, "run_not_runnable");
    cli.says(&["resume", &run, "-m", "now"]).await.done();
    assert_eq!(api.status(&run).await, "ready");
    cli.says(&["cancel", &run, "-m", "never"]).await.done();
    assert_eq!(api.status(&run).await, "cancelled");
    cli.says(&["resume", &run, "-m", "after all"])
        .await
        .refused("decision_refused");
    assert_eq!(api.status(&run).await, "cancelled");
}

async fn a_resume_waits_for_decisions_and_for_the_plan_that_was_shown(on: Engine) {
    let api = on.shared().await;
    let (agent, seq) = crashed(&api, 1).await;
    let cli = Cli::of(&api);
    let plan = api.get(&agent.path("plan")).await.is(200);
    let before = agent.facts().await;
    let open = format!("step {seq} (charge) waits for a decision");
    cli.says(&["resume", &agent.run, "-m", "go"])
        .await
        .refused(&open);
    assert_eq!(agent.facts().await, before);
    cli.says(&["skip", &agent.run, "-m", "not needed"])
        .await
        .done();
    let shown = plan["hash"].as_str().expect("a hash");
    let old = ["resume", &agent.run, "--plan", shown, "-m", "go"];
    cli.says(&old).await.refused("plan_changed");
    assert_eq!(agent.status().await, "crashed");
    cli.says(&["resume", &agent.run, "-m", "go"]).await.done();
    assert_eq!(agent.status().await, "ready");
}

both_engines!(
    a_worker_is_asked_and_stops_between_two_steps,
    a_run_that_nobody_holds_stops_and_goes_on_at_once,
    a_resume_waits_for_decisions_and_for_the_plan_that_was_shown,
);
