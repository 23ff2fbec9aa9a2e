//! Single keys: search, rows, pages, help. They never fire while someone types, and can be turned off.

use leptos::{ev, prelude::*, wasm_bindgen::JsCast as _, web_sys};
use leptos_router::hooks::use_navigate;

use super::{browser::OrSay as _, frame::Section, preference};

/// Whether single keys are on, and who asked for the help sheet.
#[derive(Clone, Copy)]
pub struct Keys {
    pub on: RwSignal<bool>,
    pub help: RwSignal<bool>,
}

impl Keys {
    pub fn provide() {
        let keys = Self {
            on: RwSignal::new(true),
            help: RwSignal::new(false),
        };
        provide_context(keys);
        Effect::new(move || {
            keys.on
                .set(preference::read("keys").as_deref() != Some("off"));
        });
    }

    /// The single key that was pressed, unless someone types, a dialog is open, or single keys are off.
    pub fn single(self, event: &ev::KeyboardEvent) -> Option<String> {
        let chord = event.ctrl_key() || event.meta_key() || event.alt_key() || event.is_composing();
        let busy = chord || typing(event) || open_dialog() || !self.on.get_untracked();
        (!busy).then(|| event.key())
    }

    pub fn turn(self, on: bool) {
        self.on.set(on);
        preference::keep("keys", (!on).then_some("off"));
    }
}

/// Turns single keys off and on.
#[component]
pub fn KeysSwitch() -> impl IntoView {
    let keys = expect_context::<Keys>();
    view! {
        <label class="switch">
            <input
                type="checkbox"
                prop:checked=move || keys.on.get()
                on:change=move |event| keys.turn(event_target_checked(&event))
            />
            "Single keys are on"
        </label>
    }
    .into_any()
}

/// Listens as long as its page is shown.
#[component]
pub fn Keyboard() -> impl IntoView {
    let keys = expect_context::<Keys>();
    let navigate = use_navigate();
    Effect::new(move || {
        let navigate = navigate.clone();
        let after_g = StoredValue::new(false);
        let pressed = window_event_listener(ev::keydown, move |event| {
            if event.ctrl_key() || event.meta_key() || event.alt_key() || event.is_composing() {
                return;
            }
            let key = event.key();
            if typing(&event) {
                if key == "Escape" {
                    leave_field();
                }
                return;
            }
            if key == "Escape" {
                close_menu();
            }
            if !keys.on.get_untracked() || open_dialog() {
                return;
            }
            let went = after_g.get_value();
            after_g.set_value(key == "g");
            let section = Section::ALL.into_iter().find(|it| went && it.key() == key);
            match (section, key.as_str()) {
                (Some(section), _) => navigate(section.href(), Default::default()),
                (_, "/") => focus("#search"),
                (_, "j") => move_focus(1),
                (_, "k") => move_focus(-1),
                (_, "?") => keys.help.set(true),
                _ => return,
            }
            event.prevent_default();
        });
        let clicked = window_event_listener(ev::click, move |event| {
            let target = event
                .target()
                .and_then(|it| it.dyn_into::<web_sys::Element>().ok());
            let asks = |it: web_sys::Element| it.closest("[data-opens-help]").ok().flatten();
            let inside = target
                .as_ref()
                .and_then(|it| it.closest(".account, .more > summary").ok().flatten());
            let asks = target.and_then(asks).is_some();
            if asks || inside.is_none() {
                close_menu();
            }
            if asks {
                keys.help.set(true);
            }
        });
        on_cleanup(move || {
            pressed.remove();
            clicked.remove();
        });
    });
}

fn typing(event: &ev::KeyboardEvent) -> bool {
    let target = event
        .target()
        .and_then(|it| it.dyn_into::<web_sys::HtmlElement>().ok());
    target.is_some_and(|it| {
        it.is_content_editable()
            || matches!(it.tag_name().as_str(), "INPUT" | "TEXTAREA" | "SELECT")
    })
}

fn open_dialog() -> bool {
    document()
        .query_selector("dialog[open]")
        .is_ok_and(|found| found.is_some())
}

fn close_menu() {
    if let Ok(Some(menu)) = document().query_selector(":is(.account, .more)[open]") {
        menu.remove_attribute("open").or_say("close a menu");
    }
}

fn leave_field() {
    if let Some(field) = focused() {
        field.blur().or_say("leave a field");
    }
}

fn focused() -> Option<web_sys::HtmlElement> {
    document().active_element()?.dyn_into().ok()
}

fn focus(selector: &str) {
    let found = document().query_selector(selector).ok().flatten();
    if let Some(element) = found.and_then(|it| it.dyn_into::<web_sys::HtmlElement>().ok()) {
        element.focus().or_say("focus an element");
    }
}

/// Moves the focus among the rows; from elsewhere to the first one.
fn move_focus(by: i32) {
    let Ok(rows) = document().query_selector_all("[data-row]") else {
        return;
    };
    let rows: Vec<web_sys::HtmlElement> = (0..rows.length())
        .filter_map(|index| rows.get(index)?.dyn_into().ok())
        .collect();
    let current = focused().and_then(|it| rows.iter().position(|row| *row == it));
    let next = match current {
        Some(index) => (index as i32 + by).clamp(0, rows.len() as i32 - 1) as usize,
        None => 0,
    };
    if let Some(row) = rows.get(next) {
        row.focus().or_say("focus a row");
    }
}
