//! Stops: at a step boundary, with the lease given back.

use serde_json::Value;
use std::time::Duration;
use step47::{
    client::{Client, DecisionKind, Error, Gate, Session, Signal},
    domain::{RunStatus, StepStatus, wire::protocol::Decide},
};

use crate::server::{Server, create, lease};

async fn ask(operator: &Client, session: &Session<u64>, kind: DecisionKind) {
    let decision = Decide {
        reason: Some("looking into it".into()),
        ..Decide::new(kind)
    };
    operator.decide(session.id(), &decision).await.unwrap();
}

async fn stopped_between_two_steps(kind: DecisionKind, signal: Signal, status: RunStatus) {
    let server = Server::start().await;
    let operator = server.operator().await;
    let session: Session<u64> = server.open("r").await;
    let first = session.step("first", "add").run(
        |_| async {
            ask(&operator, &session, kind).await;
            Ok(1)
        },
        |sum, n| *sum += n,
    );
    assert_eq!(
        first.await.unwrap(),
        1,
        "what is in flight may still commit"
    );

    let second = session
        .step("second", "add")
        .run(|_| async { panic!("it must not begin") }, |_, ()| ())
        .await;
    assert!(
        matches!(second, Err(Error::Stopped(seen)) if seen == signal),
        "{second:?}"
    );
    let run = server.run("r").await;
    assert_eq!((run.status, run.steps, run.lease), (status, 1, None));
    assert_eq!(*session.state(), 1);
}

#[tokio::test]
async fn pause_stops_between_two_steps() {
    stopped_between_two_steps(DecisionKind::Pause, Signal::Pause, RunStatus::Paused).await;
}

#[tokio::test]
async fn cancel_stops_between_two_steps() {
    stopped_between_two_steps(DecisionKind::Cancel, Signal::Cancel, RunStatus::Cancelled).await;
}

fn question() -> Gate {
    Gate {
        title: "Go on?".into(),
        context: None,
        schema: None,
        choices: None,
    }
}

#[tokio::test]
async fn a_gate_releases_the_run_while_nobody_answers() {
    let server = Server::start().await;
    let session: Session<u64> = server.open("g").await;
    let gate = session
        .gate::<Value>("ok", "approve", question())
        .release_while_waiting();
    let waits = gate.run(|_, _| ()).await;
    assert!(matches!(waits, Err(Error::Waiting)), "{waits:?}");
    server.until_status("g", RunStatus::Waiting).await;
    assert_eq!(server.run("g").await.lease, None);
}

#[tokio::test]
async fn a_gate_waits_under_its_lease_until_somebody_wants_the_run_to_stop() {
    let server = Server::start().await;
    let operator = server.operator().await;
    let term = lease(2_000);
    let session: Session<u64> = server.client.open(create("g"), term).await.unwrap();
    let gate = session.gate::<Value>("ok", "approve", question());
    let stop = async {
        server.until_step("g", 1, StepStatus::Waiting).await;
        // Longer than the lease would last without heartbeats.
        tokio::time::sleep(Duration::from_secs(3)).await;
        ask(&operator, &session, DecisionKind::Pause).await;
    };
    let (waited, ()) = tokio::join!(gate.run(|_, _| ()), stop);
    assert!(
        matches!(waited, Err(Error::Stopped(Signal::Pause))),
        "{waited:?}"
    );
    assert_eq!(server.run("g").await.status, RunStatus::Paused);
}

#[tokio::test]
async fn an_interrupted_session_lets_parallel_steps_end_before_it_releases() {
    let server = Server::start().await;
    let session: Session<u64> = server.open("p").await;
    let (hold, held) = tokio::sync::oneshot::channel::<()>();
    let mut held = Some(held);
    let slow = session.step("slow", "add").run(
        |_| {
            let held = held.take();
            async move {
                held.unwrap().await?;
                Ok(1)
            }
        },
        |sum, n: &u64| *sum += n,
    );
    let other = async {
        server.until_step("p", 1, StepStatus::Running).await;
        session.interrupt();
        let next = session
            .step("next", "add")
            .run(|_| async { Ok(1u64) }, |_, _| ());
        let stopped = next.await;
        assert!(matches!(stopped, Err(Error::Interrupted)), "{stopped:?}");
        assert!(server.run("p").await.lease.is_some(), "a step is in flight");
        hold.send(()).unwrap();
    };
    let (slow, ()) = tokio::join!(slow, other);
    assert_eq!(slow.unwrap(), 1);
    let run = server.run("p").await;
    assert_eq!(
        (run.status, run.committed, run.lease),
        (RunStatus::Ready, 1, None)
    );
}
