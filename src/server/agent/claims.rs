//! A worker asks for any run it may take, and may wait for one.

use axum::{
    Extension, Json,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use std::time::Duration;
use tokio::{sync::broadcast::error::RecvError, time::Instant};

use super::{caller, once};
use crate::{
    domain::{
        EventKind,
        nouns::access::Principal,
        wire::protocol::{ClaimRun, LeaseAnswer},
    },
    server::{
        App,
        auth::{Standing, unauthorized},
        body::Strict,
        live::News,
        problem::Refusal,
    },
    store::commands::Claim,
};

/// Takes the oldest runnable run.
#[utoipa::path(post, path = "/v1/claims", tag = "runs", request_body = ClaimRun, responses(
    (status = 200, body = LeaseAnswer), (status = 204, description = "None is runnable."),
))]
pub async fn claim(
    State(app): State<App>,
    Extension(who): Extension<Option<Principal>>,
    Extension(standing): Extension<Standing>,
    headers: HeaderMap,
    Strict { body, hash }: Strict<ClaimRun>,
) -> Result<Response, Refusal> {
    let who = caller(who)?;
    let until = Instant::now() + Duration::from_millis(body.wait_ms.unsigned_abs());
    let keyed = headers.contains_key("idempotency-key");
    let asking = app.workers.asks(&body);
    // Listen before looking: a run that becomes runnable in between is heard.
    let mut news = app.live.listen();
    let mut revoked = std::pin::pin!(standing.ended());
    let mut seat = None;
    loop {
        if keyed || app.store.runnable(body.agents.as_deref()).await? {
            let command = Claim::new(body.clone());
            let command = once(command, &who, &headers, "claim".into(), hash)?;
            if let Some(lease) = app.store.write(command).await? {
                asking.given(&lease);
                return Ok(Json(lease).into_response());
            }
        }
        if Instant::now() >= until {
            return Ok(StatusCode::NO_CONTENT.into_response());
        }
        if seat.is_none() {
            seat = Some(app.rooms.claims.seat(Some(&who))?);
        }
        let waited = async {
            loop {
                match news.recv().await {
                    Ok(News::Event(event)) if !matters(event.kind) => {}
                    Ok(_) | Err(RecvError::Lagged(_)) => return true,
                    Err(RecvError::Closed) => return false,
                }
            }
        };
        tokio::select! {
            true = waited => {}
            () = &mut revoked => return Err(unauthorized(true).into()),
            () = tokio::time::sleep_until(until) => return Ok(StatusCode::NO_CONTENT.into_response()),
            () = app.stop.cancelled() => return Ok(StatusCode::NO_CONTENT.into_response()),
        }
    }
}

/// Only these can make a run runnable.
fn matters(kind: EventKind) -> bool {
    matches!(kind, EventKind::RunCreated | EventKind::RunStatus)
}
