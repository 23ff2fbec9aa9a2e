//! The history as pages, or as a stream that a reader can take up again where it left off.

use axum::{
    Extension, Json,
    body::Bytes,
    extract::State,
    http::{HeaderMap, header},
    response::{IntoResponse, Response},
};
use futures::{Stream, StreamExt as _, stream};
use serde::Deserialize;
use std::sync::Arc;
use tokio::sync::broadcast::{Receiver, error::RecvError};
use utoipa::IntoParams;

use crate::{
    domain::{
        Event, Problem, RunId,
        nouns::access::Principal,
        wire::protocol::{EventPage, limits::range},
    },
    server::{
        App,
        auth::Standing,
        body::Query,
        live::{News, Told},
        problem::Refusal,
        seats::Seat,
        sse,
    },
    store::Store,
};

const PAGE: i64 = 500;

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct EventQuery {
    /// Events after this number.
    #[serde(default)]
    after: Option<i64>,
    /// Only this run's.
    #[serde(default)]
    run: Option<RunId>,
}

/// Events in commit order: a stream (SSE), or with `Accept: application/json` a page.
#[utoipa::path(get, path = "/v1/events", tag = "events", params(EventQuery), responses(
    (status = 200, content((EventPage = "application/json"), (String = "text/event-stream"))),
    (status = 410, description = "events_pruned", body = Problem),
))]
pub async fn follow(
    State(app): State<App>,
    Extension(standing): Extension<Standing>,
    Extension(who): Extension<Option<Principal>>,
    headers: HeaderMap,
    Query(query): Query<EventQuery>,
) -> Result<Response, Refusal> {
    range("after", query.after.unwrap_or(0), (0, i64::MAX))?;
    let after = sse::last_event_id(&headers)?.or(query.after).unwrap_or(0);
    let accept = headers
        .get(header::ACCEPT)
        .and_then(|accept| accept.to_str().ok())
        .unwrap_or("");
    if accept.contains("application/json") {
        return Ok(Json(app.store.events(after, query.run.as_ref(), PAGE).await?).into_response());
    }
    let seat = app.rooms.events.seat(who.as_ref())?;
    let reader = Reader {
        news: app.live.listen(),
        store: app.store.clone(),
        run: query.run,
        at: after,
        ready: Vec::new(),
        caught_up: false,
        _seat: seat,
    };
    let events = reader.stream().take_until(Box::pin(standing.ended()));
    Ok(sse::respond(events, app.stop.clone()))
}

/// One reader of the history: from the table until it has caught up, then from the hub. A reader that falls
/// behind goes back to the table, so nothing is lost, doubled or reordered.
struct Reader {
    news: Receiver<News>,
    store: Store,
    run: Option<RunId>,
    at: i64,
    /// Read from the table, newest first.
    ready: Vec<Event>,
    caught_up: bool,
    _seat: Seat<String>,
}

impl Reader {
    fn stream(self) -> impl Stream<Item = Bytes> {
        stream::unfold(self, |mut reader| async move {
            let event = reader.next().await?;
            reader.at = event.id;
            Some((event.message(), reader))
        })
    }

    async fn next(&mut self) -> Option<Arc<Told>> {
        loop {
            if let Some(event) = self.ready.pop() {
                return Some(Arc::new(Told::new(event)));
            }
            if !self.caught_up {
                let page = self
                    .store
                    .events(self.at, self.run.as_ref(), PAGE)
                    .await
                    .ok()?;
                self.caught_up = (page.events.len() as i64) < PAGE;
                self.ready = page.events;
                self.ready.reverse();
                continue;
            }
            match self.news.recv().await {
                Ok(News::Event(event)) if self.wants(&event) => return Some(event),
                Ok(_) => {}
                Err(RecvError::Lagged(_)) => self.caught_up = false,
                Err(RecvError::Closed) => return None,
            }
        }
    }

    fn wants(&self, event: &Event) -> bool {
        event.id > self.at && self.run.as_ref().is_none_or(|run| *run == event.run)
    }
}
