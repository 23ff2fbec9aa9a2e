//! What a request brings, read strictly: bodies, queries and path segments, each with an error that names the place.

use axum::{
    body::Body,
    extract::{DefaultBodyLimit, FromRequest, FromRequestParts, Request, State},
    http::{HeaderMap, Uri, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};
use futures::StreamExt;
use serde::de::DeserializeOwned;
use std::time::{Duration, Instant};

use super::{App, auth::unauthorized, bodies::Tally, problem::Refusal};
use crate::aside::{LONG, aside};
use crate::domain::{
    Code, Hash, Problem, RunId,
    nouns::{access::Principal, ids::run_id},
    wire::{
        json,
        protocol::{Check, OBJECTS, limits::IDEMPOTENCY_KEY_MAX},
        whole::Whole,
    },
};
use crate::store::access::Credential;

/// A body that arrives within this time needs no second check of its sender. For a slower one the credentials are checked again.
const AT_ONCE: Duration = Duration::from_millis(100);

/// A JSON body within the protocol's limits.
pub struct Strict<T> {
    pub body: T,
    /// Of the bytes: tells a repeated request from another one.
    pub hash: Hash,
}

impl<T: DeserializeOwned + Check> FromRequest<App> for Strict<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, app: &App) -> Result<Self, Refusal> {
        let limit = app.limits.body_max;
        let sender = request.extensions().get::<Credential>().copied();
        let tally = request.extensions().get::<Tally>().cloned();
        let bytes = read_from(sender, request.into_body(), app, limit).await?;
        let values_max = app.limits.values_max;
        Ok(match bytes.len() > LONG {
            true => aside(|| Self::parsed(&bytes, values_max, tally.as_ref())).await?,
            false => Self::parsed(&bytes, values_max, None)?,
        })
    }
}

impl<T: DeserializeOwned + Check> Strict<T> {
    /// A long body is counted by its values before they are made: small ones take many times their bytes.
    fn parsed(bytes: &[u8], values_max: usize, tally: Option<&Tally>) -> Result<Self, Problem> {
        let values = json::check(bytes, OBJECTS, values_max)?;
        tally.map_or(Ok(()), |tally| tally.holds(values))?;
        let body: T = made_of(bytes)?;
        body.check()?;
        Ok(Self {
            body,
            hash: Hash::of_bytes(bytes),
        })
    }
}

/// Reads to the end, or a good way beyond the limit: a client that is cut off while it sends never sees the answer.
async fn read(body: Body, limit: usize) -> Result<Vec<u8>, Problem> {
    let mut chunks = body.into_data_stream();
    let (mut bytes, mut seen) = (Vec::new(), 0);
    while let Some(chunk) = chunks.next().await {
        let chunk =
            chunk.map_err(|e| Problem::new(Code::Malformed, format!("the body broke off: {e}")))?;
        seen += chunk.len();
        match seen <= limit {
            true => bytes.extend_from_slice(&chunk),
            false if seen > 4 * limit => break,
            false => bytes.clear(),
        }
    }
    match seen <= limit {
        true => Ok(bytes),
        false => Err(Problem::too_large("body", limit)),
    }
}

/// Reads a body. Who took long to send it may have been shut out meanwhile, and is asked for again.
async fn read_from(
    sender: Option<Credential>,
    body: Body,
    app: &App,
    limit: usize,
) -> Result<Vec<u8>, Problem> {
    let began = Instant::now();
    let bytes = read(body, limit).await?;
    match sender.filter(|_| began.elapsed() > AT_ONCE) {
        Some(sender) => match app.access.principal(&app.store, sender).await {
            Ok(Some(_)) => Ok(bytes),
            Ok(None) => Err(unauthorized(true)),
            Err(error) => Err(error.problem()),
        },
        None => Ok(bytes),
    }
}

/// Makes sure that what a signed-in reader sends with a form or to a server function is within the limit, before anything looks
/// at it; the default of the extractors is far below the state that an editor may save. `/v1` reads its bodies itself. A
/// caller who is not signed in has the small default.
pub async fn within_limit(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let known = request.extensions().get::<Option<Principal>>();
    let known = known.is_some_and(Option::is_some);
    if !known || request.method().is_safe() || request.uri().path().starts_with("/v1/") {
        return next.run(request).await;
    }
    let body = std::mem::take(request.body_mut());
    let sender = request.extensions().get::<Credential>().copied();
    match read_from(sender, body, &app, app.limits.body_max).await {
        Ok(bytes) => {
            *request.body_mut() = bytes.into();
            DefaultBodyLimit::disable().apply(&mut request);
            next.run(request).await
        }
        Err(problem) => Refusal(problem).into_response(),
    }
}

/// JSON as the protocol accepts it; what is wrong is named by its place.
pub fn parse<T: DeserializeOwned>(bytes: &[u8], values_max: usize) -> Result<T, Problem> {
    json::check(bytes, OBJECTS, values_max)?;
    made_of(bytes)
}

/// What was checked, as the protocol's type.
fn made_of<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let mut parser = serde_json::Deserializer::from_slice(bytes);
    parser.disable_recursion_limit();
    let body = serde_path_to_error::deserialize(Whole(&mut parser)).map_err(|error| {
        let path = error.path().to_string();
        let inner = error.into_inner();
        match inner.is_data() {
            true => Problem::invalid(if path == "." { "body".into() } else { path }, inner),
            false => malformed(inner),
        }
    })?;
    parser.end().map_err(malformed)?;
    Ok(body)
}

fn malformed(error: serde_json::Error) -> Problem {
    Problem::new(Code::Malformed, format!("the body is not JSON: {error}"))
}

/// A query string; unknown and malformed parameters are refused.
pub struct Query<T>(pub T);

impl<T: DeserializeOwned> FromRequestParts<App> for Query<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Refusal> {
        Ok(Self(query_of(&parts.uri)?))
    }
}

/// The query string of a form: a field that was left empty is absent.
pub struct FormQuery<T>(pub T);

impl<T: DeserializeOwned> FromRequestParts<App> for FormQuery<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Refusal> {
        Ok(Self(query_of(&without_empty(&parts.uri))?))
    }
}

fn query_of<T: DeserializeOwned>(uri: &Uri) -> Result<T, Problem> {
    axum::extract::Query::try_from_uri(uri)
        .map(|axum::extract::Query(query)| query)
        .map_err(|error| bad_query(&error.body_text()))
}

/// The parameter is named in front of what is wrong with it.
fn bad_query(text: &str) -> Problem {
    let why = text
        .rsplit_once("query string: ")
        .map_or(text, |(_, why)| why);
    match why.split_once(": ") {
        Some((path, why)) => Problem::invalid(path, why),
        None => Problem::invalid("query", why),
    }
}

/// `?kind=&author=x` asks for the author alone.
fn without_empty(uri: &Uri) -> Uri {
    let given = uri
        .query()
        .unwrap_or("")
        .split('&')
        .filter(|pair| !pair.ends_with('='));
    let query = given.collect::<Vec<_>>().join("&");
    format!("/?{query}").parse().unwrap_or_default()
}

/// The run in the path.
pub struct RunPath(pub RunId);

impl FromRequestParts<App> for RunPath {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Refusal> {
        let segments = segments(parts, app).await?;
        Ok(Self(run_id(segments.first().map_or("", String::as_str))?))
    }
}

/// The run and a number below it: a step or a snapshot.
pub struct NumberPath(pub RunId, pub i64);

impl FromRequestParts<App> for NumberPath {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Refusal> {
        let segments = segments(parts, app).await?;
        let id = run_id(segments.first().map_or("", String::as_str))?;
        let number = segments
            .get(1)
            .and_then(|n| n.parse().ok())
            .filter(|n| *n >= 0);
        let number = number
            .ok_or_else(|| Problem::invalid("path", "a whole number is expected after the run"))?;
        Ok(Self(id, number))
    }
}

async fn segments(parts: &mut Parts, app: &App) -> Result<Vec<String>, Refusal> {
    axum::extract::Path::<Vec<(String, String)>>::from_request_parts(parts, app)
        .await
        .map(|axum::extract::Path(pairs)| pairs.into_iter().map(|(_, value)| value).collect())
        .map_err(|error| Problem::invalid("path", error.body_text()).into())
}

/// The `Idempotency-Key` header, if there is one.
pub fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get("idempotency-key") else {
        return Ok(None);
    };
    let printable = |key: &&str| key.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let fits = |key: &&str| (1..=IDEMPOTENCY_KEY_MAX).contains(&key.len());
    let key = value.to_str().ok().filter(printable).filter(fits);
    key.map(|key| Some(key.to_owned())).ok_or_else(|| {
        let why = format!("must have 1–{IDEMPOTENCY_KEY_MAX} printable ASCII characters");
        Problem::invalid("Idempotency-Key", why)
    })
}
