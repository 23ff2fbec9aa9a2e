//! Steps and state: results, folds, failures, sleep.

use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::Duration;
use step47::{
    client::{Error, Session, StepError, Usage},
    domain::{RunStatus, StepStatus},
};

use crate::server::Server;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Tally {
    names: Vec<String>,
    sum: i64,
}

#[tokio::test]
async fn a_committed_step_is_replayed_with_its_result_and_the_state_has_it_once() {
    let server = Server::start().await;
    let mut called = 0;
    for _ in 0..3 {
        let session: Session<Tally> = server.open("r").await;
        let seven = session
            .step("add", "add")
            .run(
                |ctx| {
                    called += 1;
                    async move {
                        ctx.usage(Usage {
                            cost_usd: Some(0.25),
                            ..Usage::default()
                        });
                        Ok(7)
                    }
                },
                |tally, n| tally.sum += n,
            )
            .await
            .unwrap();
        assert_eq!((seven, session.state().sum), (7, 7));
        session.release().await.unwrap();
    }
    assert_eq!(called, 1);
    assert_eq!(server.run("r").await.usage.cost_usd, Some(0.25));
}

#[tokio::test]
async fn parallel_steps_fold_into_one_state() {
    let server = Server::start().await;
    let session: Session<Tally> = server.open("r").await;
    let tasks: Vec<_> = (0..12)
        .map(|n| {
            let session = session.clone();
            tokio::spawn(async move {
                let step = session.step(format!("add:{n}"), "add");
                step.run(
                    |_| async move { Ok(n) },
                    |tally, n: &i64| {
                        tally.sum += n;
                        tally.names.push(format!("step {n}"));
                    },
                )
                .await
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    let here = session.state();
    assert_eq!((here.sum, here.names.len()), (66, 12));
    session.release().await.unwrap();
    let again: Session<Tally> = server.open("r").await;
    assert_eq!(again.state(), here);
}

#[tokio::test]
async fn a_failing_step_is_tried_again_after_its_pause_and_then_works() {
    let server = Server::start().await;
    let session: Session<Tally> = server.open("r").await;
    let flaky = session
        .step("flaky", "flaky")
        .retry(3, Duration::from_millis(50))
        .run(
            |ctx| async move {
                match ctx.attempt() {
                    1 => Err(std::io::Error::other("connection reset").into()),
                    2 => Err(StepError::new("Timeout", "no answer for 30 s")),
                    n => Ok(n),
                }
            },
            |tally, n| tally.sum = *n,
        );
    assert_eq!(flaky.await.unwrap(), 3);
    let step = server.client.step(session.id(), 1, 0).await.unwrap();
    let errors: Vec<_> = step
        .attempts
        .iter()
        .filter_map(|a| Some(a.error.as_ref()?.message.as_str()))
        .collect();
    assert_eq!(errors, ["connection reset", "no answer for 30 s"]);
}

#[tokio::test]
async fn a_step_that_failed_for_good_fails_the_same_way_when_it_is_replayed() {
    let server = Server::start().await;
    for round in 0..2 {
        let session: Session<Tally> = server.open("r").await;
        let failed = session.step("doomed", "doomed").run(
            |_| async move {
                assert_eq!(round, 0, "it is not tried again");
                Err::<(), _>(StepError::new("NoSuchCustomer", "cus_404").for_good())
            },
            |_, ()| (),
        );
        match failed.await {
            Err(Error::Failed(error)) => assert_eq!(error.kind, "NoSuchCustomer"),
            other => panic!("{other:?}"),
        }
        session.release().await.unwrap();
    }
}

#[tokio::test]
async fn a_failed_agent_fails_its_run_with_the_error() {
    let server = Server::start().await;
    let session: Session<Tally> = server.open("r").await;
    let step = session.step("doomed", "doomed");
    let outcome = step
        .run(
            |_| async { Err::<(), _>(StepError::new("Full", "no space").for_good()) },
            |_, ()| (),
        )
        .await;
    let settled = session.settle(outcome).await;
    assert!(matches!(settled, Err(Error::Failed(_))), "{settled:?}");
    let run = server.client.run(session.id()).await.unwrap();
    assert_eq!(run.run.status, RunStatus::Failed);
    assert_eq!(run.error.unwrap().kind, "Full");
}

#[tokio::test]
async fn a_result_that_cannot_be_recorded_fails_the_step_and_the_run() {
    let server = Server::start().await;
    let session: Session<Tally> = server.open("r").await;
    let nul = session
        .step("nul", "nul")
        .run(|_| async { Ok("a\0b".to_owned()) }, |_, _| ());
    let settled = session.settle(nul.await).await;
    assert!(matches!(settled, Err(Error::Refused(_))), "{settled:?}");
    assert_eq!(server.run("r").await.status, RunStatus::Failed);
    server.until_step("r", 1, StepStatus::Failed).await;
}

#[tokio::test]
async fn a_step_begun_ahead_costs_no_request_of_its_own_and_is_executed_once() {
    let server = Server::start().await;
    let session: Session<Tally> = server.open("r").await;
    let step = |n: i64| {
        session
            .step(format!("n:{n}"), "count")
            .input(json!({ "n": n }))
    };
    for n in 1..=3 {
        let this = match n {
            3 => step(n),
            _ => step(n).then(&step(n + 1)),
        };
        this.run(|_| async move { Ok(n) }, |tally, n| tally.sum += n)
            .await
            .unwrap();
        if n < 3 {
            server.until_step("r", n + 1, StepStatus::Running).await;
        }
    }
    session.finish(session.state().sum).await.unwrap();
    let run = server.client.run(session.id()).await.unwrap();
    assert_eq!((run.run.steps, run.result), (3, Some(json!(6))));
}

#[tokio::test]
async fn a_durable_sleep_releases_the_run_and_is_passed_when_it_is_over() {
    let server = Server::start().await;
    let session: Session<Tally> = server.open("r").await;
    let slept = session.sleep("nap", Duration::from_millis(800)).await;
    assert!(matches!(slept, Err(Error::Asleep(_))), "{slept:?}");
    let run = server.run("r").await;
    assert_eq!((run.status, run.lease), (RunStatus::Ready, None));
    assert!(run.runnable_at.is_some());

    let again = crate::eventually("the nap is over", async || {
        server
            .client
            .open::<Tally>(
                crate::server::create("r"),
                crate::server::lease(crate::server::TTL_MS),
            )
            .await
            .ok()
    });
    let again = again.await;
    again
        .sleep("nap", Duration::from_millis(800))
        .await
        .unwrap();
    again.finish("rested").await.unwrap();
}
