//! What stays open ends with the right to it. One task per server asks the store once a second about all credentials
//! by which streams and long polls are open: a token that was revoked anywhere ends them within two seconds.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::store::{Store, access::Credential};

const ASK_EVERY: Duration = Duration::from_secs(1);

/// By one credential: the sign that it stands for nobody any more, and how many wait for it.
type Waiting = HashMap<Credential, (CancellationToken, usize)>;

/// The credentials by which something is open; clones share them.
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

    fn hold(&self, credential: Credential) -> Held {
        let mut waiting = self.lock();
        let (over, count) = waiting.entry(credential).or_default();
        *count += 1;
        Held {
            open: self.clone(),
            credential,
            over: over.clone(),
        }
    }

    /// Ends what is open by credentials that stand for nobody any more, until the server stops.
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
                // Who cannot be asked about may stay: a store that is away has nothing new to read.
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

/// Something that is open.
struct Held {
    open: Open,
    credential: Credential,
    over: CancellationToken,
}

impl Drop for Held {
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
    /// Waits until the credential stands for nobody any more.
    pub async fn ended(self) {
        let held = self.open.hold(self.credential);
        held.over.cancelled().await;
    }
}
