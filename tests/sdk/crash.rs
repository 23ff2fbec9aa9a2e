//! Crashes: what is committed is kept and not done again.

use std::sync::atomic::{AtomicUsize, Ordering};
use step47::{
    client::Effect,
    domain::{RunStatus, StepStatus},
};

use crate::{
    process::{Agent, executed, repeated},
    server::Server,
};

/// A term that a busy machine does not miss, and that a crash does not outlive for long.
const FAST: [&str; 4] = ["--speed", "500", "--ttl-ms", "4000"];

#[tokio::test]
async fn a_killed_agent_goes_on_where_it_was_and_ends_with_the_same_state() {
    let server = Server::start().await;
    let whole = Agent::start(&server, "whole", &FAST).ended().await;
    assert_eq!(whole.code, Some(0), "{}", whole.said);

    let killed = Agent::start(
        &server,
        "killed",
        &[&FAST[..], &["--die-at", "30"]].concat(),
    );
    killed.was_killed().await;
    let again = Agent::start(&server, "killed", &FAST).ended().await;
    assert_eq!(again.code, Some(0), "{}", again.said);

    assert_eq!(executed(&server, "killed").len(), 52);
    // The step it died in, and the one that fails once by itself.
    assert_eq!(repeated(&server, "killed"), ["fetch:INV-2208", "rates"]);
    assert_eq!(
        state(&server, "killed").await,
        state(&server, "whole").await
    );
}

async fn state(server: &Server, id: &str) -> serde_json::Value {
    let run = server.run(id).await;
    assert_eq!(run.status, RunStatus::Done);
    server
        .client
        .snapshot(&run.id, run.snapshot)
        .await
        .unwrap()
        .state
}

#[tokio::test]
async fn after_a_crash_inside_an_effect_the_agent_looks_before_it_acts() {
    let server = Server::start().await;
    let effects = server.folder.path().join("effects");
    let args = [&FAST[..], &["--effects-file", effects.to_str().unwrap()]].concat();
    let killed = Agent::start(
        &server,
        "paid",
        &[&args[..], &["--die-at", "refund:INV-2212"]].concat(),
    );
    killed.was_killed().await;

    let again = Agent::start(&server, "paid", &args).ended().await;
    assert_eq!(again.code, Some(0), "{}", again.said);
    let happened = std::fs::read_to_string(&effects).unwrap();
    let refunds = happened.lines().filter(|key| *key == "paid:43").count();
    assert_eq!(refunds, 1, "the refund was found, not sent again");
    assert!(!repeated(&server, "paid").contains(&"refund:INV-2212".into()));
}

#[tokio::test]
async fn a_crash_inside_an_effect_that_cannot_be_checked_waits_for_an_operator() {
    let server = Server::start().await;
    let killed = Agent::start(
        &server,
        "unknown",
        &[&FAST[..], &["--die-at", "47"]].concat(),
    );
    killed.was_killed().await;
    server.until_status("unknown", RunStatus::Crashed).await;
    server.until_step("unknown", 47, StepStatus::Crashed).await;

    let refused = Agent::start(&server, "unknown", &FAST).ended().await;
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.said.contains("run_not_runnable"),
        "{}",
        refused.said
    );
    assert_eq!(executed(&server, "unknown")["charge:INV-2214"], 1);
}

#[tokio::test]
async fn what_a_check_does_not_find_is_done() {
    let server = Server::start().await;
    let looked = AtomicUsize::new(0);
    let attempt = async |dies: bool| {
        let session = server.open::<Vec<String>>("look").await;
        let step = session
            .step("pay", "pay")
            .effect(Effect {
                target: "bank".into(),
                description: None,
                dedupe_ms: None,
            })
            .check(|_| async {
                looked.fetch_add(1, Ordering::SeqCst);
                Ok(None)
            });
        let work = step.run(
            |ctx| async move {
                ctx.progress("half way").await;
                if dies {
                    std::future::pending::<()>().await;
                }
                Ok(format!(
                    "{} attempt {}",
                    ctx.idempotency_key(),
                    ctx.attempt()
                ))
            },
            |state, paid| state.push(paid.clone()),
        );
        tokio::select! {
            paid = work => Some(paid.unwrap()),
            () = half_way(&server), if dies => None,
        }
    };
    assert_eq!(
        attempt(true).await,
        None,
        "dropped in the middle, as a crash would"
    );
    assert_eq!(attempt(false).await.as_deref(), Some("look:1 attempt 2"));
    assert_eq!(looked.load(Ordering::SeqCst), 1);
}

async fn half_way(server: &Server) {
    let run = "look".parse().unwrap();
    crate::eventually("progress", async || {
        let step = server.client.step(&run, 1, 0).await.ok()?;
        step.attempts.last()?.partial.clone()
    })
    .await;
}

#[tokio::test]
async fn an_agent_goes_on_when_the_server_is_killed_and_comes_back() {
    let mut server = Server::start().await;
    let agent = Agent::start(&server, "r", &["--speed", "40", "--ttl-ms", "20000"]);
    for at in [5, 25] {
        server.until_step("r", at, StepStatus::Committed).await;
        server.kill_and_start_again().await;
    }
    let ended = agent.ended().await;
    assert_eq!(ended.code, Some(0), "{}", ended.said);
    assert_eq!(server.run("r").await.status, RunStatus::Done);
    assert_eq!(
        repeated(&server, "r"),
        ["rates"],
        "but for the one that fails by itself"
    );
}
