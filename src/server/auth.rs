//! Who is asking, and whether they may: one layer over every route, by the rules of `domain::access`.

use axum::{
    extract::{Request, State},
    http::{HeaderMap, Method, Uri, header},
    middleware::Next,
    response::{IntoResponse, Redirect, Response},
};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};
use tokio::sync::Notify;

use super::{App, peer::Peer, problem::Refusal};
use crate::{
    domain::{Action, Code, Hash, Problem, access::Principal, audit::AuditKind},
    store::{Error, Store},
};

pub const SESSION_COOKIE: &str = "step47_session";
/// How long an answer of the store about a secret counts; a revoked token works no longer than this.
const REMEMBERED: Duration = Duration::from_secs(1);
const REMEMBERED_MAX: usize = 10_000;
/// How often an open stream asks whether its reader may still read.
const ASK_AGAIN: Duration = Duration::from_secs(60);

/// What a route asks of its caller.
enum Door {
    Open,
    Needs(Action),
    /// A page: who is not signed in is sent to the sign-in page.
    Page,
}

fn door(method: &Method, path: &str) -> Door {
    let read = matches!(*method, Method::GET | Method::HEAD);
    match path {
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
        _ => Door::Page,
    }
}

pub async fn authorise(State(app): State<App>, mut request: Request, next: Next) -> Response {
    match admit(&app, &mut request).await {
        Ok(None) => next.run(request).await,
        Ok(Some(elsewhere)) => elsewhere,
        Err(refusal) => refusal.into_response(),
    }
}

async fn admit(app: &App, request: &mut Request) -> Result<Option<Response>, Refusal> {
    let headers = request.headers();
    let bearer = bearer(headers).is_some();
    let ours = same_origin(request.method(), headers, bearer);
    let principal = app.access.principal(&app.store, headers).await?;
    let door = door(request.method(), request.uri().path());
    let decides = matches!(door, Door::Needs(Action::Decide));
    // A page sends whoever has an old session to the sign-in page; that is no wrong token.
    let wrong = match door {
        Door::Open => false,
        Door::Page => bearer,
        Door::Needs(_) => bearer || session(headers).is_some(),
    };
    if wrong && principal.is_none() {
        let peer = request.extensions().get::<Peer>().copied();
        app.wrong_tokens.noted(peer).await?;
    }
    let allowed = match (door, &principal) {
        (Door::Open, _) => Ok(None),
        (Door::Page, None) => Ok(Some(to_sign_in(request.uri()))),
        (Door::Page, Some(_)) => Ok(None),
        (Door::Needs(_), None) => Err(unauthorized(bearer)),
        (Door::Needs(action), Some(who)) => permit(who, action).map(|()| None),
    };
    if let (Err(problem), Some(who), true) = (&allowed, &principal, decides) {
        let detail = serde_json::json!({"path": request.uri().path(), "detail": problem.detail});
        app.store
            .noted(AuditKind::Refused, &who.name, "forbidden", detail)
            .await;
    }
    request.extensions_mut().insert(principal);
    // Who is nobody hears that first.
    let allowed = allowed?;
    ours?;
    Ok(allowed)
}

/// Refuses what the role does not allow.
pub fn permit(who: &Principal, action: Action) -> Result<(), Problem> {
    match who.role.may(action) {
        true => Ok(()),
        false => Err(Problem::new(
            Code::Forbidden,
            format!("{} is {}, which may not do this", who.name, who.role),
        )),
    }
}

fn unauthorized(token_given: bool) -> Problem {
    let detail = match token_given {
        true => "this token is unknown or revoked",
        false => "send Authorization: Bearer <token>; `step47 token create` makes one",
    };
    Problem::new(Code::Unauthorized, detail)
}

fn to_sign_in(uri: &Uri) -> Response {
    let back = uri.path_and_query().map_or("/", |path| path.as_str());
    let back: String = back
        .bytes()
        .map(|b| match b {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => {
                (b as char).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect();
    Redirect::to(&format!("/signin?next={back}")).into_response()
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The session's secret in the cookies.
pub fn session(headers: &HeaderMap) -> Option<&str> {
    headers
        .get_all(header::COOKIE)
        .into_iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, _)| *name == SESSION_COOKIE)
        .map(|(_, secret)| secret)
}

/// A mutation comes from our own pages or from a program that has a token; never from another site.
fn same_origin(method: &Method, headers: &HeaderMap, token: bool) -> Result<(), Problem> {
    if matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) {
        return Ok(());
    }
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let ours = match (text("sec-fetch-site"), text("origin"), text("host")) {
        (Some(site), _, _) => matches!(site, "same-origin" | "none"),
        (None, Some(origin), Some(host)) => origin
            .split_once("://")
            .is_some_and(|(_, place)| place == host),
        (None, Some(_), None) => false,
        (None, None, _) => token,
    };
    match ours {
        true => Ok(()),
        false => Err(Problem::new(
            Code::Forbidden,
            "a change must come from this server's own pages or with a token",
        )),
    }
}

type Known = HashMap<Hash, (Principal, Instant)>;

/// Remembers for a moment whom a secret stands for, so that a busy agent does not ask the database each time.
#[derive(Clone, Default)]
pub struct Access {
    known: Arc<Mutex<Known>>,
    /// Somebody signed out.
    forgot: Arc<Notify>,
}

impl Access {
    /// Whom the headers of a request stand for.
    async fn principal(
        &self,
        store: &Store,
        headers: &HeaderMap,
    ) -> Result<Option<Principal>, Error> {
        match (bearer(headers), session(headers)) {
            (Some(token), _) => self.bearer(store, token).await,
            (None, Some(secret)) => self.session(store, secret).await,
            (None, None) => Ok(None),
        }
    }

    /// Waits until these headers stand for nobody any more: an open stream ends with the right to read it.
    pub async fn ended(self, store: Store, headers: HeaderMap) {
        loop {
            // Another server or the command line may have ended it: ask now and then.
            let _ = tokio::time::timeout(ASK_AGAIN, self.forgot.notified()).await;
            if let Ok(None) = self.principal(&store, &headers).await {
                return;
            }
        }
    }

    async fn bearer(&self, store: &Store, token: &str) -> Result<Option<Principal>, Error> {
        match self.recall(token) {
            Some(known) => Ok(Some(known)),
            None => Ok(self.remember(token, store.bearer(token).await?)),
        }
    }

    async fn session(&self, store: &Store, secret: &str) -> Result<Option<Principal>, Error> {
        match self.recall(secret) {
            Some(known) => Ok(Some(known)),
            None => Ok(self.remember(secret, store.session(secret).await?)),
        }
    }

    fn recall(&self, secret: &str) -> Option<Principal> {
        let known = self.known.lock().ok()?;
        let (principal, at) = known.get(&Hash::of_bytes(secret.as_bytes()))?;
        (at.elapsed() < REMEMBERED).then(|| principal.clone())
    }

    fn remember(&self, secret: &str, principal: Option<Principal>) -> Option<Principal> {
        let principal = principal?;
        let mut known = self.known.lock().ok()?;
        if known.len() >= REMEMBERED_MAX {
            known.retain(|_, (_, at)| at.elapsed() < REMEMBERED);
        }
        known.insert(
            Hash::of_bytes(secret.as_bytes()),
            (principal.clone(), Instant::now()),
        );
        Some(principal)
    }

    pub fn forget(&self, secret: &str) {
        if let Ok(mut known) = self.known.lock() {
            known.remove(&Hash::of_bytes(secret.as_bytes()));
        }
        self.forgot.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(pairs: &[(&'static str, &'static str)], token: bool) -> bool {
        let headers = pairs.iter().map(|(name, value)| {
            (
                header::HeaderName::from_static(name),
                header::HeaderValue::from_static(value),
            )
        });
        same_origin(&Method::POST, &headers.collect(), token).is_ok()
    }

    #[test]
    fn a_change_from_another_site_is_refused() {
        let host = ("host", "127.0.0.1:3047");
        assert!(checked(&[host, ("origin", "http://127.0.0.1:3047")], false));
        assert!(checked(&[host, ("sec-fetch-site", "same-origin")], false));
        assert!(
            checked(&[host], true),
            "a program with a token sends no Origin"
        );
        assert!(!checked(&[host], false));
        assert!(!checked(&[host, ("origin", "https://evil.example")], false));
        assert!(!checked(&[host, ("origin", "https://evil.example")], true));
        assert!(!checked(&[host, ("sec-fetch-site", "cross-site")], false));
        assert!(!checked(&[host, ("sec-fetch-site", "same-site")], false));
        assert!(!checked(&[host, ("origin", "null")], false));
    }
}
