//! Signing in by a one-time link, and out again.

use axum::{
    Extension, Form,
    extract::{Request, State},
    http::{Extensions, HeaderValue, header},
    response::{IntoResponse, Redirect, Response},
};
use serde::Deserialize;
use serde_json::json;

use super::{App, peer::Peer, problem::Refusal};
use crate::{
    domain::nouns::{
        access::{Caller, Principal},
        audit::{AuditEntry, AuditKind},
    },
    store::{access::Credential, audit},
};

#[derive(Deserialize)]
pub struct Link {
    token: String,
    #[serde(default)]
    next: Option<String>,
}

/// Uses up the link and starts a session.
pub async fn sign_in(
    State(app): State<App>,
    extensions: Extensions,
    Form(link): Form<Link>,
) -> Result<Response, Refusal> {
    let sender = extensions.get::<Peer>().copied();
    let peer = sender.map(|it| it.0);
    let Some(secret) = app.store.sign_in(&link.token, peer).await? else {
        let from = peer.map(|it| it.to_string()).unwrap_or_default();
        let entry = AuditEntry {
            detail: json!({"detail": "the link was used already, is too old, or is not complete", "peer": peer}),
            ..audit::entry(AuditKind::Refused, "unknown", "sign_in")
        };
        app.store.noted_or_counted(&from, entry).await;
        // Whoever guesses links is slowed like whoever guesses tokens; a right link got past this.
        app.wrong_tokens.noted(sender).await?;
        return Ok(Redirect::to("/signin?error=used").into_response());
    };
    let cookie = cookie(&app, &secret, "2592000")?;
    Ok(with_cookie(
        Redirect::to(&inside(link.next.as_deref())),
        cookie,
    ))
}

/// Ends this session, or with `everywhere` in the form all of the person's.
pub async fn sign_out(
    State(app): State<App>,
    Extension(who): Extension<Option<Principal>>,
    request: Request,
) -> Result<Response, Refusal> {
    let session = request.extensions().get::<Credential>().copied();
    let session = session.filter(|it| it.kind == Caller::Person);
    if let (Some(who), Some(session)) = (who, session) {
        match request.uri().query() {
            Some("everywhere") => app.store.sign_out_everywhere(who).await?,
            _ => app.store.sign_out(&who, session).await?,
        }
        app.access.forget();
    }
    let cookie = cookie(&app, "", "0")?;
    Ok(with_cookie(Redirect::to("/signin"), cookie))
}

/// A path of this server, whatever the link said. Browsers drop tabs and line breaks, and take `\` for `/`: what
/// might read as another host to any of them leads to the runs.
fn inside(next: Option<&str>) -> String {
    let home = "/".to_owned();
    let Some(path) = next else { return home };
    let plain = path.bytes().all(|byte| byte.is_ascii_graphic());
    let lower = path.to_ascii_lowercase();
    // A browser or proxy may decode `%2f` and `%5c` once more: the decoded path must be ours, too.
    let read = lower.replace("%2f", "/").replace("%5c", "\\");
    let own = read.starts_with('/') && !read.starts_with("//") && path.starts_with('/');
    match plain && own && !read.contains('\\') {
        true => path.to_owned(),
        false => home,
    }
}

fn cookie(app: &App, secret: &str, max_age: &str) -> Result<HeaderValue, Refusal> {
    let secure = if app.tls { "; Secure" } else { "" };
    let name = app.access.cookie();
    let text =
        format!("{name}={secret}; Path=/; HttpOnly; SameSite=Lax; Max-Age={max_age}{secure}");
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
        for own in ["/runs/a?x=1", "/", "/runs?q=a%2Fb", "/runs/a?x=1#top"] {
            assert_eq!(super::inside(Some(own)), own);
        }
        let elsewhere = [
            "//evil.example",
            "https://evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "/%2fevil.example",
            "%2f%2fevil.example",
            "/%5Cevil.example",
            "/\t/evil.example",
            "/\n/evil.example",
            "/a\r\nset-cookie: x=1",
            "/ä",
            "javascript:alert(1)",
            "evil.example",
            "",
        ];
        for next in elsewhere {
            assert_eq!(super::inside(Some(next)), "/", "{next:?}");
        }
        assert_eq!(super::inside(None), "/");
    }
}
