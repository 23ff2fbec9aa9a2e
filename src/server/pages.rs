//! The pages: Leptos renders them with the store and the caller in their context.

use axum::{
    Router,
    extract::Request,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use leptos::{
    nonce::use_nonce,
    prelude::{IntoView, LeptosOptions, provide_context, use_context},
};
use leptos_axum::{LeptosRoutes, ResponseOptions, generate_route_list};

use super::{App, scope::Scope};
use crate::{
    api::access::{Outcome, Reached},
    app,
    domain::nouns::access::Principal,
};

pub fn routes(app: &App) -> Router<App> {
    let options = app.leptos.clone();
    let context = context(app.clone());
    Router::new().leptos_routes_with_context(
        app,
        generate_route_list(app::App),
        context,
        move || document(options.clone()),
    )
}

/// The page for an address that leads nowhere, with its status.
pub async fn not_found(app: App, request: Request) -> Response {
    let options = app.leptos.clone();
    let render =
        leptos_axum::render_app_async_with_context(context(app), move || document(options.clone()));
    let mut response = render(request).await.into_response();
    *response.status_mut() = axum::http::StatusCode::NOT_FOUND;
    response
}

/// The settings, after a form changed something.
pub async fn with_outcome(app: App, mut request: Request, outcome: Outcome) -> Response {
    let options = app.leptos.clone();
    let context = context(app);
    let context = move || {
        context();
        provide_context(outcome.clone());
    };
    let render =
        leptos_axum::render_app_async_with_context(context, move || document(options.clone()));
    let scope = Scope::default();
    request.extensions_mut().insert(scope.clone());
    scope.run(render(request)).await.into_response()
}

/// The document, with a policy that lets only our own scripts run.
fn document(options: LeptosOptions) -> impl IntoView {
    if let (Some(nonce), Some(response)) = (use_nonce(), use_context::<ResponseOptions>()) {
        let policy = format!(
            "default-src 'self'; script-src 'nonce-{nonce}' 'strict-dynamic' 'wasm-unsafe-eval'; \
             style-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; \
             form-action 'self'; frame-ancestors 'none'"
        );
        if let Ok(policy) = HeaderValue::try_from(policy) {
            response.insert_header(header::CONTENT_SECURITY_POLICY, policy);
        }
    }
    app::shell(options)
}

impl App {
    /// What links to this server are made of.
    pub fn reached(&self) -> Reached {
        Reached {
            public_url: self.public_url.clone(),
            tls: self.tls,
        }
    }
}

/// What pages and server functions find in their context.
fn context(app: App) -> impl Fn() + Clone + Send + Sync + 'static {
    move || {
        provide_context(app.store.clone());
        provide_context(app.reached());
        if app.site.is_missing() {
            provide_context(app::NoSite);
        }
        let parts = use_context::<http::request::Parts>();
        let extensions = parts.as_ref().map(|parts| &parts.extensions);
        let who = extensions.and_then(|it| it.get::<Option<Principal>>().cloned());
        provide_context(who.flatten());
        if let Some(scope) = extensions.and_then(|it| it.get::<Scope>()) {
            scope.enter();
        }
    }
}
