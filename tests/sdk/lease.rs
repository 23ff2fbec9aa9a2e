//! Leases: one worker at a time, and one that lost its lease changes nothing.

use std::time::Duration;
use step47::{
    client::{Error, Session},
    domain::{Code, RunStatus, StepStatus},
};

use crate::{
    process::{Agent, executed},
    server::{Server, TTL_MS, create, lease},
};

#[tokio::test]
async fn a_worker_stopped_past_its_lease_stops_its_work_and_writes_nothing() {
    let server = Server::start().await;
    let agent = Agent::start(&server, "frozen", &["--speed", "2", "--ttl-ms", "4000"]);
    server.until_step("frozen", 3, StepStatus::Committed).await;
    agent.signal("STOP").await;
    server.until_status("frozen", RunStatus::Ready).await;
    let (before, counted) = (server.run("frozen").await, executed(&server, "frozen"));

    agent.signal("CONT").await;
    let ended = agent.ended().await;
    assert_eq!(ended.code, Some(1));
    assert!(
        ended.said.contains("the lease on the run is lost"),
        "{}",
        ended.said
    );
    assert_eq!(server.run("frozen").await, before, "the run is as it was");
    assert_eq!(executed(&server, "frozen"), counted, "no step was begun");
    let seq = before.steps;
    let step = server.client.step(&before.id, seq, 0).await.unwrap();
    assert!(
        step.attempts
            .iter()
            .all(|attempt| attempt.evidence.is_none())
    );
}

#[tokio::test]
async fn heartbeats_keep_a_lease_through_a_long_step() {
    let server = Server::start().await;
    let term = lease(2_000);
    let session: Session<u64> = server.client.open(create("long"), term).await.unwrap();
    let slept = session.step("sleep", "sleep").run(
        |_| async {
            tokio::time::sleep(Duration::from_secs(4)).await;
            Ok(1)
        },
        |state, n| *state = *n,
    );
    assert_eq!(slept.await.unwrap(), 1);
    session.finish(()).await.unwrap();
    assert_eq!(server.run("long").await.epoch.0, 1);
}

#[tokio::test]
async fn a_run_in_the_hands_of_a_live_worker_is_refused_and_a_dead_ones_is_waited_for() {
    let server = Server::start().await;
    let first: Session<u64> = server.open("busy").await;
    let refused = server
        .client
        .open::<u64>(create("busy"), lease(TTL_MS))
        .await;
    match refused {
        Err(Error::Refused(problem)) => assert_eq!(problem.code, Code::LeaseHeld),
        other => panic!("{other:?}"),
    }
    // No goodbye: its heartbeats end with it, its lease a term later.
    drop(first);
    let second: Session<u64> = server.open("busy").await;
    second.release().await.unwrap();
    assert_eq!(server.run("busy").await.epoch.0, 2);
}

#[tokio::test]
async fn work_is_dropped_when_the_store_gives_the_run_to_another_worker() {
    let server = Server::start().await;
    let session: Session<u64> = server.open("taken").await;
    let takeover = step47::client::LeaseRun {
        takeover: true,
        ..lease(30_000)
    };
    let stolen = server.client.lease(session.id(), &takeover);
    let step = session
        .step("forever", "forever")
        .run(|_| async { std::future::pending().await }, |_, ()| ());
    let (stolen, lost) = tokio::join!(stolen, step);
    assert!(matches!(lost, Err(Error::LeaseLost)), "{lost:?}");
    assert!(matches!(session.finish(()).await, Err(Error::LeaseLost)));
    assert_eq!(server.run("taken").await.epoch, stolen.unwrap().epoch);
}
