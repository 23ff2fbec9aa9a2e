//! An operator at work: loads the same pages, and settles runs that agents left with an unknown effect.

use serde_json::json;
use std::time::Duration;

use super::{
    cast::Part,
    scene::{Scene, SceneHandle},
    viewers::loads_pages,
};
use crate::support::unique;

pub fn start(scene: &Scene, run: &str) {
    let run = run.to_owned();
    scene.repeat(Duration::from_millis(100), move |place| {
        let run = run.clone();
        async move { loads_pages(&place, Part::Operator, &run, 0).await }
    });
    scene.repeat(Duration::from_millis(100), decide);
}

/// A run whose payment is unknown, settled by an operator: each answer is one of the protocol's.
async fn decide(place: SceneHandle) {
    let run = unique("decided");
    let path = |rest: &str| format!("/v1/runs/{run}/{rest}");
    let decision = |body| (Part::Operator, path("decisions"), body);
    let steps = [
        (
            Part::Agent,
            "/v1/runs".to_owned(),
            json!({"id": run, "agent": "decided"}),
        ),
        (
            Part::Agent,
            path("lease"),
            json!({"worker": run, "ttl_ms": 60_000}),
        ),
        (
            Part::Agent,
            path("steps"),
            json!({"epoch": 1, "key": "pay", "name": "pay", "effect": {"target": "bank"}}),
        ),
        (Part::Agent, path("release"), json!({"epoch": 1})),
        decision(json!({"kind": "pause", "reason": "looking"})),
        decision(json!({"kind": "note", "text": "asked the bank"})),
        decision(json!({"kind": "cancel", "reason": "enough"})),
    ];
    for (part, path, body) in steps {
        match place.api(part).try_post(&path, &body).await {
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
