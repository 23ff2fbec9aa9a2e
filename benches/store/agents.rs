//! Agents that do nothing but take steps: each commit carries the next begin, and the state grows by 1 KB.

use serde_json::{Value, json};
use std::time::{Duration, Instant};

use super::{
    GROWTH,
    report::{Depth, Rate},
    server::Server,
};

/// Text that compresses about as well as messages do.
fn message(n: usize) -> String {
    let words = [
        "invoice", "matches", "the", "purchase", "order", "of", "October", "and", "was", "paid",
    ];
    let mut text = format!("step {n}: ");
    let mut seed = n as u64 * 2_654_435_761 + 1;
    while text.len() < GROWTH - 40 {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        text.push_str(words[(seed >> 33) as usize % words.len()]);
        text.push_str(&format!(" {:x} ", seed >> 48));
    }
    text
}

fn step(n: usize) -> Value {
    json!({"key": format!("step-{n}"), "name": "work", "kind": "llm"})
}

/// Takes `steps` steps on a fresh run; answers how long each took.
pub async fn take(server: &Server, run: String, steps: usize) -> Vec<Duration> {
    let epoch = server.open(&run).await;
    let mut first = step(1);
    first["epoch"] = epoch.clone();
    let mut begun = server.post(&format!("/v1/runs/{run}/steps"), first).await;
    let mut times = Vec::with_capacity(steps);
    for n in 1..=steps {
        let body = json!({
            "epoch": epoch, "attempt": begun["attempt"], "result": {"ok": n},
            "patch": [{"op": "add", "path": "/messages/-", "value": {"role": "assistant", "content": message(n)}}],
            "next": step(n + 1),
        });
        let path = format!("/v1/runs/{run}/steps/{}/commit", begun["seq"]);
        let began = Instant::now();
        let mut answer = server.post(&path, body).await;
        times.push(began.elapsed());
        begun = answer["next"].take();
    }
    times
}

/// `agents` at once, each with its own run.
pub async fn run(server: &Server, agents: usize, steps: usize) -> Rate {
    let id = |agent: usize| format!("bench-{agents}-{agent}-{}", uuid::Uuid::now_v7().simple());
    take(server, id(usize::MAX), 20).await;
    let began = Instant::now();
    let all =
        futures::future::join_all((0..agents).map(|agent| take(server, id(agent), steps))).await;
    Rate::new(all.into_iter().flatten().collect(), began.elapsed())
}

/// One run of 10,100 steps: is a step late in it as fast as an early one?
pub async fn depth(server: &Server) -> Depth {
    let times = take(
        server,
        format!("deep-{}", uuid::Uuid::now_v7().simple()),
        10_100,
    )
    .await;
    let median = |range: std::ops::Range<usize>| {
        let mut part = times[range].to_vec();
        part.sort_unstable();
        part[part.len() / 2]
    };
    Depth {
        early: median(100..200),
        late: median(10_000..10_100),
    }
}
