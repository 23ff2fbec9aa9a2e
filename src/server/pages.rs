//! The pages: Leptos renders them with the store and the caller in their context.

use axum::{
    Router,
    extract::Request,
    http::{HeaderValue, Method, header},
    response::{IntoResponse, Response},
};
use leptos::{
    nonce::use_nonce,
    prelude::{IntoView, LeptosOptions, provide_context, use_context},
};
use leptos_axum::{
    AxumRouteListing, LeptosRoutes, ResponseOptions,
    generate_route_list_with_exclusions_and_ssg_and_context,
};

use super::{
    App,
    auth::{Declared, Routes},
    scope::Scope,
};
use crate::{
    api::{
        access::{Outcome, Reached},
        doors::functions,
    },
    app,
    domain::nouns::access::Principal,
    pages::route::doors::PageDoors,
};

/// The pages and the server functions, with their doors.
pub fn routes(app: &App) -> Result<Routes, String> {
    let options = app.leptos.clone();
    let context = context(app.clone());
    let (listing, declared) = listed()?;
    let router = Router::new()
        .leptos_routes_with_context(app, listing, context, move || document(options.clone()));
    Ok(Routes::new(router, declared))
}

/// What Leptos routes, and the door of each. A page or a server function that declares none is an error.
pub fn listed() -> Result<(Vec<AxumRouteListing>, Vec<Declared>), String> {
    let doors = PageDoors::default();
    let gather = doors.clone();
    let (listing, _) =
        generate_route_list_with_exclusions_and_ssg_and_context(app::App, None, move || {
            provide_context(gather.clone());
        });
    let mut declared = Vec::new();
    for page in &listing {
        let path = page.path().to_owned();
        let door = doors.of(&path).ok_or_else(|| {
            format!("the page {path} does not declare who may see it: add it as a PageRoute")
        })?;
        let method = Method::GET;
        declared.push(Declared { method, path, door });
    }
    for (method, path, door) in functions()? {
        declared.push(Declared { method, path, door });
    }
    Ok((listing, declared))
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
        provide_context(app.reached());
        if app.site.is_missing() {
            provide_context(app::NoSite);
        }
        let parts = use_context::<http::request::Parts>();
        // A page is asked for by GET, a server function by POST: only the first makes several reads of one moment.
        let page = parts.as_ref().is_some_and(|it| it.method == Method::GET);
        provide_context(match page {
            true => app.store.for_page(),
            false => app.store.clone(),
        });
        let extensions = parts.as_ref().map(|parts| &parts.extensions);
        let who = extensions.and_then(|it| it.get::<Option<Principal>>().cloned());
        provide_context(who.flatten());
        if let Some(scope) = extensions.and_then(|it| it.get::<Scope>()) {
            scope.enter();
        }
    }
}
