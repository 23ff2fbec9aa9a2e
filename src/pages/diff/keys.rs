//! `[` and `]`: from one change to the previous and the next, and on to the next page of them.

use leptos::{ev, prelude::*, wasm_bindgen::JsCast as _, web_sys};

use crate::components::{browser::OrSay as _, focus, keyboard::Keys};

#[component]
pub fn DiffKeys() -> impl IntoView {
    let keys = expect_context::<Keys>();
    Effect::new(move || {
        let pressed = window_event_listener(ev::keydown, move |event| {
            let step = match keys.single(&event).as_deref() {
                Some("]") => 1,
                Some("[") => -1,
                _ => return,
            };
            event.prevent_default();
            go(step);
        });
        on_cleanup(move || pressed.remove());
    });
}

fn go(step: i32) {
    let names = focus::all::<web_sys::HtmlElement>("[data-change] .diff-name");
    let now = document().active_element().and_then(|it| {
        it.closest("[data-change]")
            .or_say("look for a change")
            .flatten()
    });
    let here = names.iter().position(|name| {
        let of = name
            .closest("[data-change]")
            .or_say("look for a change")
            .flatten();
        now.is_some() && of == now
    });
    let next = match (here, step) {
        (None, 1) => Some(0),
        (None, _) => names.len().checked_sub(1),
        (Some(at), 1) => Some(at + 1),
        (Some(at), _) => at.checked_sub(1),
    };
    match next.and_then(|next| names.get(next)) {
        Some(name) => {
            name.focus().or_say("focus a change");
        }
        None if step == 1 => {
            let further = document().query_selector(".pager [rel=next]");
            if let Some(link) = further
                .or_say("look for the next page")
                .flatten()
                .and_then(|it| it.dyn_into::<web_sys::HtmlElement>().ok())
            {
                link.click();
            }
        }
        None => {}
    }
}
