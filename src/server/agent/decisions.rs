//! Operators' decisions, by the same write path as the pages'.

use axum::{Extension, Json, extract::State, http::HeaderMap};

use super::{caller, once};
use crate::{
    domain::{
        Problem,
        access::Principal,
        protocol::{Decide, DecideAnswer},
    },
    server::{
        App,
        body::{RunPath, Strict},
        problem::Refusal,
    },
    store::commands::Decision,
};

/// Decides about a run or a step.
#[utoipa::path(post, path = "/v1/runs/{id}/decisions", tag = "decisions", params(("id" = String, Path)),
    request_body = Decide, responses(
    (status = 200, body = DecideAnswer),
    (status = 409, description = "version_conflict, decision_refused, plan_changed", body = Problem),
))]
pub async fn decide(
    State(app): State<App>,
    Extension(who): Extension<Option<Principal>>,
    RunPath(run): RunPath,
    headers: HeaderMap,
    Strict { body, hash }: Strict<Decide>,
) -> Result<Json<DecideAnswer>, Refusal> {
    let author = caller(who)?;
    let scope = format!("decide {run}");
    let command = Decision {
        run,
        author: author.clone(),
        body,
    };
    let command = once(command, &author, &headers, scope, hash)?;
    Ok(Json(app.store.write(command).await?))
}
