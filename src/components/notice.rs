//! Empty, broken and forbidden states: each says what it is and what to do next.

use leptos::prelude::*;

use super::glyph::{Glyph, Shape};
use crate::{
    api::{AppError, error::UNREACHABLE},
    domain::Code,
};

/// A state with nothing else to show. `children` is what to do next.
#[component]
pub fn Notice(#[prop(into)] title: String, children: Children) -> impl IntoView {
    view! {
        <section class="notice">
            <h2>{title}</h2>
            <div class="notice-body">{children()}</div>
        </section>
    }
    .into_any()
}

/// Sets the response's status when the page is rendered on the server, and tells the log of a failure. While the store is
/// away the page loads again in 5 s.
fn say_refused(error: &AppError) {
    #[cfg(feature = "ssr")]
    if let Some(response) = use_context::<leptos_axum::ResponseOptions>() {
        let status = http::StatusCode::from_u16(error.0.code.status());
        response.set_status(status.unwrap_or(http::StatusCode::INTERNAL_SERVER_ERROR));
        if error.is(Code::Busy) {
            let again = http::HeaderValue::from_static("5");
            response.insert_header(http::header::REFRESH, again);
        }
        let request = use_context::<http::request::Parts>();
        let telling = request.as_ref().map(|it| &it.extensions);
        if let Some(telling) = telling.and_then(|it| it.get::<crate::server::failed::Telling>()) {
            telling.page_shows(&error.0);
        }
    }
    #[cfg(not(feature = "ssr"))]
    let _ = error;
}

/// What to look at instead of a damaged state.
fn last_good(error: &AppError) -> AnyView {
    let field = |name: &str| error.0.fields.get(name);
    let good = field("last_good").and_then(serde_json::Value::as_i64);
    let run = field("run").and_then(serde_json::Value::as_str);
    match (run, good) {
        (Some(run), Some(good)) => {
            let href = format!("/runs/{run}/diff?from={}&to={good}", (good - 1).max(0));
            let text = format!("Show snapshot {good}, the last good one");
            view! { <a class="button" href=href>{text}</a> }.into_any()
        }
        _ => view! { <p>"It is not shown: what is left of it cannot be relied on."</p> }.into_any(),
    }
}

/// What stands where data could not be read.
#[component]
pub fn Refused(error: AppError) -> impl IntoView {
    say_refused(&error);
    let title = match error.0.code {
        Code::Unauthorized => "You are signed out",
        Code::Forbidden => "You do not have access to this. Ask an admin.",
        Code::NotFound => "This does not exist",
        Code::Busy if error.0.detail == UNREACHABLE => "The server cannot be reached",
        Code::Busy => "The store cannot be reached",
        Code::Invalid | Code::Malformed => "This address is not valid",
        Code::Corrupt => "This is damaged in the store",
        _ => "This could not be read",
    };
    let next = match error.0.code {
        Code::Unauthorized => {
            view! { <a class="button" href="/signin" rel="external">"Sign in"</a> }.into_any()
        }
        Code::Invalid | Code::Malformed | Code::NotFound => {
            view! { <a class="button" href="/">"Show all runs"</a> }.into_any()
        }
        Code::Corrupt => last_good(&error),
        _ => view! { <a class="button" href="" rel="external">"Try again"</a> }.into_any(),
    };
    let damaged = error.is(Code::Corrupt);
    view! {
        <Notice title>
            {damaged.then(|| view! { <p class="tone-failed damaged-mark"><Glyph shape=Shape::Damaged/></p> })}
            <p>{error.0.detail}</p>
            <p>{next}</p>
        </Notice>
    }
    .into_any()
}
