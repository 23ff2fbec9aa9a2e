//! A question above the page. It is part of the URL, so it opens without WASM too; with WASM it is modal.

use leptos::{ev, html, prelude::*};
use leptos_router::{NavigateOptions, hooks::use_navigate};

use super::modal;

#[component]
pub fn Dialog(
    /// Without it, the dialog's content has a title with the id `labelled`.
    #[prop(into, optional)]
    title: Option<String>,
    #[prop(default = "dialog-title")] labelled: &'static str,
    /// Where "Back" and Esc lead.
    #[prop(into)]
    back: String,
    #[prop(default = "sheet dialog")] class: &'static str,
    children: Children,
) -> impl IntoView {
    let dialog = NodeRef::<html::Dialog>::new();
    let navigate = use_navigate();
    modal::open_when_made(dialog);
    let cancel = move |event: ev::Event| {
        event.prevent_default();
        let options = NavigateOptions {
            scroll: false,
            ..NavigateOptions::default()
        };
        navigate(&back, options);
    };
    view! {
        <dialog node_ref=dialog open class=class aria-labelledby=labelled on:cancel=cancel>
            {title.map(|title| view! { <h2 id="dialog-title">{title}</h2> })}
            {children()}
        </dialog>
    }
    .into_any()
}
