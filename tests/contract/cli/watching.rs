//! `step47 runs watch`: each event once, in order, until the run is over, whatever becomes of the server meanwhile.

use serde_json::{Value, json};
use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Stdio},
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

use crate::support::{Cli, DEADLINE, Engine, Server, both_engines, eventually, ids};

/// A command that goes on, and what it says line by line.
struct Watch {
    child: Child,
    lines: Receiver<String>,
}

impl Watch {
    fn start(cli: &Cli, arguments: &[&str]) -> Self {
        let mut command = cli.command(arguments);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
        let said = BufReader::new(child.stdout.take().expect("its output"));
        let (told, lines) = channel();
        std::thread::spawn(move || {
            for line in said.lines().map_while(Result::ok) {
                // The test is over.
                if told.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, lines }
    }

    fn next(&self) -> Value {
        let line = self.lines.recv_timeout(DEADLINE).expect("a line in time");
        serde_json::from_str(&line).expect("JSON")
    }

    /// The rest, once it ended by itself and well.
    async fn rest(mut self) -> Vec<Value> {
        let ended = eventually("it ends", async || self.child.try_wait().expect("a child")).await;
        assert!(ended.success(), "{ended}");
        let lines = self.lines.iter().map(|line| serde_json::from_str(&line));
        lines.collect::<Result<_, _>>().expect("JSON lines")
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn a_watched_run_is_followed_to_its_end_through_a_deploy(on: Engine) {
    let mut server = Server::start(on).await;
    let api = server.api();
    let agent = api.agent(json!({})).await;
    agent.heartbeat(json!({"ttl_ms": 600_000})).await.is(200);
    let order = ["runs", "watch", &agent.run, "--json"];
    let sources = [Cli::of(&api), Cli::on_store(&server.store.url)];
    let watches = sources.each_ref().map(|cli| Watch::start(cli, &order));
    let before = api.events(0, Some(&agent.run)).await;
    let mut seen = watches.each_ref().map(|watch| {
        let next = |_| watch.next();
        before.iter().map(next).collect::<Vec<_>>()
    });
    agent.does("one", json!({"state": {"n": 1}})).await;
    for (watch, seen) in watches.iter().zip(&mut seen) {
        while seen.last().is_none_or(|it| it["kind"] != "step_committed") {
            seen.push(watch.next());
        }
    }
    server.redeploy(Duration::from_secs(30)).await;
    agent.does("two", json!({"state": {"n": 2}})).await;
    agent.finish(json!({})).await.is(200);
    let all = api.events(0, Some(&agent.run)).await;
    for (watch, mut seen) in watches.into_iter().zip(seen) {
        seen.extend(watch.rest().await);
        assert_eq!(ids(&seen), ids(&all));
        assert_eq!(seen, all);
    }
}

async fn without_a_run_only_what_is_new_is_told(on: Engine) {
    let server = Server::start(on).await;
    let api = server.api();
    let old = api.create(json!({})).await;
    let order = ["runs", "watch", "--json"];
    for cli in [Cli::of(&api), Cli::on_store(&server.store.url)] {
        let watch = Watch::start(&cli, &order);
        // It cannot be seen from outside when it began to look: runs are made until one is told.
        let told = eventually("an event", async || {
            api.create(json!({})).await;
            watch.lines.recv_timeout(Duration::from_millis(200)).ok()
        });
        let told: Value = serde_json::from_str(&told.await).expect("JSON");
        assert_ne!(told["run"], json!(old), "{told}");
    }
}

both_engines!(
    a_watched_run_is_followed_to_its_end_through_a_deploy,
    without_a_run_only_what_is_new_is_told,
);
