//! One worker that does nothing but heartbeats, and how long each took while nothing was broken on purpose.

use serde_json::json;
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use super::{
    careless::Careless,
    cast::Part,
    scene::{Scene, SceneHandle},
};
use crate::support::unique;

/// What a heartbeat may take at worst (99th percentile) beside the largest allowed requests.
const BOUND: Duration = Duration::from_millis(200);

#[derive(Default)]
struct Seen {
    epoch: Mutex<Option<serde_json::Value>>,
    /// How long each took, and whether one of the largest requests was under way.
    times: Mutex<Vec<(Duration, bool)>>,
    /// Heard "busy" though nothing was broken.
    put_off: AtomicUsize,
}

pub struct Pulse(Arc<Seen>);

impl Pulse {
    pub fn start(scene: &Scene, careless: Arc<Careless>) -> Self {
        let seen = Arc::<Seen>::default();
        let run = unique("pulse");
        let shared = seen.clone();
        scene.repeat(Duration::from_millis(50), move |place| {
            beat(place, shared.clone(), careless.clone(), run.clone())
        });
        Self(seen)
    }

    pub fn report(&self, timed: bool) {
        let times = self.0.times.lock().expect("whole").clone();
        let beside = times.iter().filter(|(_, beside)| *beside);
        let beside: Vec<_> = beside.map(|(took, _)| *took).collect();
        let all: Vec<_> = times.into_iter().map(|(took, _)| took).collect();
        let answered = all.len();
        assert!(answered > 10, "only {answered} heartbeats were answered");
        assert!(
            !timed || beside.len() > 100,
            "only {} heartbeats beside the largest requests",
            beside.len()
        );
        let kinds = [("in all", all), ("beside the largest requests", beside)];
        let slow: Vec<_> = kinds
            .into_iter()
            .filter_map(|(what, times)| beyond_bound(what, times))
            .collect();
        let put_off = self.0.put_off.load(Ordering::SeqCst);
        println!("{put_off} heartbeats were put off");
        // What others take must not be missing here: a worker that is put off for long loses its lease.
        assert!(
            !timed || put_off * 100 <= answered,
            "{put_off} of {answered} heartbeats were put off"
        );
        assert!(!timed || slow.is_empty(), "99 % of the heartbeats {slow:?}");
    }
}

/// Says how long they took, and answers what took longer than it may.
fn beyond_bound(what: &str, mut times: Vec<Duration>) -> Option<String> {
    times.sort();
    let at = |share: f64| times.get((times.len() as f64 * share) as usize).copied();
    let (median, p99) = (at(0.5)?, at(0.99)?);
    println!(
        "{} heartbeats {what}: median {median:?}, 99 % within {p99:?}",
        times.len()
    );
    (p99 > BOUND).then(|| format!("{what} took up to {p99:?}"))
}

async fn beat(place: SceneHandle, seen: Arc<Seen>, careless: Arc<Careless>, run: String) {
    let api = place.api(Part::Agent);
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
    let (before, beside) = (place.calm(), careless.is_under_way());
    let began = Instant::now();
    let path = format!("/v1/runs/{run}/heartbeat");
    let answer = api.try_post(&path, &json!({"epoch": epoch})).await;
    let took = began.elapsed();
    let beside = beside || careless.is_under_way();
    let calm = before.is_some() && place.calm() == before;
    match answer {
        Ok(answer) if answer.status == 200 && calm => {
            seen.times.lock().expect("whole").push((took, beside));
        }
        Ok(answer) if answer.status == 503 && calm => {
            seen.put_off.fetch_add(1, Ordering::SeqCst);
        }
        Ok(answer) => assert!(
            matches!(answer.status, 200 | 503),
            "a heartbeat was refused: {answer:?}"
        ),
        // The server is on its way down or up.
        Err(_) => {}
    }
}
