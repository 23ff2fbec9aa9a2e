//! Operators beside agents: one long run is forked and resumed, over and over, while others commit.

use serde_json::json;
use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use super::{agents, report::Beside, server::Server};

const AGENTS: usize = 8;
/// Steps that each agent takes; enough that one in a hundred is not one alone.
const STEPS: usize = 400;

/// The same agents twice, without and with somebody who forks and resumes a run of this many steps.
pub async fn beside(server: &Server, long: usize) -> Beside {
    let run = format!("long-{}", uuid::Uuid::now_v7().simple());
    agents::take(server, run.clone(), long).await;
    let path = format!("/v1/runs/{run}/release");
    server.post(&path, json!({"epoch": 1})).await;
    let without = agents::run(server, AGENTS, STEPS).await;
    let over = AtomicBool::new(false);
    let agents = async {
        let rate = agents::run(server, AGENTS, STEPS).await;
        over.store(true, Ordering::Relaxed);
        rate
    };
    let (with, decided) = futures::future::join(agents, decide(server, &run, &over)).await;
    Beside {
        long,
        without,
        with,
        forks: decided.len(),
        fork_p50: decided[decided.len() / 2],
    }
}

/// Forks, pauses and resumes the run until the agents are done; answers how long each fork took, the shortest first.
async fn decide(server: &Server, run: &str, over: &AtomicBool) -> Vec<Duration> {
    let path = format!("/v1/runs/{run}/decisions");
    let mut times = Vec::new();
    while times.is_empty() || !over.load(Ordering::Relaxed) {
        let began = Instant::now();
        let fork = json!({"kind": "fork", "reason": "bench"});
        server.post(&path, fork).await;
        times.push(began.elapsed());
        let pause = json!({"kind": "pause", "reason": "bench"});
        let paused = server.post(&path, pause).await;
        let version = &paused["run"]["version"];
        let resume = json!({"kind": "resume", "if_version": version, "reason": "bench"});
        server.post(&path, resume).await;
    }
    times.sort_unstable();
    times
}
