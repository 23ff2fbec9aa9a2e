//! Server-sent events: messages that are already bytes, so that many listeners can share them.

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, header},
    response::{IntoResponse, Response},
};
use futures::{Stream, StreamExt, stream};
use serde::Serialize;
use std::{convert::Infallible, time::Duration};
use tokio_util::sync::CancellationToken;

use crate::domain::Problem;

/// A quiet stream says this often that it lives.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// One message; `id` is what a reader that reconnects sends back.
pub fn message(id: i64, data: &impl Serialize) -> Bytes {
    // JSON has no line breaks outside of strings, and escapes them there.
    let data = serde_json::to_string(data).unwrap_or_default();
    Bytes::from(format!("id: {id}\ndata: {data}\n\n"))
}

/// What a browser sends when it reconnects by itself.
pub fn last_event_id(headers: &HeaderMap) -> Result<Option<i64>, Problem> {
    let Some(id) = headers.get("last-event-id") else {
        return Ok(None);
    };
    let number = id.to_str().ok().and_then(|id| id.parse().ok());
    match number.filter(|id| *id >= 0) {
        Some(id) => Ok(Some(id)),
        None => Err(Problem::invalid(
            "Last-Event-ID",
            "must be a whole number, 0 or more",
        )),
    }
}

/// Answers with these messages until they end, the reader hangs up or the server stops.
pub fn respond(
    messages: impl Stream<Item = Bytes> + Send + 'static,
    stop: CancellationToken,
) -> Response {
    let messages = Box::pin(messages);
    let alive = stream::unfold(messages, |mut messages| async move {
        match tokio::time::timeout(KEEP_ALIVE, messages.next()).await {
            Ok(message) => message.map(|message| (message, messages)),
            Err(_) => Some((Bytes::from_static(b":\n\n"), messages)),
        }
    });
    let body = alive
        .map(Ok::<_, Infallible>)
        .take_until(stop.cancelled_owned());
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, Body::from_stream(body)).into_response()
}
