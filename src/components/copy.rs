//! A secret or a link that is shown once, and a button that copies it.

use leptos::{html, prelude::*};

use super::{clipboard, toast::Toasts};

/// The text in a field that selects itself; the button comes with WASM.
#[component]
pub fn CopyField(label: &'static str, text: String) -> impl IntoView {
    let field = NodeRef::<html::Input>::new();
    let toasts = expect_context::<Toasts>();
    let ready = RwSignal::new(false);
    let copied = RwSignal::new(false);
    Effect::new(move || ready.set(true));
    let copy = move |_| {
        if let Some(field) = field.get() {
            field.select();
            // Where the browser refuses, the text stays selected for Ctrl+C.
            clipboard::copy(toasts, "it", &field.value(), move || copied.set(true));
        }
    };
    view! {
        <div class="copy">
            <input
                node_ref=field
                type="text"
                class="input mono"
                readonly
                aria-label=label
                value=text
                on:focus=move |_| {
                    if let Some(field) = field.get() {
                        field.select();
                    }
                }
            />
            <Show when=move || ready.get()>
                <button type="button" class="button" on:click=copy>
                    {move || if copied.get() { "Copied" } else { "Copy" }}
                </button>
            </Show>
        </div>
    }
    .into_any()
}
