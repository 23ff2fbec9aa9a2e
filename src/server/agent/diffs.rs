//! What changed between two states.

use axum::{Json, extract::State};

use crate::{
    domain::{Problem, views::diff_sheet::DiffQuery, wire::protocol::DiffAnswer},
    server::{
        App,
        body::{Query, RunPath},
        problem::Refusal,
    },
};

/// The changes from one state of a run to another, or to one of another run.
#[utoipa::path(get, path = "/v1/runs/{id}/diff", tag = "snapshots",
    params(("id" = String, Path), DiffQuery), responses(
    (status = 200, body = DiffAnswer),
    (status = 410, description = "pruned", body = Problem),
))]
pub async fn read(
    State(app): State<App>,
    RunPath(run): RunPath,
    Query(query): Query<DiffQuery>,
) -> Result<Json<DiffAnswer>, Refusal> {
    Ok(Json(app.store.compare(&run, &query).await?.answer()))
}
