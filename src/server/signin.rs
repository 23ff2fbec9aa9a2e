//! Signing in by a one-time link, and out again.

use axum::{
    Form,
    extract::State,
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse, Redirect, Response},
};
use serde::Deserialize;

use super::{
    App,
    auth::{SESSION_COOKIE, session},
    problem::Refusal,
};

#[derive(Deserialize)]
pub struct Link {
    token: String,
    #[serde(default)]
    next: Option<String>,
}

/// Uses up the link and starts a session.
pub async fn sign_in(State(app): State<App>, Form(link): Form<Link>) -> Result<Response, Refusal> {
    let Some(secret) = app.store.sign_in(&link.token).await? else {
        return Ok(Redirect::to("/signin?error=used").into_response());
    };
    let cookie = cookie(&app, &secret, "2592000")?;
    Ok(with_cookie(
        Redirect::to(&inside(link.next.as_deref())),
        cookie,
    ))
}

pub async fn sign_out(State(app): State<App>, headers: HeaderMap) -> Result<Response, Refusal> {
    if let Some(secret) = session(&headers) {
        app.store.sign_out(secret).await?;
        app.access.forget(secret);
    }
    let cookie = cookie(&app, "", "0")?;
    Ok(with_cookie(Redirect::to("/signin"), cookie))
}

/// A path of this server, whatever the link said.
fn inside(next: Option<&str>) -> String {
    match next {
        Some(path) if path.starts_with('/') && !path.starts_with("//") && !path.contains('\\') => {
            path.into()
        }
        _ => "/".into(),
    }
}

fn cookie(app: &App, secret: &str, max_age: &str) -> Result<HeaderValue, Refusal> {
    let secure = if app.tls { "; Secure" } else { "" };
    let text = format!(
        "{SESSION_COOKIE}={secret}; Path=/; HttpOnly; SameSite=Lax; Max-Age={max_age}{secure}"
    );
    HeaderValue::try_from(text).map_err(|e| crate::store::Error::damaged(e).into())
}

fn with_cookie(redirect: Redirect, cookie: HeaderValue) -> Response {
    let mut response = redirect.into_response();
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    response
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_link_leads_nowhere_else() {
        let inside = super::inside;
        assert_eq!(inside(Some("/runs/a?x=1")), "/runs/a?x=1");
        assert_eq!(inside(Some("//evil.example")), "/");
        assert_eq!(inside(Some("https://evil.example")), "/");
        assert_eq!(inside(Some("/\\evil.example")), "/");
    }
}
