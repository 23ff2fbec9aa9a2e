//! Event streams as a browser reads them.

use reqwest::{Method, RequestBuilder, Response};
use serde_json::Value;
use std::time::Duration;

use super::{Api, DEADLINE};

/// An open `text/event-stream`.
pub struct Stream {
    response: Response,
    buffer: Vec<u8>,
}

impl Stream {
    /// Opens `/v1/events` with this query; `last` is sent as `Last-Event-ID`.
    pub async fn open(api: &Api, query: &str, last: Option<i64>) -> Self {
        Self::try_open(api, query, last).await.expect("a stream")
    }

    pub async fn try_open(api: &Api, query: &str, last: Option<i64>) -> Result<Self, String> {
        let mut request = api.request(Method::GET, &format!("/v1/events{query}"));
        if let Some(id) = last {
            request = request.header("last-event-id", id.to_string());
        }
        Self::of(request).await
    }

    /// Opens `/live`, as a page does.
    pub async fn live(api: &Api, query: &str) -> Self {
        Self::try_live(api, query).await.expect("a stream")
    }

    pub async fn try_live(api: &Api, query: &str) -> Result<Self, String> {
        Self::of(api.request(Method::GET, &format!("/live{query}"))).await
    }

    pub async fn of(request: RequestBuilder) -> Result<Self, String> {
        let request = request.header("accept", "text/event-stream");
        let response = request.send().await.map_err(|e| e.to_string())?;
        let kind = response.headers().get("content-type");
        let kind = kind.and_then(|v| v.to_str().ok()).unwrap_or_default();
        match response.status().is_success() && kind.starts_with("text/event-stream") {
            true => Ok(Self {
                response,
                buffer: Vec::new(),
            }),
            false => Err(format!("{} {kind}", response.status())),
        }
    }

    /// The next event, or nothing when the stream ends; panics when none comes in time.
    pub async fn next(&mut self) -> Option<Value> {
        self.within(DEADLINE).await.expect("an event in time")
    }

    /// The next event, `Some(None)` at the stream's end, nothing when none comes within `time`.
    pub async fn within(&mut self, time: Duration) -> Option<Option<Value>> {
        tokio::time::timeout(time, self.read()).await.ok()
    }

    async fn read(&mut self) -> Option<Value> {
        loop {
            while let Some(message) = self.message() {
                if let Some(event) = event(&message) {
                    return Some(event);
                }
            }
            let chunk = self.response.chunk().await.ok().flatten()?;
            self.buffer
                .extend(chunk.iter().filter(|&&byte| byte != b'\r'));
        }
    }

    /// The next block of lines up to an empty one.
    fn message(&mut self) -> Option<String> {
        let end = self.buffer.windows(2).position(|two| two == b"\n\n")?;
        let block: Vec<u8> = self.buffer.drain(..end + 2).collect();
        Some(String::from_utf8(block).expect("UTF-8"))
    }
}

/// An event's JSON; nothing for comments. Its id must be the one that a reconnecting reader sends.
fn event(message: &str) -> Option<Value> {
    let field = |name: &str| {
        let values = message.lines().filter_map(|line| line.strip_prefix(name));
        let values: Vec<_> = values.map(|v| v.strip_prefix(' ').unwrap_or(v)).collect();
        (!values.is_empty()).then(|| values.join("\n"))
    };
    let data = field("data:")?;
    let id = field("id:")?;
    let event: Value = serde_json::from_str(&data).unwrap_or_else(|e| panic!("{data}: {e}"));
    let cursor = event.get("id").unwrap_or(&event["event"]);
    assert_eq!(cursor.to_string(), id, "{message}");
    Some(event)
}

pub fn ids(events: &[Value]) -> Vec<i64> {
    events
        .iter()
        .map(|e| e["id"].as_i64().expect("an id"))
        .collect()
}

pub fn is_strictly_rising(ids: &[i64]) -> bool {
    ids.windows(2).all(|two| two[0] < two[1])
}
