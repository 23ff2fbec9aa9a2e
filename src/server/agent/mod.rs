//! The agent protocol `/v1`, one file per noun, with its OpenAPI description made from the code.

mod claims;
mod decisions;
mod diffs;
mod events;
mod openapi;
mod plan;
mod runs;
mod snapshots;
mod steps;
mod tags;

use axum::{
    Json,
    http::{HeaderMap, Method},
};
use utoipa::{
    Modify, OpenApi,
    openapi::security::{Http, HttpAuthScheme, SecurityScheme},
};
use utoipa_axum::{
    router::{OpenApiRouter, UtoipaMethodRouter},
    routes,
};

use super::{
    App,
    auth::{Declared, Routes},
    body::idempotency_key,
};
use crate::{
    domain::{
        Action, Epoch, Hash, Problem, RunId,
        nouns::access::{Door, Principal},
    },
    store::{
        Command, Error,
        commands::{Key, Once, Repeatable},
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

/// The protocol as it grows: routes, their description, and what each asks of its caller.
struct Protocol {
    router: OpenApiRouter<App>,
    declared: Vec<Declared>,
}

impl Protocol {
    /// Adds what `routes!` made, behind this door.
    fn add(mut self, action: Action, routes: UtoipaMethodRouter<App>) -> Self {
        for (path, item) in &routes.1.paths {
            let methods = [
                (&item.get, Method::GET),
                (&item.post, Method::POST),
                (&item.put, Method::PUT),
                (&item.patch, Method::PATCH),
                (&item.delete, Method::DELETE),
            ];
            for (_, method) in methods.into_iter().filter(|(taken, _)| taken.is_some()) {
                self.declared.push(Declared {
                    method,
                    path: path.clone(),
                    door: Door::Needs(action),
                });
            }
        }
        self.router = self.router.routes(routes);
        self
    }
}

fn protocol() -> Protocol {
    use Action::{Advance, Decide, Read};
    Protocol {
        router: OpenApiRouter::with_openapi(Description::openapi()),
        declared: Vec::new(),
    }
    .add(Advance, routes!(runs::create))
    .add(Read, routes!(runs::list))
    .add(Read, routes!(runs::read))
    .add(Advance, routes!(runs::lease))
    .add(Advance, routes!(runs::heartbeat))
    .add(Advance, routes!(runs::finish))
    .add(Advance, routes!(runs::release))
    .add(Advance, routes!(claims::claim))
    .add(Advance, routes!(steps::begin))
    .add(Read, routes!(steps::list))
    .add(Read, routes!(steps::read))
    .add(Advance, routes!(steps::commit))
    .add(Advance, routes!(steps::fail))
    .add(Advance, routes!(steps::progress))
    .add(Decide, routes!(decisions::decide))
    .add(Read, routes!(plan::read))
    .add(Advance, routes!(snapshots::save))
    .add(Read, routes!(snapshots::read))
    .add(Read, routes!(tags::list))
    .add(Read, routes!(diffs::read))
    .add(Read, routes!(events::follow))
}

/// The description that `/v1/openapi.json` serves.
fn described(description: utoipa::openapi::OpenApi) -> serde_json::Value {
    openapi::complete(serde_json::json!(description))
}

/// The routes of the protocol, and its description, which everybody may read.
pub fn routes() -> Routes {
    let Protocol { router, declared } = protocol();
    let (router, description) = router.split_for_parts();
    let description = Json(described(description));
    let describe = move || async move { description.clone() };
    Routes::new(router, declared).get("/v1/openapi.json", Door::Open, describe)
}

/// A command that a repeat with the same `Idempotency-Key` does not run twice.
fn once<C: Repeatable>(
    command: C,
    who: &Principal,
    headers: &HeaderMap,
    scope: String,
    body: Hash,
) -> Result<Once<C>, Problem> {
    let key = key(who, headers, scope, body)?;
    Ok(Once::new(command, key))
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
