//! The sheet that `?` opens: every key there is, and a switch to turn them off.

use leptos::{html, prelude::*};

use super::keyboard::Keys;

const KEYS: [(&str, &str); 7] = [
    ("/", "search"),
    ("j", "next row"),
    ("k", "previous row"),
    ("Enter", "open the row"),
    ("g r", "go to all runs"),
    ("?", "this sheet"),
    ("Esc", "close, or leave the search box"),
];

#[component]
pub fn Help() -> impl IntoView {
    let dialog = NodeRef::<html::Dialog>::new();
    let keys = expect_context::<Keys>();
    Effect::new(move || {
        if let (true, Some(sheet)) = (keys.help.get(), dialog.get()) {
            if !sheet.open() {
                let _ = sheet.show_modal();
            }
            keys.help.set(false);
        }
    });
    let rows = KEYS.map(|(key, does)| {
        view! {
            <div class="help-row">
                <dt>{key.split(' ').map(|part| view! { <kbd>{part}</kbd> }).collect_view()}</dt>
                <dd>{does}</dd>
            </div>
        }
    });
    view! {
        <dialog node_ref=dialog id="help" class="sheet" aria-labelledby="help-title">
            <h2 id="help-title">"Keyboard"</h2>
            <dl class="help-keys">{rows.collect_view()}</dl>
            <label class="switch">
                <input
                    type="checkbox"
                    prop:checked=move || keys.on.get()
                    on:change=move |event| keys.turn(event_target_checked(&event))
                />
                "Single keys are on"
            </label>
            <form method="dialog" class="sheet-foot">
                <button class="button">"Close"</button>
            </form>
        </dialog>
    }
    .into_any()
}
