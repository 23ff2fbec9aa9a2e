//! People at work beside it all: viewers who load pages and follow streams, operators who decide.

use reqwest::Method;
use serde_json::json;
use std::time::Duration;

use super::scene::{Scene, SceneHandle};
use crate::support::{Answer, Stream, unique};

const PAGES: [&str; 5] = ["/", "/inbox", "/workers", "/audit", "/settings"];

pub fn start(scene: &Scene) {
    for viewer in 0..4 {
        scene.repeat(Duration::from_millis(40), move |place| pages(place, viewer));
        scene.repeat(Duration::from_millis(200), follow);
    }
    scene.repeat(Duration::from_millis(100), decide);
}

/// A page is whole, or says that the store is away; never half, never a failure of the server's own.
async fn pages(place: SceneHandle, viewer: usize) {
    for path in PAGES.iter().cycle().skip(viewer).take(PAGES.len()) {
        let request = place.api().request(Method::GET, path);
        let request = request.header("accept", "text/html");
        let Ok(page) = Answer::try_to(request, format!("GET {path}")).await else {
            return;
        };
        assert!(
            matches!(page.status, 200 | 503),
            "{path}: {} {}",
            page.status,
            page.text
        );
        assert!(page.text.contains("<title>"), "{path}: {}", page.text);
    }
}

/// Follows events for a moment; a stream that breaks off is opened again.
async fn follow(place: SceneHandle) {
    let Ok(mut stream) = Stream::try_open(&place.api(), "?after=0", None).await else {
        return;
    };
    for _ in 0..50 {
        match stream.within(Duration::from_millis(500)).await {
            Some(Some(_)) => {}
            Some(None) | None => return,
        }
    }
}

/// A run whose payment is unknown, settled by an operator: each answer is one of the protocol's.
async fn decide(place: SceneHandle) {
    let (api, run) = (place.api(), unique("decided"));
    let path = |rest: &str| format!("/v1/runs/{run}/{rest}");
    let steps = [
        (
            "/v1/runs".to_owned(),
            json!({"id": run, "agent": "decided"}),
        ),
        (path("lease"), json!({"worker": run, "ttl_ms": 60_000})),
        (
            path("steps"),
            json!({"epoch": 1, "key": "pay", "name": "pay", "effect": {"target": "bank"}}),
        ),
        (path("release"), json!({"epoch": 1})),
        (
            path("decisions"),
            json!({"kind": "pause", "reason": "looking"}),
        ),
        (
            path("decisions"),
            json!({"kind": "note", "text": "asked the bank"}),
        ),
        (
            path("decisions"),
            json!({"kind": "cancel", "reason": "enough"}),
        ),
    ];
    for (path, body) in steps {
        match api.try_post(&path, &body).await {
            // The disk is full, or the server is on its way down or up: what follows would be asked of a run that may not be there.
            Ok(answer) if answer.status == 503 => return,
            Err(_) => return,
            Ok(answer) => assert!(
                answer.status < 300 || answer.status == 409,
                "{path}: {answer:?}"
            ),
        }
    }
}
