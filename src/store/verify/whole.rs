//! The verification of everything, asked for from the console: it goes on beside what else the server does, one at a
//! time, and is looked at while it goes on.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Error, Progress, Store};
use crate::domain::nouns::integrity::Verifying;

/// What the last one found, or how far the one under way is. It lives as long as the server.
#[derive(Clone, Default)]
pub struct Whole(Arc<Mutex<Option<Verifying>>>);

impl Whole {
    fn lock(&self) -> MutexGuard<'_, Option<Verifying>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, state: Verifying) {
        *self.lock() = Some(state);
    }

    /// Whether it was free to begin.
    fn begin(&self) -> bool {
        let mut state = self.lock();
        let free = !matches!(*state, Some(Verifying::Under { .. }));
        if free {
            *state = Some(Verifying::Under { done: 0, of: 0 });
        }
        free
    }
}

impl Store {
    pub fn verifying(&self) -> Option<Verifying> {
        self.whole.lock().clone()
    }

    /// Begins to verify everything, unless that is under way.
    pub fn begin_to_verify(&self) {
        if !self.whole.begin() {
            return;
        }
        let (store, whole) = (self.clone(), self.whole.clone());
        let told = whole.clone();
        let walk = tokio::spawn(async move {
            let mut tell = move |Progress { done, of }| told.set(Verifying::Under { done, of });
            let found = store.verify(None, &mut tell).await?;
            let at = store.now().await.ok();
            Ok::<_, Error>(Verifying::Over { at, found })
        });
        tokio::spawn(async move {
            let failed = |why| Verifying::Failed { why };
            whole.set(match walk.await {
                Ok(Ok(over)) => over,
                Ok(Err(error)) => failed(error.problem().detail),
                Err(panicked) => failed(panicked.to_string()),
            });
        });
    }
}
