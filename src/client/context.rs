//! What a step's work can know and tell while it runs.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use super::{error::Error, lease::Lease, locked};
use crate::domain::{
    RunId, StepKey, Usage,
    wire::protocol::{NewLogLine, Progress},
};

/// How long work is held up by telling about itself while the server is away.
const PATIENCE: Duration = Duration::from_secs(2);

/// One attempt at a step, from the inside. Cheap to clone.
#[derive(Debug, Clone)]
pub struct StepCtx {
    lease: Arc<Lease>,
    key: StepKey,
    seq: i64,
    attempt: i64,
    idempotency_key: Arc<str>,
    partial: Option<Arc<Value>>,
    usage: Arc<Mutex<Option<Usage>>>,
}

impl StepCtx {
    pub(super) fn new(
        lease: Arc<Lease>,
        key: StepKey,
        seq: i64,
        attempt: i64,
        idempotency_key: String,
        partial: Option<Value>,
    ) -> Self {
        Self {
            lease,
            key,
            seq,
            attempt,
            idempotency_key: idempotency_key.into(),
            partial: partial.map(Arc::new),
            usage: Arc::default(),
        }
    }

    pub fn run(&self) -> &RunId {
        &self.lease.run
    }

    pub fn key(&self) -> &StepKey {
        &self.key
    }

    pub fn seq(&self) -> i64 {
        self.seq
    }

    /// Counts from 1.
    pub fn attempt(&self) -> i64 {
        self.attempt
    }

    /// For the outside provider: the same over all attempts at this step, so that it can deduplicate.
    pub fn idempotency_key(&self) -> &str {
        &self.idempotency_key
    }

    /// The last progress of the attempt before, if it crashed after telling any and still reads as a `T`.
    pub fn partial<T: DeserializeOwned>(&self) -> Option<T> {
        T::deserialize(self.partial.as_deref()?).ok()
    }

    /// Says how far the work is. It replaces what was said before, and the next attempt gets it after a crash.
    pub async fn progress(&self, partial: impl Serialize) {
        match serde_json::to_value(partial) {
            Ok(partial) => self.tell(Some(partial), Vec::new()).await,
            Err(why) => {
                tracing::warn!(run = %self.lease.run, step = self.seq, %why, "progress is not JSON");
            }
        }
    }

    /// Adds a line to the step's log.
    pub async fn log(&self, level: &str, message: impl Into<String>) {
        let line = NewLogLine {
            level: level.to_owned(),
            message: message.into(),
        };
        self.tell(None, vec![line]).await;
    }

    /// What this attempt used so far; sent with its end, whatever the end is.
    pub fn usage(&self, usage: Usage) {
        *locked(&self.usage) = Some(usage);
    }

    pub(super) fn used(&self) -> Option<Usage> {
        *locked(&self.usage)
    }

    /// Never fails the work: what is told here is for people who watch.
    async fn tell(&self, partial: Option<Value>, log: Vec<NewLogLine>) {
        let progress = Progress {
            epoch: self.lease.epoch,
            attempt: self.attempt,
            partial,
            log,
        };
        let client = self.lease.client.clone().patience(PATIENCE);
        let told = client.progress(&self.lease.run, self.seq, &progress);
        match self.lease.call(told).await {
            Ok(()) => {}
            // The lease has noted it, and whoever runs this work drops it now.
            Err(Error::LeaseLost) => tokio::task::yield_now().await,
            Err(why) => {
                tracing::warn!(run = %self.lease.run, step = self.seq, %why, "progress was not recorded");
            }
        }
    }
}
