//! The page that stands where a page could not be made: the store is away, a change was refused, rendering failed.
//! It needs neither the store nor WASM, and asks again by itself where that may help.

use axum::{
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{Html, IntoResponse, Response},
};
use leptos::nonce::Nonce;

use crate::{
    components::theme,
    domain::{Code, Problem},
};

/// Seconds until the page asks again.
const AGAIN: &str = "5";

/// People get a page, programs the problem itself.
pub fn wants_page(path: &str, headers: &HeaderMap) -> bool {
    let machine = path.starts_with("/v1/") || path.starts_with("/api/");
    let accept = headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok());
    !machine && accept.is_some_and(|accept| accept.contains("text/html"))
}

pub fn page(problem: &Problem) -> Response {
    let (title, next) = match problem.code {
        Code::Busy if problem.fields.get("reason").is_some_and(|it| it != "away") => (
            "Nothing can be saved now",
            "Nothing is lost: everything that was acknowledged is stored. This page tries again by itself.",
        ),
        Code::Busy => (
            "The store cannot be reached",
            "Nothing is lost: everything that was acknowledged is stored. This page tries again by itself.",
        ),
        Code::Forbidden => (
            "You may not do this",
            "Ask an admin, or go back to the runs.",
        ),
        Code::Internal | Code::Corrupt => (
            "This page could not be made",
            "The server's log says why. This page tries again by itself.",
        ),
        _ => (
            "This was refused",
            "Nothing was changed. Go back and try it another way.",
        ),
    };
    let again = matches!(problem.code, Code::Busy | Code::Internal | Code::Corrupt);
    let refresh = match again {
        true => format!(r#"<meta http-equiv="refresh" content="{AGAIN}">"#),
        false => String::new(),
    };
    let nonce = Nonce::new();
    let html = format!(
        r##"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">{refresh}
<script nonce="{nonce}">{before_paint}</script>
<link rel="icon" href="/favicon.svg" type="image/svg+xml"><link rel="stylesheet" href="/pkg/step47.css">
<title>{title} · Step47</title>
</head>
<body>
<header class="topbar"><a class="brand" href="/" aria-label="Step47, all runs">step<b>47</b></a></header>
<main id="main" class="main"><section class="notice"><h1>{title}</h1><div class="notice-body">
<p>{detail}</p><p>{next}</p><p><a class="button" href="/">Show all runs</a></p>
</div></section></main>
</body>
</html>
"##,
        before_paint = theme::BEFORE_PAINT,
        detail = escaped(&problem.detail),
    );
    let status =
        StatusCode::from_u16(problem.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, Html(html)).into_response();
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'self'; img-src 'self' data:; \
         font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    );
    if let Ok(policy) = HeaderValue::try_from(policy) {
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_get_a_page_and_programs_the_problem() {
        let accept =
            |value| HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static(value))]);
        let browser = accept("text/html,application/xhtml+xml,*/*;q=0.8");
        assert!(wants_page("/runs/a", &browser));
        assert!(!wants_page("/v1/runs", &browser));
        assert!(!wants_page("/api/runs/list", &browser));
        assert!(!wants_page("/", &accept("*/*")));
        assert_eq!(escaped("<b>&"), "&lt;b&gt;&amp;");
    }
}
