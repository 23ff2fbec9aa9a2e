//! One worker that does nothing but heartbeats, and how long each took while nothing was broken on purpose.

use serde_json::json;
use std::{
    future::Future,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use super::scene::{Scene, SceneHandle};
use crate::support::unique;

/// What a heartbeat may take at worst (99th percentile) beside the largest allowed requests.
const BOUND: Duration = Duration::from_millis(200);

#[derive(Default)]
struct Seen {
    epoch: Mutex<Option<serde_json::Value>>,
    times: Mutex<Vec<Duration>>,
    /// Odd while a fault is happening; a heartbeat that saw it change is not counted.
    faults: AtomicUsize,
}

pub struct Pulse(Arc<Seen>);

impl Pulse {
    pub fn start(scene: &Scene) -> Self {
        let seen = Arc::<Seen>::default();
        let run = unique("pulse");
        let shared = seen.clone();
        scene.repeat(Duration::from_millis(50), move |place| {
            beat(place, shared.clone(), run.clone())
        });
        Self(seen)
    }

    /// While this goes on, heartbeats are not counted.
    pub async fn pauses_for(&self, fault: impl Future<Output = ()>) {
        self.0.faults.fetch_add(1, Ordering::SeqCst);
        fault.await;
        self.0.faults.fetch_add(1, Ordering::SeqCst);
    }

    pub fn report(&self, timed: bool) {
        let mut times = self.0.times.lock().expect("whole").clone();
        times.sort();
        assert!(
            times.len() > 10,
            "only {} heartbeats were answered",
            times.len()
        );
        let at = |share: f64| times[(times.len() as f64 * share) as usize];
        let (median, p99) = (at(0.5), at(0.99));
        println!(
            "{} heartbeats: median {median:?}, 99 % within {p99:?}",
            times.len()
        );
        assert!(
            !timed || p99 <= BOUND,
            "99 % of the heartbeats took up to {p99:?}"
        );
    }
}

async fn beat(place: SceneHandle, seen: Arc<Seen>, run: String) {
    let api = place.api();
    let epoch = seen.epoch.lock().expect("whole").clone();
    let Some(epoch) = epoch else {
        let create = json!({"id": run, "agent": "pulse"});
        let lease = json!({"worker": run, "takeover": true, "ttl_ms": 600_000});
        if api.try_post("/v1/runs", &create).await.is_ok()
            && let Ok(answer) = api.try_post(&format!("/v1/runs/{run}/lease"), &lease).await
            && answer.status == 200
        {
            *seen.epoch.lock().expect("whole") = Some(answer.body()["epoch"].clone());
        }
        return;
    };
    let before = seen.faults.load(Ordering::SeqCst);
    let began = Instant::now();
    let answer = api
        .try_post(
            &format!("/v1/runs/{run}/heartbeat"),
            &json!({"epoch": epoch}),
        )
        .await;
    let took = began.elapsed();
    let calm = before.is_multiple_of(2) && seen.faults.load(Ordering::SeqCst) == before;
    match answer {
        Ok(answer) if answer.status == 200 && calm => {
            seen.times.lock().expect("whole").push(took);
        }
        Ok(answer) => assert!(
            matches!(answer.status, 200 | 503),
            "a heartbeat was refused: {answer:?}"
        ),
        // The server is on its way down or up.
        Err(_) => {}
    }
}
