//! `GET /live`: the stream of one open page. A page that reads too slowly is not waited for and nothing is kept for
//! it: it is told to read again.

use axum::{Extension, body::Bytes, extract::State, http::HeaderMap, response::Response};
use futures::{Stream, StreamExt, stream};
use serde::Deserialize;
use tokio::sync::broadcast::{Receiver, error::RecvError};

use super::{Hub, compose::Packet};
use crate::{
    domain::{Problem, RunId, nouns::access::Principal},
    server::{App, auth::Standing, body::Query, problem::Refusal, seats::Seat, sse},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViewQuery {
    /// The newest event that the page contains.
    #[serde(default)]
    after: Option<i64>,
    /// The run that the page shows.
    #[serde(default)]
    run: Option<RunId>,
}

pub async fn follow(
    State(app): State<App>,
    Extension(standing): Extension<Standing>,
    Extension(who): Extension<Option<Principal>>,
    headers: HeaderMap,
    Query(query): Query<ViewQuery>,
) -> Result<Response, Refusal> {
    let after = sse::last_event_id(&headers)?.or(query.after);
    if after.is_some_and(|after| after < 0) {
        return Err(Problem::invalid("after", "must not be negative").into());
    }
    let seat = app.rooms.viewers.seat(who.as_ref())?;
    let joined = app.live.join(after, query.run).await?;
    let viewer = Viewer {
        first: joined.first,
        packets: joined.packets,
        after: after.unwrap_or_default(),
        hub: app.live.clone(),
        _seat: seat,
    };
    let frames = viewer.stream().take_until(Box::pin(standing.ended()));
    Ok(sse::respond(frames, app.stop))
}

struct Viewer {
    first: Option<Packet>,
    packets: Receiver<Packet>,
    after: i64,
    hub: Hub,
    _seat: Seat<String>,
}

impl Viewer {
    fn stream(self) -> impl Stream<Item = Bytes> {
        stream::unfold(self, |mut viewer| async move {
            let packet = viewer.next().await?;
            Some((packet.message, viewer))
        })
    }

    async fn next(&mut self) -> Option<Packet> {
        if let Some(first) = self.first.take() {
            self.after = first.event;
            return Some(first);
        }
        loop {
            match self.packets.recv().await {
                // The page's own data may be newer than what was under way when it joined.
                Ok(packet) if packet.event >= self.after => return Some(packet),
                Ok(_) => {}
                Err(RecvError::Lagged(_)) => {
                    // In this order: what comes in between is told twice rather than not at all.
                    let again = Packet::read_again(self.hub.at(), self.hub.crowd());
                    self.packets = self.packets.resubscribe();
                    return Some(again);
                }
                Err(RecvError::Closed) => return None,
            }
        }
    }
}
