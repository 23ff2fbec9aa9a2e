//! States: saved between steps, and read by number.

use axum::{Extension, Json, extract::State, http::HeaderMap};

use super::{advance, caller, once};
use crate::{
    domain::{
        Problem,
        nouns::access::Principal,
        wire::protocol::{SaveAnswer, SaveState, SnapshotAnswer},
    },
    server::{
        App,
        body::{NumberPath, RunPath, Strict},
        problem::Refusal,
    },
    store::commands::Save,
};

/// Saves a checkpoint between steps.
#[utoipa::path(post, path = "/v1/runs/{id}/snapshots", tag = "snapshots", params(("id" = String, Path)),
    request_body = SaveState, responses(
    (status = 200, body = SaveAnswer),
    (status = 409, description = "lease_lost, state_conflict, tag_conflict", body = Problem),
    (status = 422, description = "patch_failed", body = Problem),
))]
pub async fn save(
    State(app): State<App>,
    Extension(who): Extension<Option<Principal>>,
    RunPath(run): RunPath,
    headers: HeaderMap,
    Strict { body, hash }: Strict<SaveState>,
) -> Result<Json<SaveAnswer>, Refusal> {
    let lease = (run.clone(), body.epoch);
    let scope = format!("snapshot {run}");
    let save = once(Save::new(run, body), &caller(who)?, &headers, scope, hash)?;
    Ok(Json(advance(&app, lease, "checkpoint".into(), save).await?))
}

/// A run's state after snapshot `n`.
#[utoipa::path(get, path = "/v1/runs/{id}/snapshots/{n}", tag = "snapshots",
    params(("id" = String, Path), ("n" = i64, Path)), responses(
    (status = 200, body = SnapshotAnswer),
    (status = 410, description = "pruned", body = Problem),
))]
pub async fn read(
    State(app): State<App>,
    NumberPath(run, n): NumberPath,
) -> Result<Json<SnapshotAnswer>, Refusal> {
    Ok(Json(app.store.snapshot(&run, n).await?))
}
