//! The worker loop: claims runs, carries them to their end, leaves in good order.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use step47::{
    client::{CreateRun, Error, Session, Worker},
    domain::{RunStatus, StepStatus},
};
use tokio::sync::oneshot;

use crate::server::Server;

async fn enqueue(server: &Server, id: &str) {
    let run = CreateRun {
        id: Some(id.parse().unwrap()),
        input: serde_json::json!({ "name": id }),
        ..CreateRun::new("greeter")
    };
    server.client.create(&run).await.unwrap();
}

async fn greet(session: Session<Vec<String>>) -> Result<String, Error> {
    #[derive(serde::Deserialize)]
    struct Input {
        name: String,
    }
    let Input { name } = session.input()?;
    session
        .step("greet", "greet")
        .run(
            |_| {
                let name = name.clone();
                async move { Ok(format!("Hello, {name}")) }
            },
            |said, greeting| said.push(greeting.clone()),
        )
        .await
}

fn worker(server: &Server) -> Worker {
    Worker::new(server.client.clone(), "w-1").ttl(Duration::from_secs(4))
}

#[tokio::test]
async fn a_worker_claims_runs_and_finishes_them() {
    let server = Server::start().await;
    for id in ["ana", "bo", "cy"] {
        enqueue(&server, id).await;
    }
    let (leave, left) = oneshot::channel::<()>();
    let work = worker(&server)
        .concurrency(2)
        .agent("greeter", "1.0.0", greet)
        .run_until(async { left.await.unwrap() });
    let watch = async {
        for id in ["ana", "bo", "cy"] {
            server.until_status(id, RunStatus::Done).await;
        }
        leave.send(()).unwrap();
    };
    tokio::join!(work, watch);
    let run = server.client.run(&"bo".parse().unwrap()).await.unwrap();
    assert_eq!(run.result, Some("Hello, bo".into()));
    assert_eq!(run.run.code_version.as_deref(), Some("1.0.0"));
}

#[tokio::test]
async fn a_panic_releases_the_run_and_the_next_try_goes_on() {
    let server = Server::start().await;
    enqueue(&server, "ana").await;
    let calls = Arc::new(AtomicUsize::new(0));
    let agent = {
        let calls = calls.clone();
        move |session: Session<Vec<String>>| {
            let first = calls.fetch_add(1, Ordering::SeqCst) == 0;
            async move {
                session
                    .step("fragile", "fragile")
                    .run(
                        |_| async move {
                            assert!(!first, "a bug");
                            Ok(())
                        },
                        |_, ()| (),
                    )
                    .await
            }
        }
    };
    let (leave, left) = oneshot::channel::<()>();
    let work = worker(&server)
        .agent("greeter", "1.0.0", agent)
        .run_until(async { left.await.unwrap() });
    let watch = async {
        server.until_status("ana", RunStatus::Done).await;
        leave.send(()).unwrap();
    };
    tokio::join!(work, watch);
    assert_eq!(calls.load(Ordering::SeqCst), 2);
    let step = server
        .client
        .step(&"ana".parse().unwrap(), 1, 0)
        .await
        .unwrap();
    assert_eq!(step.step.tries, 2);
}

#[tokio::test]
async fn a_worker_that_is_asked_to_end_releases_its_run_between_two_steps() {
    let server = Server::start().await;
    enqueue(&server, "ana").await;
    let endless = |session: Session<u64>| async move {
        loop {
            let n = *session.state();
            let step = session.step(format!("n:{n}"), "count");
            step.run(|_| async { Ok(()) }, |n, ()| *n += 1).await?;
        }
        #[expect(unreachable_code)]
        Ok(())
    };
    let (leave, left) = oneshot::channel::<()>();
    let work = worker(&server)
        .agent("greeter", "1.0.0", endless)
        .run_until(async { left.await.unwrap() });
    let watch = async {
        server.until_step("ana", 3, StepStatus::Committed).await;
        leave.send(()).unwrap();
    };
    tokio::join!(work, watch);
    let run = server.run("ana").await;
    assert_eq!((run.status, run.lease), (RunStatus::Ready, None));
    assert_eq!(run.steps, run.committed, "nothing is left in flight");
}

#[tokio::test]
async fn a_run_whose_state_the_agent_cannot_read_fails_and_says_why() {
    let server = Server::start().await;
    let run = CreateRun {
        id: Some("odd".parse().unwrap()),
        state: Some(serde_json::json!({ "names": 7 })),
        ..CreateRun::new("greeter")
    };
    server.client.create(&run).await.unwrap();
    let (leave, left) = oneshot::channel::<()>();
    let work = worker(&server)
        .agent("greeter", "1.0.0", greet)
        .run_until(async { left.await.unwrap() });
    let watch = async {
        server.until_status("odd", RunStatus::Failed).await;
        leave.send(()).unwrap();
    };
    tokio::join!(work, watch);
    let run = server.client.run(&"odd".parse().unwrap()).await.unwrap();
    let error = run.error.unwrap();
    assert_eq!(error.kind, "shape");
    assert!(
        error.message.contains("the run's state does not fit"),
        "{}",
        error.message
    );
}
