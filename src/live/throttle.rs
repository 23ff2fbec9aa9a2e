//! Doing something once for all who ask within a pause. The pause grows with the number of pages that are open: hundreds
//! of them read for themselves no more often than a few would.

use std::time::Duration;

use leptos::{leptos_dom::helpers::set_timeout, prelude::*};

use super::Live;

/// Longest pause before a page that was told to read again does so.
const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Clone, Copy)]
pub struct Throttle {
    live: Live,
    due: StoredValue<bool>,
    pause: fn(Duration) -> Duration,
    longest: Duration,
    what: Callback<()>,
}

impl Throttle {
    /// Each time after this pause.
    pub fn after(live: Live, pause: Duration, what: impl Fn() + Send + Sync + 'static) -> Self {
        Self {
            live,
            due: StoredValue::new(false),
            pause: |longest| longest,
            longest: pause,
            what: Callback::new(move |()| what()),
        }
    }

    /// After a pause that differs from tab to tab: hundreds that are told to read again do not do so at once.
    pub fn patiently(live: Live, what: impl Fn() + Send + Sync + 'static) -> Self {
        Self {
            pause: |longest| longest.mul_f64(chance()),
            ..Self::after(live, PATIENCE, what)
        }
    }

    pub fn ask(self) {
        if self.due.try_get_value() != Some(false) {
            return;
        }
        self.due.set_value(true);
        let run = move || {
            if self.due.try_set_value(false).is_none() {
                self.what.run(());
            }
        };
        let crowd = self.live.crowd.get_value();
        set_timeout(run, (self.pause)(self.longest * crowd));
    }
}

#[cfg(feature = "hydrate")]
fn chance() -> f64 {
    web_sys::js_sys::Math::random()
}

#[cfg(not(feature = "hydrate"))]
fn chance() -> f64 {
    0.0
}
