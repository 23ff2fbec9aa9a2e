//! What each route asks of its caller.

use axum::http::Method;

use crate::domain::Action;

pub enum Door {
    Open,
    Needs(Action),
    /// A page, or a form of one: who is not signed in is sent to the sign-in page.
    Page(Action),
}

/// The door of a route. `metrics` says whether `/metrics` is open to everybody.
pub fn door(method: &Method, path: &str, metrics: bool) -> Door {
    let read = matches!(*method, Method::GET | Method::HEAD);
    match path {
        "/metrics" if !metrics => Door::Needs(Action::Read),
        "/healthz" | "/readyz" | "/metrics" | "/v1/openapi.json" => Door::Open,
        "/signin" | "/signout" | "/favicon.svg" | "/favicon.ico" | "/robots.txt" => Door::Open,
        _ if path.starts_with("/pkg/") || path.starts_with("/fonts/") => Door::Open,
        _ if path.starts_with("/v1/") && read => Door::Needs(Action::Read),
        _ if path.starts_with("/v1/") && path.ends_with("/decisions") => {
            Door::Needs(Action::Decide)
        }
        _ if path.starts_with("/v1/") => Door::Needs(Action::Advance),
        "/live" | "/audit.jsonl" => Door::Needs(Action::Read),
        // Server functions authorise their own action on top of this.
        _ if path.starts_with("/api/") => Door::Needs(Action::Read),
        _ if read => Door::Page(Action::Read),
        "/settings" => Door::Page(Action::Administer),
        _ if path.starts_with("/runs/") => Door::Page(Action::Decide),
        _ => Door::Page(Action::Read),
    }
}
