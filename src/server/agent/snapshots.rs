//! States by number.

use axum::{Json, extract::State};

use crate::{
    domain::{Problem, wire::protocol::SnapshotAnswer},
    server::{App, body::NumberPath, problem::Refusal},
};

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
