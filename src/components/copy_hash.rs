//! A small button behind a hash that is shown in short: it copies all of it.

use leptos::prelude::*;

use super::{clipboard, toast::Toasts};

#[component]
pub fn CopyHash(#[prop(into)] hash: String) -> impl IntoView {
    let toasts = expect_context::<Toasts>();
    let title = hash.clone();
    let copy = move |_| {
        let copied = move || toasts.say("Copied the full hash");
        clipboard::copy(toasts, "the hash", &hash, copied);
    };
    view! {
        <button type="button" class="button quiet copy-hash" title=title aria-label="Copy the full hash" on:click=copy>"Copy"</button>
    }
    .into_any()
}
