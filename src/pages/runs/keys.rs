//! Keys of the list of runs: `r` reviews the run whose row has the focus, as the button at the end of its row does.

use leptos::{ev, prelude::*, wasm_bindgen::JsCast as _, web_sys::HtmlElement};

use crate::components::{browser::OrSay as _, focus::focused, keyboard::Keys};

/// Listens as long as the list is shown.
#[component]
pub fn ListKeys() -> impl IntoView {
    let keys = expect_context::<Keys>();
    Effect::new(move || {
        let pressed = window_event_listener(ev::keydown, move |event| {
            if keys.single(&event).as_deref() == Some("r")
                && let Some(button) = review()
            {
                event.prevent_default();
                button.click();
            }
        });
        on_cleanup(move || pressed.remove());
    });
}

fn review() -> Option<HtmlElement> {
    let row = focused()?
        .closest(".run-row")
        .or_say("look for a row")
        .flatten()?;
    let button = row
        .query_selector(".cell-action a")
        .or_say("look for a button")
        .flatten()?;
    button.dyn_into().ok()
}
