//! Tags: what programs call their snapshots.

use axum::{Json, extract::State};

use crate::{
    domain::{
        Problem,
        wire::protocol::{Check as _, TagPage, TagQuery},
    },
    server::{App, body::Query, problem::Refusal},
};

/// Tags, newest first; those of rewound snapshots are hidden.
#[utoipa::path(get, path = "/v1/tags", tag = "tags", params(TagQuery), responses(
    (status = 200, body = TagPage),
    (status = 404, description = "not_found", body = Problem),
))]
pub async fn list(
    State(app): State<App>,
    Query(query): Query<TagQuery>,
) -> Result<Json<TagPage>, Refusal> {
    query.check()?;
    Ok(Json(app.store.tags(&query).await?))
}
