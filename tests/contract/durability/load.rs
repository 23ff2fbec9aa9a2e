//! Agents that work on while the server goes away and comes back, and write down what was acknowledged.

use serde_json::{Value, json};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::{sync::watch, task::JoinHandle, time::Instant};

use crate::support::{Api, DEADLINE, eventually, merged, pause, together, unique};

/// The newest steps that an agent's state lists: a long campaign must not grow with the square of its steps.
const LISTED: usize = 100;

/// One commit that the server answered.
#[derive(Clone)]
pub struct Acknowledged {
    agent: usize,
    run: String,
    seq: usize,
    commit: Value,
}

/// The state of an agent after so many steps.
fn state(agent: usize, steps: usize) -> Value {
    let first = steps.saturating_sub(LISTED) + 1;
    let list: Vec<_> = (first..=steps).map(|n| json!({"step": n})).collect();
    json!({"n": steps, "list": list, "pad": "x".repeat(agent * 500)})
}

pub struct Load {
    door: watch::Sender<Api>,
    stop: Arc<AtomicBool>,
    count: Arc<AtomicUsize>,
    /// How often one call was cut off or put off, at most.
    worst: Arc<AtomicUsize>,
    /// Connections that were refused because nobody listened.
    refused: Arc<AtomicUsize>,
    agents: Vec<JoinHandle<Vec<Acknowledged>>>,
}

impl Load {
    pub fn start(api: Api, agents: usize) -> Self {
        Self::paced(api, agents, Duration::ZERO)
    }

    /// Agents that think for so long between two steps: a long campaign must not be a benchmark of commits, all of
    /// which are read back at its end.
    pub fn paced(api: Api, agents: usize, thinks: Duration) -> Self {
        let (door, way) = watch::channel(api);
        let stop = Arc::new(AtomicBool::new(false));
        let count = Arc::new(AtomicUsize::new(0));
        let worst = Arc::new(AtomicUsize::new(0));
        let refused = Arc::new(AtomicUsize::new(0));
        let agents = (0..agents)
            .map(|i| {
                let way = Way {
                    to: way.clone(),
                    worst: worst.clone(),
                    refused: refused.clone(),
                };
                tokio::spawn(work((i, thinks), way, stop.clone(), count.clone()))
            })
            .collect();
        Self {
            door,
            stop,
            count,
            worst,
            refused,
            agents,
        }
    }

    /// The server is back, and listens here.
    pub fn moved_to(&self, api: Api) {
        self.door.send_replace(api);
    }

    /// How often one call had to be sent again at most, though somebody listened.
    pub fn worst(&self) -> usize {
        self.worst.load(Ordering::SeqCst)
    }

    /// Connections that met nobody.
    pub fn refused(&self) -> usize {
        self.refused.load(Ordering::SeqCst)
    }

    /// Waits until this many more commits were acknowledged.
    pub async fn goes_on(&self, more: usize) {
        let start = self.count.load(Ordering::SeqCst);
        eventually("the agents go on", async || {
            if let Some(dead) = self.agents.iter().find(|agent| agent.is_finished()) {
                panic!("agent {:?} ended before its time", dead.id());
            }
            (self.count.load(Ordering::SeqCst) >= start + more).then_some(())
        })
        .await;
    }

    pub async fn finish(self) -> Vec<Acknowledged> {
        self.stop.store(true, Ordering::SeqCst);
        let mut all = Vec::new();
        for agent in self.agents {
            match agent.await {
                Ok(acknowledged) => all.extend(acknowledged),
                Err(failed) => std::panic::resume_unwind(failed.into_panic()),
            }
        }
        all
    }
}

/// Where the server is, and how hard it was to reach.
struct Way {
    to: watch::Receiver<Api>,
    worst: Arc<AtomicUsize>,
    refused: Arc<AtomicUsize>,
}

/// Sends until somebody answers: every write is safe to send again.
async fn send(way: &Way, path: &str, body: &Value) -> Value {
    let end = Instant::now() + DEADLINE;
    let mut again = 0;
    while Instant::now() < end {
        let api = way.to.borrow().clone();
        match api.try_post(path, body).await {
            Ok(answer) if answer.status < 300 => return answer.body(),
            Ok(answer) if answer.status == 503 => again += 1,
            Ok(answer) => panic!("a healthy worker was refused: {answer:?}"),
            // Nobody listens: between two servers.
            Err(error) if error.is_connect() => {
                way.refused.fetch_add(1, Ordering::SeqCst);
            }
            Err(_) => again += 1,
        }
        way.worst.fetch_max(again, Ordering::SeqCst);
        pause(30).await;
    }
    panic!("no answer to {path} within {DEADLINE:?}");
}

/// One agent: its own run, one lease for all its life, step after step. Each writes its state in another way.
async fn work(
    (i, thinks): (usize, Duration),
    way: Way,
    stop: Arc<AtomicBool>,
    count: Arc<AtomicUsize>,
) -> Vec<Acknowledged> {
    let run = unique("load");
    let create = json!({"id": run, "agent": "load", "state": state(i, 0)});
    send(&way, "/v1/runs", &create).await;
    let body = json!({"worker": run, "takeover": true, "ttl_ms": 120_000});
    let epoch = send(&way, &format!("/v1/runs/{run}/lease"), &body).await["epoch"].clone();
    let mut done = Vec::new();
    let mut begun = Value::Null;
    while !stop.load(Ordering::SeqCst) {
        let n = done.len() + 1;
        let step = |n: usize| json!({"key": format!("k{n}"), "name": "work", "input": n});
        if begun.is_null() {
            let body = merged(step(n), json!({"epoch": epoch}));
            begun = send(&way, &format!("/v1/runs/{run}/steps"), &body).await;
        }
        let told = (&begun["outcome"], &begun["attempt"], &begun["seq"]);
        assert_eq!(told, (&json!("execute"), &json!(1), &json!(n)), "{begun}");
        let mut body = json!({"epoch": epoch, "attempt": 1, "result": {"n": n}});
        if i.is_multiple_of(2) {
            body["state"] = state(i, n);
        } else {
            let grow = json!({"op": "add", "path": "/list/-", "value": {"step": n}});
            let mut patch = vec![json!({"op": "replace", "path": "/n", "value": n}), grow];
            if n > LISTED {
                patch.push(json!({"op": "remove", "path": "/list/0"}));
            }
            body["patch"] = json!(patch);
        }
        if i.is_multiple_of(3) {
            body["next"] = step(n + 1);
        }
        let commit = send(&way, &format!("/v1/runs/{run}/steps/{n}/commit"), &body).await;
        begun = commit["next"].clone();
        done.push(Acknowledged {
            agent: i,
            run: run.clone(),
            seq: n,
            commit,
        });
        count.fetch_add(1, Ordering::SeqCst);
        if !thinks.is_zero() {
            tokio::time::sleep(thinks).await;
        }
    }
    done
}

/// Every acknowledged commit is there: once, with its state, its hash, and the answer it got.
pub async fn verify(api: &Api, all: &[Acknowledged]) {
    let api = api.patient();
    let jobs = 16;
    together(jobs, |job| {
        let api = api.clone();
        let mine: Vec<_> = all.iter().skip(job).step_by(jobs).cloned().collect();
        async move {
            for one in mine {
                one.verify(&api).await;
            }
        }
    })
    .await;
    let mut runs: Vec<_> = all.iter().map(|one| one.run.clone()).collect();
    runs.dedup();
    for run in runs {
        let commits = all.iter().filter(|one| one.run == run).count();
        let shown = api.run(&run).await;
        assert_eq!(
            shown["snapshot"],
            json!(commits),
            "one snapshot per commit: {shown}"
        );
        assert_eq!(shown["committed"], json!(commits), "{shown}");
        let events = api.events(0, Some(&run)).await;
        let told = events
            .iter()
            .filter(|event| event["kind"] == "step_committed")
            .count();
        assert_eq!(told, commits, "one event per commit of {run}");
    }
}

impl Acknowledged {
    async fn verify(&self, api: &Api) {
        let step = api.step(&self.run, self.seq as i64).await;
        let told = format!("{} step {}: {step}", self.run, self.seq);
        assert_eq!(step["status"], "committed", "{told}");
        assert_eq!(step["result"], json!({"n": self.seq}), "{told}");
        let attempts = step["attempts"].as_array().expect("attempts");
        assert_eq!(attempts.len(), 1, "{told}");
        assert_eq!(attempts[0]["outcome"], "committed", "{told}");
        let n = self.commit["snapshot"].as_i64().expect("a snapshot");
        let snapshot = api.snapshot(&self.run, n).await;
        assert_eq!(snapshot["hash"], self.commit["hash"], "{told}");
        assert_eq!(snapshot["seq"], json!(self.seq), "{told}");
        assert_eq!(snapshot["state"], state(self.agent, self.seq), "{told}");
    }
}
