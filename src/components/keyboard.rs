//! Single keys: search, rows, pages, help. They never fire while someone types, and can be turned off.

use leptos::{ev, prelude::*, wasm_bindgen::JsCast as _, web_sys};
use leptos_router::hooks::use_navigate;

use super::{
    browser::OrSay as _,
    digits,
    focus::{self, focus_first, focused, move_among_rows, open_dialog},
    preference,
    top_bar::Section,
};

/// Whether single keys are on, and who asked for the help sheet or the palette.
#[derive(Clone, Copy)]
pub struct Keys {
    pub on: RwSignal<bool>,
    pub help: RwSignal<bool>,
    pub palette: RwSignal<bool>,
    /// `g` was pressed: the next key names a page, and is nothing else.
    after_g: StoredValue<bool>,
    /// The page's own `j` and `k` select steps.
    steps: StoredValue<bool>,
}

impl Keys {
    pub fn provide() {
        let keys = Self {
            on: RwSignal::new(true),
            help: RwSignal::new(false),
            palette: RwSignal::new(false),
            after_g: StoredValue::new(false),
            steps: StoredValue::new(false),
        };
        provide_context(keys);
        Effect::new(move || {
            keys.on
                .set(preference::read("keys").as_deref() != Some("off"));
        });
    }

    /// The single key that was pressed, unless someone types, a dialog is open, single keys are off, or it meant something
    /// else already.
    pub fn single(self, event: &ev::KeyboardEvent) -> Option<String> {
        let taken = event.default_prevented() || self.after_g.get_value();
        let busy = chord(event) || typing(event) || open_dialog().is_some();
        (!taken && !busy && self.on.get_untracked()).then(|| event.key())
    }

    /// Leaves `j` and `k` to the calling page as long as it is shown.
    pub fn leave_rows(self) {
        self.steps.set_value(true);
        on_cleanup(move || {
            self.steps.try_set_value(false);
        });
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
        focus::keep();
        let navigate = navigate.clone();
        let pressed = window_event_listener(ev::keydown, move |event| {
            let key = event.key();
            if (event.ctrl_key() || event.meta_key()) && key == "k" && open_dialog().is_none() {
                event.prevent_default();
                return keys.palette.set(true);
            }
            if chord(&event) {
                return;
            }
            if typing(&event) {
                if key == "Escape" {
                    leave_field();
                }
                return;
            }
            if key == "Escape" {
                close_menu();
            }
            if !keys.on.get_untracked() || event.default_prevented() {
                return;
            }
            if open_dialog().is_some() {
                if digits::choose(&key) || focus::press_marked(&key) {
                    event.prevent_default();
                }
                return;
            }
            let went = keys.after_g.get_value();
            keys.after_g.set_value(key == "g" && !went);
            let section = Section::ALL.into_iter().find(|it| went && it.key() == key);
            match (section, key.as_str()) {
                (Some(section), _) => navigate(section.href(), Default::default()),
                (_, "/") => focus_first("#search"),
                // On a run's page they select steps.
                (_, "j") if !keys.steps.get_value() => move_among_rows(1),
                (_, "k") if !keys.steps.get_value() => move_among_rows(-1),
                (_, "?") => keys.help.set(true),
                (_, key) if digits::choose(key) || focus::press_marked(key) => {}
                _ => return,
            }
            event.prevent_default();
        });
        let clicked = window_event_listener(ev::click, move |event| {
            let target = event
                .target()
                .and_then(|it| it.dyn_into::<web_sys::Element>().ok());
            let asks = |it: web_sys::Element| {
                it.closest("[data-opens-help]")
                    .or_say("look around a click")
                    .flatten()
            };
            let inside = target.as_ref().and_then(|it| {
                it.closest(".account, .more > summary")
                    .or_say("look around a click")
                    .flatten()
            });
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

fn chord(event: &ev::KeyboardEvent) -> bool {
    event.ctrl_key() || event.meta_key() || event.alt_key() || event.is_composing()
}

/// Inputs that take no text: keys mean the same on them as on the page.
const NO_TEXT: [&str; 8] = [
    "button", "checkbox", "color", "file", "radio", "range", "reset", "submit",
];

/// The key goes into a field for text.
fn typing(event: &ev::KeyboardEvent) -> bool {
    let target = event
        .target()
        .and_then(|it| it.dyn_into::<web_sys::HtmlElement>().ok());
    target.is_some_and(|it| {
        it.is_content_editable()
            || matches!(it.tag_name().as_str(), "TEXTAREA" | "SELECT")
            || it
                .dyn_into::<web_sys::HtmlInputElement>()
                .is_ok_and(|it| !NO_TEXT.contains(&it.type_().as_str()))
    })
}

/// For the keys of a form: whether it is sent now. Ctrl or Cmd with Enter sends; Enter alone, in a line of text, does nothing:
/// a decision is not sent by a key that ends a line.
pub fn sends(event: &ev::KeyboardEvent) -> bool {
    if event.key() != "Enter" || event.is_composing() {
        return false;
    }
    if event.ctrl_key() || event.meta_key() {
        event.prevent_default();
        event.stop_propagation();
        return true;
    }
    let line = event
        .target()
        .and_then(|it| it.dyn_into::<web_sys::HtmlInputElement>().ok())
        .is_some_and(|it| !matches!(it.type_().as_str(), "submit" | "button" | "reset"));
    if line {
        event.prevent_default();
    }
    false
}

/// The keys of a form that is sent by its own `submit`.
pub fn send_form(event: ev::KeyboardEvent) {
    if !sends(&event) {
        return;
    }
    let form = event
        .current_target()
        .and_then(|it| it.dyn_into::<web_sys::HtmlFormElement>().ok());
    if let Some(form) = form {
        form.request_submit().or_say("send a form");
    }
}

fn close_menu() {
    let open = document().query_selector(":is(.account, .more)[open]");
    if let Some(menu) = open.or_say("look for a menu").flatten() {
        menu.remove_attribute("open").or_say("close a menu");
        // The focus must not stay inside a menu that is closed.
        let inside = focused().is_some_and(|it| menu.contains(Some(it.as_ref())));
        let summary = menu
            .query_selector("summary")
            .or_say("look into a menu")
            .flatten();
        if let Some(summary) = summary.filter(|_| inside)
            && let Ok(summary) = summary.dyn_into()
        {
            focus::focus_in_place(&summary);
        }
    }
}

fn leave_field() {
    if let Some(field) = focused() {
        field.blur().or_say("leave a field");
    }
}
