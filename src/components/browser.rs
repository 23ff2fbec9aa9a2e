//! What the browser refuses is said in its console, with what was tried: a call that fails in silence is a button that does nothing.

use std::time::Duration;

use leptos::{logging, prelude::*, wasm_bindgen::JsValue};

pub trait OrSay<T> {
    /// The result, or nothing and a line in the console.
    fn or_say(self, tried: &str) -> Option<T>;
}

impl<T> OrSay<T> for Result<T, JsValue> {
    fn or_say(self, tried: &str) -> Option<T> {
        self.inspect_err(|why| logging::error!("{tried}: {why:?}"))
            .ok()
    }
}

/// Does `work` each time that `pause` is over, until the component or effect that asked for it is gone.
pub fn every(pause: Duration, work: impl Fn() + 'static) {
    let handle = set_interval_with_handle(work, pause).or_say("set a timer");
    on_cleanup(move || {
        if let Some(handle) = handle {
            handle.clear();
        }
    });
}
