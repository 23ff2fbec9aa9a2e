//! The pages: Leptos renders them with the store and the caller in their context.

use axum::{
    Router,
    extract::Request,
    response::{IntoResponse, Response},
};
use leptos::prelude::{provide_context, use_context};
use leptos_axum::{LeptosRoutes, generate_route_list};

use super::App;
use crate::{app, domain::access::Principal};

pub fn routes(app: &App) -> Router<App> {
    let options = app.leptos.clone();
    let context = context(app.clone());
    Router::new().leptos_routes_with_context(
        app,
        generate_route_list(app::App),
        context,
        move || app::shell(options.clone()),
    )
}

/// The page for an address that leads nowhere, with its status.
pub async fn not_found(app: App, request: Request) -> Response {
    let options = app.leptos.clone();
    let render = leptos_axum::render_app_async_with_context(context(app), move || {
        app::shell(options.clone())
    });
    let mut response = render(request).await.into_response();
    *response.status_mut() = axum::http::StatusCode::NOT_FOUND;
    response
}

/// What pages and server functions find in their context.
fn context(app: App) -> impl Fn() + Clone + Send + Sync + 'static {
    move || {
        provide_context(app.store.clone());
        let who = use_context::<http::request::Parts>()
            .and_then(|parts| parts.extensions.get::<Option<Principal>>().cloned())
            .flatten();
        provide_context(who);
    }
}
