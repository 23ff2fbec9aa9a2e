//! A worker that was stopped (SIGSTOP), lost its lease, and goes on (SIGCONT) can write nothing.
//!
//! The worker is a real process: this test binary again, told by its environment what to do.

use serde_json::{Value, json};
use std::{
    env,
    io::{BufRead, BufReader},
    process::{Child, ChildStdout, Command, Stdio},
};

use crate::support::{Agent, Api, Engine, Server, both_engines, eventually, pause, signal};

const RUN: &str = "STEP47_ZOMBIE_RUN";
const BASE: &str = "STEP47_ZOMBIE_BASE";
const TOKEN: &str = "STEP47_ZOMBIE_TOKEN";
/// What the worker's lines on stdout begin with.
const SAYS: &str = "zombie: ";

/// The worker's own life; nothing when run as a test.
#[test]
fn worker() {
    if let (Ok(base), Ok(token), Ok(of)) = (env::var(BASE), env::var(TOKEN), env::var(RUN)) {
        crate::support::block_on(live(Api::new(&base, &token), of));
    }
}

async fn live(api: Api, of: String) {
    let agent = api
        .lease(&of, json!({"worker": "zombie", "ttl_ms": 1500}))
        .await;
    agent
        .executes(
            "one",
            json!({"effect": {"target": "bank"}, "recovery": "retry"}),
        )
        .await;
    println!("{SAYS}working");
    while agent.heartbeat(json!({})).await.status == 200 {
        pause(100).await;
    }
    let next = json!({"key": "three", "name": "three"});
    let late = [
        (
            "heartbeat",
            agent.heartbeat(json!({"ttl_ms": 3_600_000})).await,
        ),
        (
            "progress",
            agent.progress(1, 1, json!({"partial": "z"})).await,
        ),
        ("begin", agent.begin("two", json!({})).await),
        ("begin again", agent.begin("one", json!({})).await),
        ("fail", agent.fail(1, 1, json!({})).await),
        (
            "commit",
            agent
                .commit(
                    1,
                    1,
                    json!({"result": "charged", "state": {"zombie": 1}, "next": next}),
                )
                .await,
        ),
        (
            "the other's commit",
            agent
                .commit(1, 2, json!({"result": "mine", "state": {"zombie": 2}}))
                .await,
        ),
        ("release", agent.release(json!({})).await),
        ("finish", agent.finish(json!({})).await),
    ];
    for (what, answer) in late {
        println!("{SAYS}{what}={} {}", answer.status, answer.code());
    }
}

struct Worker {
    process: Child,
    lines: BufReader<ChildStdout>,
}

impl Worker {
    fn start(base: &str, token: &str, of: &str) -> Self {
        let mut process = Command::new(env::current_exe().expect("this binary"))
            .args([
                "--exact",
                "durability::stopped_worker::worker",
                "--nocapture",
                "--test-threads=1",
            ])
            .env(BASE, base)
            .env(TOKEN, token)
            .env(RUN, of)
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the worker starts");
        let lines = BufReader::new(process.stdout.take().expect("its stdout"));
        Self { process, lines }
    }

    /// The next thing the worker says, or nothing when it is gone.
    fn says(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).expect("a line") == 0 {
                return None;
            }
            if let Some((_, said)) = line.trim_end().split_once(SAYS) {
                return Some(said.to_owned());
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

async fn a_stopped_worker_that_wakes_can_write_nothing(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let run = api.create(json!({})).await;
    let (base, token) = api.parts();
    let mut worker = tokio::task::block_in_place(|| Worker::start(base, token, &run));
    assert_eq!(
        tokio::task::block_in_place(|| worker.says()).as_deref(),
        Some("working")
    );
    pause(300).await;
    assert_eq!(
        api.status(&run).await,
        "running",
        "it keeps its lease while it lives"
    );
    signal(worker.process.id(), "STOP");
    eventually("its lease ends", async || {
        (api.status(&run).await == "ready").then_some(())
    })
    .await;
    assert_eq!(api.step(&run, 1).await["status"], "crashed");
    let next = api
        .lease(&run, json!({"worker": "next", "ttl_ms": 60_000}))
        .await;
    next.begin(
        "one",
        json!({"effect": {"target": "bank"}, "recovery": "retry"}),
    )
    .await
    .is(200);
    let before = standing(&next).await;
    signal(worker.process.id(), "CONT");
    let mut told = Vec::new();
    while let Some(said) = tokio::task::block_in_place(|| worker.says()) {
        told.push(said);
    }
    assert_eq!(told.len(), 9, "{told:?}");
    for line in &told {
        assert!(line.ends_with("=409 lease_lost"), "{told:?}");
    }
    assert_eq!(standing(&next).await, before);
    let step = api.step(&run, 1).await;
    assert_eq!(step["status"], "running");
    assert_eq!(
        step["attempts"][0]["evidence"]["result"], "charged",
        "{step}"
    );
    next.commit(1, 2, json!({"result": "once", "state": {"n": 1}}))
        .await
        .is(200);
    assert_eq!(api.snapshot(&run, 1).await["state"], json!({"n": 1}));
}

/// All of a run but what late evidence may add.
async fn standing(agent: &Agent) -> Value {
    let run = agent.api.run(&agent.run).await;
    let keys = [
        "status",
        "version",
        "snapshot",
        "hash",
        "steps",
        "committed",
        "lease",
        "epoch",
        "usage",
    ];
    keys.iter()
        .map(|key| (key.to_string(), run[key].clone()))
        .collect()
}

both_engines!(a_stopped_worker_that_wakes_can_write_nothing);
