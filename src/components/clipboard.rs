//! Copying, and saying so when the browser will not: it keeps the clipboard from pages that came without TLS, from tabs in the
//! background and from readers who said no.

#[cfg(feature = "hydrate")]
use leptos::prelude::*;

use super::toast::Toasts;

/// Copies `text`, then does `copied`; if that fails, says that `what` could not be copied.
#[cfg(feature = "hydrate")]
pub fn copy(toasts: Toasts, what: &'static str, text: &str, copied: impl FnOnce() + 'static) {
    use super::browser::OrSay as _;

    if !window().is_secure_context() {
        toasts.say("Browsers let pages copy only over HTTPS or on this machine");
        return;
    }
    let writing = window().navigator().clipboard().write_text(text);
    leptos::task::spawn_local(async move {
        let written = wasm_bindgen_futures::JsFuture::from(writing).await;
        match written.or_say("write to the clipboard") {
            Some(_) => copied(),
            None => toasts.say(format!("Could not copy {what}: the browser refused it")),
        }
    });
}

#[cfg(not(feature = "hydrate"))]
pub fn copy(_: Toasts, _: &'static str, _: &str, _: impl FnOnce() + 'static) {}
