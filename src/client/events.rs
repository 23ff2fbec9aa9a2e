//! The history: by pages, or followed as it happens.

use super::{
    backoff::Backoff,
    calls::query_string,
    error::Error,
    http::{Client, Request, decode},
    lines::Lines,
};
use crate::domain::{Event, RunId, wire::protocol::EventPage};

impl Client {
    /// A page of events after `after`, of one run if it is named.
    pub async fn events(&self, after: i64, run: Option<&RunId>) -> Result<EventPage, Error> {
        let request = Request::get(path(after, run)?);
        self.one(request.accepting("application/json")).await
    }

    /// Events after `after` as they happen, of one run if it is named.
    pub fn follow(&self, after: i64, run: Option<RunId>) -> Events {
        Events {
            client: self.clone(),
            run,
            at: after,
            lines: None,
            backoff: Backoff::default(),
        }
    }
}

fn path(after: i64, run: Option<&RunId>) -> Result<String, Error> {
    let query = query_string([
        ("after", Some(after.to_string())),
        ("run", run.map(ToString::to_string)),
    ])?;
    Ok(format!("v1/events?{query}"))
}

/// Events in order, none lost and none twice: when the server goes away they are taken up again after the last one.
pub struct Events {
    client: Client,
    run: Option<RunId>,
    /// The last event that was given.
    at: i64,
    lines: Option<Lines>,
    /// Between streams that end at once.
    backoff: Backoff,
}

impl Events {
    /// The next event, whenever it comes.
    pub async fn next(&mut self) -> Result<Event, Error> {
        loop {
            let lines = match &mut self.lines {
                Some(lines) => lines,
                None => {
                    let request = Request::get(path(self.at, self.run.as_ref())?);
                    let request = request.accepting("text/event-stream");
                    self.lines.insert(self.client.lines(&request).await?)
                }
            };
            match lines.next().await {
                Ok(Some(line)) => {
                    let Some(data) = line.strip_prefix("data:") else {
                        continue;
                    };
                    let event: Event = decode(data.as_bytes())?;
                    self.at = event.id;
                    self.backoff = Backoff::default();
                    return Ok(event);
                }
                ended => {
                    tracing::debug!(?ended, at = self.at, "the stream of events ended");
                    self.lines = None;
                    tokio::time::sleep(self.backoff.next(None)).await;
                }
            }
        }
    }
}
