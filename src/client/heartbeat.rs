//! Heartbeats: three a term, so that one that goes missing costs nothing.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::task::AbortHandle;

use super::{error::Error, lease::Lease};

/// A beating heart; it stops when the last handle on the session is gone.
#[derive(Debug)]
pub(super) struct Heart(AbortHandle);

impl Heart {
    pub fn start(lease: &Arc<Lease>) -> Self {
        Self(tokio::spawn(beat(lease.clone())).abort_handle())
    }
}

impl Drop for Heart {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// After a beat that went missing, the next comes sooner.
async fn beat(lease: Arc<Lease>) {
    let third = lease.ttl / 3;
    let once = lease.client.clone().patience(Duration::ZERO).timeout(third);
    let mut pause = third;
    while !lease.over() {
        tokio::time::sleep(pause).await;
        if !lease.held() {
            continue;
        }
        let sent = Instant::now();
        match once.heartbeat(&lease.run, &lease.heartbeat()).await {
            Ok(answer) => {
                lease.renew(sent, answer.signal);
                pause = third;
            }
            Err(Error::LeaseLost) => lease.lose(),
            Err(why) => {
                tracing::warn!(run = %lease.run, epoch = %lease.epoch, %why, "heartbeat missed");
                pause = (lease.ttl / 20).min(Duration::from_secs(1));
            }
        }
    }
}
