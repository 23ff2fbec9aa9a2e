//! What the browser refuses is said in its console, with what was tried: a call that fails in silence is a button that does nothing.

use leptos::{logging, wasm_bindgen::JsValue};

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
