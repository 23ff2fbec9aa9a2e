//! Operators' decisions, by the same write path as the pages'.

use axum::{Extension, Json, extract::State, http::HeaderMap};

use super::{caller, once};
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
    store::{Error, commands::Decision},
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
    let (kind, step) = (body.kind, body.step);
    let command = Decision::new(run.clone(), author.clone(), body);
    let command = once(command, &author, &headers, scope, hash)?;
    let decided = app.store.write(command).await.map_err(Error::problem);
    if let Err(problem) = &decided {
        let refused = app
            .store
            .refused_decision(&author, &run, kind, step, problem);
        refused.await;
    }
    Ok(Json(decided?))
}
