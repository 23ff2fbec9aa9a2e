//! Viewers: they load pages, follow streams, and try what they may not.

use reqwest::Method;
use serde_json::json;
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use super::{
    cast::Part,
    scene::{Scene, SceneHandle},
};
use crate::support::{Answer, Api, Stream, eventually, unique};

const PAGES: [&str; 7] = [
    "/",
    "/?status=crashed",
    "/?view=needs",
    "/inbox",
    "/workers",
    "/audit",
    "/settings",
];
/// Below `/runs/ID`.
const RUN_PAGES: [&str; 5] = ["", "?ask=resume", "/diff", "/resume", "/edit"];

/// Of a path that is refused: as long as a head may be, and written down in short.
const LONG_PATH: usize = 60_000;
/// Routes on which a viewer is refused here; each is counted for itself.
const ROUTES: usize = 4;
/// What one entry of the trail may take.
const ENTRY_MAX: usize = 4_096;

pub struct Viewers {
    began: Instant,
    refused: Arc<AtomicUsize>,
}

/// A run that stopped with an unknown effect; its id stands on each of its pages.
pub async fn stopped_run(api: &Api) -> String {
    let id = unique("shown");
    let run = json!({"id": id, "title": id, "agent": "shown", "state": {"n": 0}});
    let agent = api.agent(run).await;
    agent.does("one", json!({"state": {"n": 1}})).await;
    let effect = json!({"effect": {"target": "bank"}});
    agent.executes("pay", effect).await;
    agent.release(json!({})).await.is(200);
    id
}

impl Viewers {
    pub fn start(scene: &Scene, run: &str) -> Self {
        for viewer in 0..4 {
            let run = run.to_owned();
            scene.repeat(Duration::from_millis(40), move |place| {
                let run = run.clone();
                async move { loads_pages(&place, Part::Viewer, &run, viewer).await }
            });
            scene.repeat(Duration::from_millis(200), follow);
        }
        let refused = Arc::<AtomicUsize>::default();
        let seen = refused.clone();
        scene.repeat(Duration::from_millis(200), move |place| {
            tries(place, seen.clone())
        });
        Self {
            began: Instant::now(),
            refused,
        }
    }

    /// What they were refused is in the audit trail, counted and not repeated: two entries a minute for each route, and
    /// two more for each process that a server was.
    pub async fn left_a_short_trail(&self, api: &Api, processes: usize) {
        let refused = eventually("a viewer is refused", async || {
            Some(self.refused.load(Ordering::SeqCst)).filter(|it| *it > 0)
        })
        .await;
        let minutes = self.began.elapsed().as_secs() / 60 + 1;
        let most = 2 * ROUTES * (processes + minutes as usize);
        let path = format!(
            "/audit.jsonl?actor={}&action=forbidden",
            Part::Viewer.name()
        );
        let trail = api.patient().get(&path).await;
        assert_eq!(trail.status, 200, "{trail:?}");
        let entries: Vec<_> = trail.text.lines().collect();
        println!(
            "{refused} posts of viewers refused, {} entries about them",
            entries.len()
        );
        assert!(
            (1..=most).contains(&entries.len()),
            "{} entries about {refused} refusals, at most {most} expected",
            entries.len()
        );
        let longest = entries.iter().map(|it| it.len()).max().unwrap_or_default();
        assert!(longest <= ENTRY_MAX, "an entry of {longest} bytes");
    }
}

/// All pages, each reader beginning with another one. A page is whole, or says that the store is away; never half,
/// never a failure of the server's own.
pub async fn loads_pages(place: &SceneHandle, part: Part, run: &str, first: usize) {
    let lists = PAGES.iter().map(|path| ((*path).to_owned(), None));
    let about = RUN_PAGES
        .iter()
        .map(|rest| (format!("/runs/{run}{rest}"), Some(run)));
    let pages: Vec<_> = lists.chain(about).collect();
    for n in 0..pages.len() {
        let (path, about) = &pages[(first * 3 + n) % pages.len()];
        let request = place.api(part).request(Method::GET, path);
        let request = request.header("accept", "text/html");
        let Ok(page) = Answer::try_to(request, format!("GET {path}")).await else {
            return;
        };
        let told = || format!("{path}: {} {}", page.status, page.text);
        assert!(matches!(page.status, 200 | 503), "{}", told());
        assert!(page.text.contains("<title>"), "{}", told());
        assert!(page.text.contains("</html>"), "cut off: {}", told());
        if let (200, Some(run)) = (page.status, about) {
            assert!(
                page.text.contains(run),
                "its own run is missing: {}",
                told()
            );
        }
    }
}

/// Follows events, or what a page follows, for a moment; a stream that breaks off is opened again.
async fn follow(place: SceneHandle) {
    let api = place.api(Part::Viewer);
    for opened in [
        Stream::try_open(&api, "?after=0", None).await,
        Stream::try_live(&api, "").await,
    ] {
        let mut stream = match opened {
            Ok(stream) => stream,
            Err(why) => {
                assert!(!why.starts_with("500"), "a stream: {why}");
                continue;
            }
        };
        for _ in 0..25 {
            match stream.within(Duration::from_millis(500)).await {
                Some(Some(_)) => {}
                Some(None) | None => break,
            }
        }
    }
}

/// What a viewer may not do, once each.
async fn tries(place: SceneHandle, refused: Arc<AtomicUsize>) {
    let long = format!("/v1/runs/{}/decisions", "x".repeat(LONG_PATH));
    let routes: [(&str, &str, &str); ROUTES] = [
        (long.as_str(), "application/json", r#"{"kind": "pause"}"#),
        ("/v1/runs", "application/json", r#"{"agent": "intruder"}"#),
        (
            "/settings",
            "application/x-www-form-urlencoded",
            "change=new_link&name=admin",
        ),
        (
            "/runs/a/edit",
            "application/x-www-form-urlencoded",
            "version=1&path=&state=1&reason=why",
        ),
    ];
    for (path, kind, body) in routes {
        let request = place.api(Part::Viewer).request(Method::POST, path);
        let request = request.header("content-type", kind).body(body.to_owned());
        let what = format!("POST {}", &path[..path.len().min(40)]);
        let Ok(answer) = Answer::try_to(request, what).await else {
            return;
        };
        assert!(matches!(answer.status, 403 | 503), "{answer:?}");
        if answer.status == 403 {
            refused.fetch_add(1, Ordering::SeqCst);
        }
    }
}
