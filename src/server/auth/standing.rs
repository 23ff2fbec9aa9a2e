//! A stream or long poll ends when its token or session does. One task per server asks the store once a second about the
//! credentials of all that are open: a token that was revoked anywhere ends them within two seconds.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::store::{Store, access::Credential};

const ASK_EVERY: Duration = Duration::from_secs(1);

/// For each credential: the sign that it was revoked or is over, and how many requests wait for that sign.
type Waiting = HashMap<Credential, (CancellationToken, usize)>;

/// The credentials of open streams and long polls; clones share them.
#[derive(Clone, Default)]
pub struct Open {
    waiting: Arc<Mutex<Waiting>>,
    asked: Arc<Notify>,
}

impl Open {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting
            .lock()
            .unwrap_or_else(|broken| broken.into_inner())
    }

    /// Asks the store now.
    pub fn ask(&self) {
        self.asked.notify_one();
    }

    fn hold(&self, credential: Credential) -> OpenRequest {
        let mut waiting = self.lock();
        let (over, count) = waiting.entry(credential).or_default();
        *count += 1;
        OpenRequest {
            open: self.clone(),
            credential,
            over: over.clone(),
        }
    }

    /// Ends the streams of credentials that were revoked or are over, until the server stops.
    pub async fn watch(self, store: Store, stop: CancellationToken) {
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(ASK_EVERY) => {}
                () = self.asked.notified() => {}
            }
            let open: Vec<Credential> = self.lock().keys().copied().collect();
            if open.is_empty() {
                continue;
            }
            match store.standing(&open).await {
                Ok(standing) => self.end(open.iter().filter(|it| !standing.contains(it))),
                // While the store is away streams stay open: there is nothing new to read in it.
                Err(error) => tracing::warn!(%error, "cannot ask whether streams may go on"),
            }
        }
    }

    fn end<'a>(&self, gone: impl Iterator<Item = &'a Credential>) {
        let waiting = self.lock();
        for credential in gone {
            if let Some((over, _)) = waiting.get(credential) {
                over.cancel();
            }
        }
    }
}

/// An open stream or long poll; dropped, it is counted no more.
struct OpenRequest {
    open: Open,
    credential: Credential,
    over: CancellationToken,
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        let mut waiting = self.open.lock();
        if let Some((_, count)) = waiting.get_mut(&self.credential) {
            *count -= 1;
            if *count == 0 {
                waiting.remove(&self.credential);
            }
        }
    }
}

/// The right by which a request came in.
#[derive(Clone)]
pub struct Standing {
    pub open: Open,
    pub credential: Credential,
}

impl Standing {
    /// Waits until the credential is revoked or over.
    pub async fn ended(self) {
        let held = self.open.hold(self.credential);
        held.over.cancelled().await;
    }
}
