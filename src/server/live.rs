//! The live hub: one reader follows the events table and tells everyone who listens, so that a thousand viewers
//! cost the database one read.

use std::{sync::Arc, time::Duration};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use crate::{domain::Event, store::Store};

/// Events a slow listener may fall behind before it is sent back to the table.
const BACKLOG: usize = 4_096;
const PAGE: i64 = 500;

#[derive(Debug, Clone)]
pub enum News {
    Event(Arc<Event>),
    /// A durable sleep ended somewhere.
    Woken,
}

#[derive(Clone)]
pub struct Hub(broadcast::Sender<News>);

impl Hub {
    pub fn new() -> Self {
        Self(broadcast::channel(BACKLOG).0)
    }

    pub fn listen(&self) -> broadcast::Receiver<News> {
        self.0.subscribe()
    }

    /// Follows the table from its newest event on, until stopped.
    pub async fn follow(&self, store: &Store, mut at: i64, stop: CancellationToken) {
        let mut head = store.head_changes();
        while stop
            .run_until_cancelled(head.changed())
            .await
            .is_some_and(|change| change.is_ok())
        {
            head.mark_unchanged();
            let from = at;
            loop {
                match store.events(at, None, PAGE).await {
                    Ok(page) => {
                        at = page.next;
                        let more = page.events.len() as i64 == PAGE;
                        for event in page.events {
                            // Nobody listening is no error.
                            let _ = self.0.send(News::Event(Arc::new(event)));
                        }
                        if !more {
                            break;
                        }
                    }
                    Err(problem) => {
                        tracing::warn!(%problem, "the live hub could not read; it tries again");
                        tokio::time::sleep(Duration::from_millis(500)).await;
                    }
                }
            }
            if at == from {
                let _ = self.0.send(News::Woken);
            }
        }
    }
}
