//! All routes and the layers around them.

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderName, HeaderValue, Method, header},
    middleware::{Next, from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
};
use futures::FutureExt as _;
use std::{panic::AssertUnwindSafe, sync::Arc, time::Instant};

use super::{
    App, agent, audit,
    auth::{self, Declared, Doors, Routes},
    bodies, body, broken, decide,
    failed::Telling,
    functions, health, host, live, pages,
    problem::Refusal,
    scope, settings, signin,
};
use crate::domain::{Action, Code, Problem, nouns::access::Door};

/// All routes, with what each asks of its caller. An error names one that declares nothing.
pub fn router(app: App) -> Result<Router, String> {
    let routes = pages::routes(&app)?.merge(own(app.metrics_public));
    let (router, declared) = routes.into_parts();
    let gate = auth::Gate {
        app: app.clone(),
        doors: Arc::new(Doors::new(declared)?),
    };
    Ok(router
        .fallback(fallback)
        .method_not_allowed_fallback(not_allowed)
        .layer(from_fn(scope::alone))
        .layer(from_fn(functions::refuse_with_status))
        .layer(from_fn_with_state(app.clone(), body::within_limit))
        .layer(from_fn_with_state(app.clone(), bodies::meter))
        .layer(from_fn_with_state(gate, auth::authorise))
        .layer(from_fn_with_state(app.clone(), host::only_ours))
        .layer(from_fn_with_state(app.clone(), guard))
        .with_state(app))
}

/// The listener for metrics alone; who reaches it may read them.
pub fn metrics(app: App) -> Router {
    let routes = Routes::default().get("/metrics", Door::Open, health::metrics);
    let (router, _) = routes.into_parts();
    router
        .fallback(async || Refusal(Problem::not_found("route")))
        .with_state(app)
}

/// What is not a page and not a server function.
fn own(metrics_public: bool) -> Routes {
    let (read, decide) = (Action::Read, Action::Decide);
    let metrics = match metrics_public {
        true => Door::Open,
        false => Door::Needs(read),
    };
    agent::routes()
        .get("/healthz", Door::Open, health::healthz)
        .get("/readyz", Door::Open, health::readyz)
        .get("/metrics", metrics, health::metrics)
        .get("/live", Door::Needs(read), live::follow)
        .get("/audit.jsonl", Door::Needs(read), audit::export)
        .post("/signin", Door::Open, signin::sign_in)
        .post("/signout", Door::Open, signin::sign_out)
        .post(
            "/settings",
            Door::Page(Action::Administer),
            settings::change,
        )
        .post("/runs/{id}/resume", Door::Page(decide), decide::resume)
        .post("/runs/{id}/edit", Door::Page(decide), decide::edit)
}

/// Every route and server function of a server with public metrics, as each declares itself.
pub fn declared() -> Result<Vec<(Method, String, Door)>, String> {
    let (_, mut all) = own(true).into_parts();
    all.extend(pages::listed()?.1);
    let parts = |Declared { method, path, door }| (method, path, door);
    Ok(all.into_iter().map(parts).collect())
}

/// A file of the site, an unknown `/v1` route, or the page that says so.
async fn fallback(State(app): State<App>, request: Request) -> Response {
    let path = request.uri().path();
    if path.starts_with("/v1/") {
        return Refusal(Problem::not_found("route")).into_response();
    }
    match app.site.respond(request.method(), path, request.headers()) {
        Some(file) => file,
        None => pages::not_found(app, request).await,
    }
}

async fn not_allowed() -> Response {
    let problem = Problem::new(
        Code::MethodNotAllowed,
        "this route does not take this method",
    );
    Refusal(problem).into_response()
}

/// Counts and times requests, tells the log of failures, answers people with pages, and sends the headers that every answer
/// carries.
async fn guard(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let began = Instant::now();
    let telling = Telling::of(&request);
    request.extensions_mut().insert(telling.clone());
    let path = request.uri().path();
    let agent = path.starts_with("/v1/");
    let public = auth::is_public(path);
    let page = broken::wants_page(path, request.headers());
    let answered = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    let mut response = answered.unwrap_or_else(|_| {
        tracing::error!("a request panicked");
        let detail = "the server failed; its log says why";
        Refusal(Problem::new(Code::Internal, detail)).into_response()
    });
    telling.answered(&response);
    if page && let Some(problem) = response.extensions().get::<Problem>() {
        response = broken::page(problem);
    }
    let side = if agent { "agent" } else { "browser" };
    let status = response.status().as_u16().to_string();
    metrics::counter!("step47_requests_total", "side" => side, "status" => status).increment(1);
    metrics::histogram!("step47_request_seconds", "side" => side)
        .record(began.elapsed().as_secs_f64());
    let fixed: [(HeaderName, &str); 3] = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ];
    let also = [
        // "Back" after signing out, or a shared computer's cache, must not show what runs hold.
        (!public).then_some((header::CACHE_CONTROL, "no-store")),
        app.tls
            .then_some((header::STRICT_TRANSPORT_SECURITY, "max-age=31536000")),
    ];
    for (name, value) in fixed.into_iter().chain(also.into_iter().flatten()) {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        server::{
            config::{Config, Given},
            start::assemble,
        },
        store::Store,
    };
    use std::collections::BTreeSet;
    use tokio_util::sync::CancellationToken;

    type Ways = BTreeSet<(String, String)>;

    /// Methods and paths as the router itself has them. axum tells them by its debug text alone: the methods of each route
    /// by its number, then the path of each number.
    fn routed(router: &Router) -> Ways {
        let text = format!("{router:?}");
        let (text, _) = text.split_once("fallback_router").unwrap();
        let (routes, paths) = text.split_once("node: Node").unwrap();
        let mut ways = Ways::new();
        for route in routes.split("RouteId(").skip(1) {
            let (number, rest) = route.split_once("): ").unwrap();
            let (_, path) = paths.split_once(&format!("RouteId({number}): \"")).unwrap();
            let (path, _) = path.split_once('"').unwrap();
            let (_, allow) = rest.split_once("allow_header: Bytes(b\"").unwrap();
            let (allow, _) = allow.split_once('"').unwrap();
            let methods = allow.split(',').filter(|it| *it != "HEAD");
            ways.extend(methods.map(|method| (method.to_owned(), path.to_owned())));
        }
        ways
    }

    #[tokio::test]
    async fn the_router_has_what_is_declared_and_nothing_else() {
        let store = Store::open("sqlite::memory:").await.unwrap();
        let config = Config::load(Given::default()).unwrap();
        let (app, _) = assemble(store, config, CancellationToken::new()).unwrap();
        let declared = declared().unwrap().into_iter();
        let declared: Ways = declared
            .map(|(method, path, _)| (method.to_string(), path))
            .collect();
        let routed = routed(&router(app).unwrap());
        assert_eq!(
            routed.difference(&declared).collect::<Vec<_>>(),
            Vec::<&_>::new()
        );
        assert_eq!(
            declared.difference(&routed).collect::<Vec<_>>(),
            Vec::<&_>::new()
        );
        assert!(routed.len() > 60, "{routed:?}");
    }
}
