//! A question above the page. It is part of the URL, so it opens without WASM too; with WASM it is modal.

use leptos::{ev, html, prelude::*};
use leptos_router::hooks::use_navigate;

#[component]
pub fn Dialog(
    #[prop(into)] title: String,
    /// Where "Back" and Esc lead.
    back: &'static str,
    children: Children,
) -> impl IntoView {
    let dialog = NodeRef::<html::Dialog>::new();
    let navigate = use_navigate();
    Effect::new(move || {
        if let Some(dialog) = dialog.get() {
            // Rendered open for readers without WASM; only `show_modal` puts it above the rest.
            let _ = dialog.remove_attribute("open");
            let _ = dialog.show_modal();
        }
    });
    let cancel = move |event: ev::Event| {
        event.prevent_default();
        navigate(back, Default::default());
    };
    view! {
        <dialog node_ref=dialog open class="sheet dialog" aria-labelledby="dialog-title" on:cancel=cancel>
            <h2 id="dialog-title">{title}</h2>
            {children()}
        </dialog>
    }
    .into_any()
}
