//! Who is asking, and whether they may: one layer over every route, by the rules of `domain::nouns::access`.

mod access;
mod door;
mod origin;
mod seen;
mod standing;

use axum::{
    extract::{MatchedPath, Request, State},
    http::Uri,
    middleware::Next,
    response::{IntoResponse, Redirect, Response},
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;
use std::sync::Arc;

pub use self::{
    access::Access,
    door::{Declared, Doors, Routes, is_public},
    standing::Standing,
};
use self::{access::bearer, origin::same_origin};
use super::{App, peer::Peer, problem::Refusal};
use crate::{
    domain::{
        Action, Code, Problem,
        nouns::{
            access::{Door, Principal},
            audit::{AuditEntry, AuditKind},
        },
    },
    store::audit,
};

/// What the layer needs: who is known, and what each route asks.
#[derive(Clone)]
pub struct Gate {
    pub app: App,
    pub doors: Arc<Doors>,
}

pub async fn authorise(State(gate): State<Gate>, mut request: Request, next: Next) -> Response {
    match admit(&gate, &mut request).await {
        Ok(None) => next.run(request).await,
        Ok(Some(elsewhere)) => elsewhere,
        Err(refusal) => refusal.into_response(),
    }
}

async fn admit(
    Gate { app, doors }: &Gate,
    request: &mut Request,
) -> Result<Option<Response>, Refusal> {
    let headers = request.headers();
    let token = bearer(headers).is_some();
    let ours = same_origin(request.method(), headers, token);
    let peer = request.extensions().get::<Peer>().copied();
    let route = request.extensions().get::<MatchedPath>();
    let route = route.map(MatchedPath::as_str);
    let door = doors.of(request.method(), route, request.uri().path());
    let door = door.ok_or_else(|| {
        let detail = "this route does not declare who may use it: nobody may";
        Problem::new(Code::Internal, detail)
    })?;
    let credential = app.access.credential(headers);
    let found = match credential {
        Some(credential) => app.access.principal(&app.store, credential).await,
        None => Ok(None),
    };
    let mut principal = match (&door, found) {
        // A health check is answered though the store cannot say who asks.
        (Door::Open, Err(_)) => None,
        (_, found) => found?,
    };
    // A page sends whoever has an old session to the sign-in page; that is no wrong token.
    let wrong = match door {
        Door::Open => false,
        Door::Page(_) => token,
        Door::Needs(_) => credential.is_some(),
    };
    match &mut principal {
        Some(who) => who.peer = peer.map(|it| it.0),
        None if wrong => app.wrong_tokens.noted(peer).await?,
        None => {}
    }
    let allowed = match (door, &principal) {
        (Door::Open, _) => Ok(None),
        (Door::Page(_), None) => Ok(Some(to_sign_in(request.uri()))),
        (Door::Needs(_), None) => Err(unauthorized(token)),
        (Door::Page(action) | Door::Needs(action), Some(who)) => permit(who, action).map(|()| None),
    };
    // A caller without the right hears that before the request's origin is judged.
    let allowed = allowed.and_then(|elsewhere| ours.map(|()| elsewhere));
    if let (Err(problem), Some(who)) = (&allowed, &principal) {
        let (about, entry) = refused(who, request, problem);
        app.store.noted_or_counted(&about, entry).await;
    }
    if let (Some(credential), Some(_)) = (credential, &principal) {
        let open = app.access.open.clone();
        let standing = Standing { open, credential };
        request.extensions_mut().insert(standing);
        request.extensions_mut().insert(credential);
    }
    request.extensions_mut().insert(principal);
    Ok(allowed?)
}

/// What is kept of somebody who tried what they may not, and which attempts count as the same.
fn refused(who: &Principal, request: &Request, problem: &Problem) -> (String, AuditEntry) {
    let (method, path) = (request.method().as_str(), request.uri().path());
    let detail = json!({"method": method, "path": path, "detail": problem.detail});
    let route = request.extensions().get::<MatchedPath>();
    let about = format!(
        "{method} {}",
        route.map_or("elsewhere", MatchedPath::as_str)
    );
    (
        about,
        audit::by(who, AuditKind::Refused, "forbidden", detail),
    )
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

/// The answer to who has no right, or has it no more.
pub fn unauthorized(token_given: bool) -> Problem {
    let detail = match token_given {
        true => "this token is unknown or revoked",
        false => "send Authorization: Bearer <token>; `step47 token create` makes one",
    };
    Problem::new(Code::Unauthorized, detail)
}

/// What is escaped in `next=`: everything that could end it, or mean something to an address.
const BESIDE_A_PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'_')
    .remove(b'.');

fn to_sign_in(uri: &Uri) -> Response {
    let back = uri.path_and_query().map_or("/", |path| path.as_str());
    let back = utf8_percent_encode(back, BESIDE_A_PATH);
    Redirect::to(&format!("/signin?next={back}")).into_response()
}
