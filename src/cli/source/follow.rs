//! The history as it happens: a server tells it, a store is looked at again and again.

use std::time::Duration;

use super::Source;
use crate::{
    cli::Failure,
    client::Events,
    domain::{Event, RunId},
};

/// Another process writes: the table is the only thing both see.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// A server that is deployed is away for a while.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Follow<'a> {
    source: &'a Source,
    run: Option<&'a RunId>,
    /// The last event that was given.
    at: i64,
    stream: Option<Events>,
}

impl Source {
    /// Events after `at`, of one run if it is named.
    pub fn follow<'a>(&'a self, at: i64, run: Option<&'a RunId>) -> Follow<'a> {
        Follow {
            source: self,
            run,
            at,
            stream: None,
        }
    }
}

impl Follow<'_> {
    /// What comes next; nothing if there is no more for now: then [`Follow::wait`].
    pub async fn next(&mut self) -> Result<Vec<Event>, Failure> {
        let Some(stream) = &mut self.stream else {
            let page = self.source.events(self.at, self.run).await?;
            self.at = page.next;
            return Ok(page.events);
        };
        let event = stream
            .next()
            .await
            .map_err(|why| self.source.refused(&why))?;
        self.at = event.id;
        // A stream never says that nothing more comes, and this may have been the run's end: the table knows.
        if self.run.is_some() && event.kind.moves_run() {
            self.stream = None;
        }
        Ok(vec![event])
    }

    /// Until it is worth asking again.
    pub async fn wait(&mut self) {
        match self.source {
            Source::Server { client, .. } => {
                let client = client.clone().patience(PATIENCE);
                self.stream = Some(client.follow(self.at, self.run.cloned()));
            }
            Source::Store { .. } => tokio::time::sleep(LOOK_EVERY).await,
        }
    }
}
