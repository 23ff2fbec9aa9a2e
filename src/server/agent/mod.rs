//! The agent protocol `/v1`, one file per noun, with its OpenAPI description made from the code.

mod claims;
mod decisions;
mod diffs;
mod events;
mod plan;
mod runs;
mod snapshots;
mod steps;

use axum::{Json, Router, http::HeaderMap, routing::get};
use utoipa::{
    Modify, OpenApi,
    openapi::security::{Http, HttpAuthScheme, SecurityScheme},
};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{App, body::idempotency_key};
use crate::{
    domain::{Epoch, Hash, Problem, RunId, nouns::access::Principal},
    store::{
        Command, Error,
        commands::{Key, Once},
    },
};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Step47 agent protocol",
        description = "The durable checkpoint store for long, multi-step AI agents.",
    ),
    modifiers(&Bearer),
    security(("bearer" = [])),
    components(schemas(Problem)),
)]
struct Description;

struct Bearer;

impl Modify for Bearer {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let components = openapi.components.get_or_insert_default();
        components.add_security_scheme(
            "bearer",
            SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)),
        );
    }
}

fn routes() -> (Router<App>, utoipa::openapi::OpenApi) {
    OpenApiRouter::with_openapi(Description::openapi())
        .routes(routes!(runs::create, runs::list))
        .routes(routes!(runs::read))
        .routes(routes!(runs::lease))
        .routes(routes!(runs::heartbeat))
        .routes(routes!(runs::finish))
        .routes(routes!(runs::release))
        .routes(routes!(claims::claim))
        .routes(routes!(steps::begin, steps::list))
        .routes(routes!(steps::read))
        .routes(routes!(steps::commit))
        .routes(routes!(steps::fail))
        .routes(routes!(steps::progress))
        .routes(routes!(decisions::decide))
        .routes(routes!(plan::read))
        .routes(routes!(snapshots::read))
        .routes(routes!(diffs::read))
        .routes(routes!(events::follow))
        .split_for_parts()
}

/// The description that `/v1/openapi.json` serves.
pub fn openapi() -> utoipa::openapi::OpenApi {
    routes().1
}

pub fn router(_: &App) -> Router<App> {
    let (router, description) = routes();
    let description = Json(description);
    router.route(
        "/v1/openapi.json",
        get(move || async move { description.clone() }),
    )
}

/// A command that a repeat with the same `Idempotency-Key` does not run twice.
fn once<C>(
    command: C,
    who: &Principal,
    headers: &HeaderMap,
    scope: String,
    body: Hash,
) -> Result<Once<C>, Problem> {
    let key = key(who, headers, scope, body)?;
    Ok(Once { command, key })
}

/// What a repeat of this request is recognised by, if it carries an `Idempotency-Key`.
fn key(
    who: &Principal,
    headers: &HeaderMap,
    scope: String,
    body: Hash,
) -> Result<Option<Key>, Problem> {
    Ok(idempotency_key(headers)?.map(|key| Key {
        scope: format!("{} {scope}", who.name),
        key,
        body,
    }))
}

/// A write of the worker that holds, or believes to hold, this lease; a refusal is remembered for the workers' page.
async fn advance<C: Command>(
    app: &App,
    lease: (RunId, Epoch),
    what: String,
    command: C,
) -> Result<C::Answer, Error> {
    app.workers.write(&app.store, lease, what, command).await
}

/// Who is asking; the layer in front let only known callers pass.
fn caller(who: Option<Principal>) -> Result<Principal, Problem> {
    who.ok_or_else(|| Problem::new(crate::domain::Code::Unauthorized, "sign in or send a token"))
}
