//! All routes and the layers around them.

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderName, HeaderValue, header},
    middleware::{Next, from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use futures::FutureExt as _;
use std::{panic::AssertUnwindSafe, time::Instant};

use super::{
    App, agent, audit, auth, bodies, body, broken, decide, functions, health, host, live, pages,
    problem::Refusal, scope, settings, signin,
};
use crate::domain::{Code, Problem};

pub fn router(app: App) -> Router {
    let agent = agent::router(&app);
    pages::routes(&app)
        .merge(agent)
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/metrics", get(health::metrics))
        .route("/live", get(live::follow))
        .route("/signin", post(signin::sign_in))
        .route("/settings", post(settings::change))
        .route("/runs/{id}/resume", post(decide::resume))
        .route("/runs/{id}/edit", post(decide::edit))
        .route("/audit.jsonl", get(audit::export))
        .route("/signout", post(signin::sign_out))
        .fallback(fallback)
        .method_not_allowed_fallback(not_allowed)
        .layer(from_fn(scope::alone))
        .layer(from_fn(functions::refuse_with_status))
        .layer(from_fn_with_state(app.clone(), body::within_limit))
        .layer(from_fn_with_state(app.clone(), bodies::meter))
        .layer(from_fn_with_state(app.clone(), auth::authorise))
        .layer(from_fn_with_state(app.clone(), host::only_ours))
        .layer(from_fn_with_state(app.clone(), guard))
        .with_state(app)
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

/// Counts and times requests, answers people with pages, and sends the headers that every answer carries.
async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let path = request.uri().path();
    let agent = path.starts_with("/v1/");
    let public = is_public(path);
    let page = broken::wants_page(path, request.headers());
    let answered = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    let mut response = answered.unwrap_or_else(|_| {
        tracing::error!("a request panicked");
        let detail = "the server failed; its log says why";
        Refusal(Problem::new(Code::Internal, detail)).into_response()
    });
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

/// A file that is the same for everybody; browsers may keep it.
fn is_public(path: &str) -> bool {
    let below = ["/pkg/", "/fonts/"].iter().any(|it| path.starts_with(it));
    below || matches!(path, "/favicon.svg" | "/favicon.ico" | "/robots.txt")
}
