//! The resume plan, for programs: every recorded step is a line.

use axum::{Json, extract::State};

use crate::{
    domain::rules::plan::Plan,
    server::{App, body::RunPath, problem::Refusal},
};

/// What will happen when a worker takes the run.
#[utoipa::path(get, path = "/v1/runs/{id}/plan", tag = "decisions", params(("id" = String, Path)), responses(
    (status = 200, body = Plan),
))]
pub async fn read(State(app): State<App>, RunPath(id): RunPath) -> Result<Json<Plan>, Refusal> {
    Ok(Json(app.store.plan_in_full(&id).await?))
}
