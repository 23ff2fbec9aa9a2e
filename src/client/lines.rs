//! A long answer, read line by line while it comes.

use std::{collections::VecDeque, time::Duration};

use super::{
    error::Error,
    http::{Client, Request},
};

/// A stream without news says every ten seconds that it lives; an export may look for a while at what does not fit.
const SILENT: Duration = Duration::from_secs(60);

pub struct Lines {
    answer: reqwest::Response,
    ready: VecDeque<String>,
    /// The beginning of a line whose end is still to come.
    rest: Vec<u8>,
}

impl Client {
    pub(super) async fn lines(&self, request: &Request) -> Result<Lines, Error> {
        Ok(Lines {
            answer: self.stream(request).await?,
            ready: VecDeque::new(),
            rest: Vec::new(),
        })
    }
}

impl Lines {
    /// The next line; none at the end of the answer. An answer that broke off says why.
    pub async fn next(&mut self) -> Result<Option<String>, String> {
        loop {
            if let Some(line) = self.ready.pop_front() {
                return Ok(Some(line));
            }
            let chunk = tokio::time::timeout(SILENT, self.answer.chunk()).await;
            let chunk = chunk.map_err(|_| "the server fell silent".to_owned())?;
            match chunk.map_err(|error| format!("the answer broke off: {error}"))? {
                Some(chunk) => self.take(&chunk),
                None if self.rest.is_empty() => return Ok(None),
                None => return Err("the answer broke off within a line".to_owned()),
            }
        }
    }

    fn take(&mut self, chunk: &[u8]) {
        self.rest.extend_from_slice(chunk);
        let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') else {
            return;
        };
        let rest = self.rest.split_off(end + 1);
        let whole = std::mem::replace(&mut self.rest, rest);
        let lines = String::from_utf8_lossy(&whole);
        self.ready.extend(lines.lines().map(str::to_owned));
    }
}
