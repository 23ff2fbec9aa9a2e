//! Operators' decisions, by the same write path as the pages'.

use axum::{Extension, Json, extract::State, http::HeaderMap};

use super::{caller, key};
use crate::{
    domain::{
        Problem,
        nouns::access::Principal,
        wire::protocol::{Decide, DecideAnswer},
    },
    server::{
        App,
        body::{RunPath, Strict},
        problem::Refusal,
    },
};

/// Decides about a run or a step.
#[utoipa::path(post, path = "/v1/runs/{id}/decisions", tag = "decisions", params(("id" = String, Path)),
    request_body = Decide, responses(
    (status = 200, body = DecideAnswer),
    (status = 409, description = "version_conflict, decision_refused, plan_changed, run_conflict", body = Problem),
    (status = 422, description = "patch_failed", body = Problem),
))]
pub async fn decide(
    State(app): State<App>,
    Extension(who): Extension<Option<Principal>>,
    RunPath(run): RunPath,
    headers: HeaderMap,
    Strict { body, hash }: Strict<Decide>,
) -> Result<Json<DecideAnswer>, Refusal> {
    let author = caller(who)?;
    let key = key(&author, &headers, format!("decide {run}"), hash)?;
    Ok(Json(app.store.decide_once(run, author, body, key).await?))
}
