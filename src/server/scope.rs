//! One request, one reactive scope.
//!
//! Leptos finds signals and contexts by two marks on the current thread: the owner and its arena. A page sets them when it begins
//! and lets them stand; what it evaluates after an await (its title and other metadata) then meets the marks of whatever ran
//! on that thread since, perhaps another reader's page. Here the marks are set whenever a request goes on and taken
//! back whenever it waits, so no request finds those of another.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{Arc, OnceLock},
};

use axum::{extract::Request, middleware::Next, response::Response};
use leptos::reactive::owner::{Owner, WeakOwner};

/// Where a page leaves its owner. Weak, because the page's own context holds the request, and with it this.
#[derive(Clone, Default)]
pub struct Scope(Arc<OnceLock<WeakOwner>>);

impl Scope {
    /// The current owner is the page's: from here on the request goes on under it.
    pub fn enter(&self) {
        if let Some(owner) = Owner::current() {
            self.0.get_or_init(|| owner.downgrade());
        }
    }

    /// Does `work` under the page's owner or, before there is one, under an empty one.
    pub async fn run<T>(&self, work: impl Future<Output = T>) -> T {
        let nobody = Owner::default();
        let mut work = pin!(work);
        poll_fn(|context| {
            let page = self.0.get().and_then(WeakOwner::upgrade);
            let owner = page.as_ref().unwrap_or(&nobody);
            owner.with(|| work.as_mut().poll(context))
        })
        .await
    }
}

/// A layer around everything that renders pages or runs server functions.
pub async fn alone(mut request: Request, next: Next) -> Response {
    let scope = Scope::default();
    request.extensions_mut().insert(scope.clone());
    scope.run(next.run(request)).await
}
