//! The focus is never lost: what has it may go away (a dialog that closes, a form that was sent), and someone who works with the
//! keyboard must not be thrown to the top of the page.

use leptos::{
    ev,
    prelude::*,
    wasm_bindgen::{JsCast as _, closure::Closure},
    web_sys::{self, FocusOptions, HtmlElement, MutationObserver, MutationObserverInit},
};

use super::browser::OrSay as _;

/// Where the focus was, and where it goes on if that is gone: the nearest place that stays.
#[derive(Clone, Default)]
struct Last {
    now: Option<HtmlElement>,
    /// What had the focus on the page itself, below any dialog.
    below: Option<HtmlElement>,
    /// The place around what has the focus that outlives it (`data-home`).
    home: Option<HtmlElement>,
}

/// Watches over the focus as long as the page is shown.
pub fn keep() {
    let last = StoredValue::new_local(Last::default());
    let note = move |element: HtmlElement| {
        last.update_value(|last| {
            last.home = around(&element, "[data-home]");
            if around(&element, "dialog").is_none() {
                last.below = Some(element.clone());
            }
            last.now = Some(element);
        });
    };
    // A dialog that came with the page had the focus before anyone listened.
    if let Some(element) = focused().filter(|_| !nothing_has_it()) {
        note(element);
    }
    let took = window_event_listener(ev::focusin, move |event| {
        if let Some(element) = event.target().and_then(|it| it.dyn_into().ok()) {
            note(element);
        }
    });
    // Esc in a field takes the focus away on purpose: it is not put back.
    let left = window_event_listener(ev::focusout, move |event| {
        let nowhere = event.related_target().is_none();
        let left = event.target().and_then(|it| it.dyn_into().ok());
        if let Some(left) = left.filter(|_| nowhere) {
            last.update_value(|last| {
                if last.below.as_ref() == Some(&left) {
                    last.below = None;
                }
            });
        }
    });
    let changed = Closure::<dyn Fn()>::new(move || {
        let gone = |last: &Last| last.now.as_ref().is_some_and(|it| !it.is_connected());
        if let Some(last) = last.try_get_value().filter(gone)
            && nothing_has_it()
        {
            go_on(last);
        }
    });
    let observer = MutationObserver::new(changed.as_ref().unchecked_ref()).or_say("watch the page");
    if let (Some(observer), Some(body)) = (&observer, document().body()) {
        let all = MutationObserverInit::new();
        all.set_child_list(true);
        all.set_subtree(true);
        observer
            .observe_with_options(&body, &all)
            .or_say("watch the page");
    }
    // The observer calls the closure, so both live until the page is gone.
    let kept = StoredValue::new_local((observer, changed));
    on_cleanup(move || {
        took.remove();
        left.remove();
        kept.try_with_value(|(observer, _)| {
            if let Some(observer) = observer {
                observer.disconnect();
            }
        });
    });
}

fn nothing_has_it() -> bool {
    document()
        .active_element()
        .is_none_or(|it| it.tag_name() == "BODY")
}

fn go_on(last: Last) {
    let main = document().get_element_by_id("main");
    let main = main.and_then(|it| it.dyn_into().ok());
    let stays = [last.home, last.below, main];
    if let Some(place) = stays.into_iter().flatten().find(|it| it.is_connected()) {
        focus_in_place(&place);
    }
}

fn around(element: &HtmlElement, selector: &str) -> Option<HtmlElement> {
    let found = element
        .closest(selector)
        .or_say("look around an element")
        .flatten();
    found.and_then(|it| it.dyn_into().ok())
}

/// What has the focus.
pub fn focused() -> Option<HtmlElement> {
    document().active_element()?.dyn_into().ok()
}

/// Focuses without scrolling.
pub fn focus_in_place(element: &HtmlElement) {
    let options = FocusOptions::new();
    options.set_prevent_scroll(true);
    element
        .focus_with_options(&options)
        .or_say("focus an element");
}

/// Presses what a single key stands for (`data-key`): where the focus is, else in the open dialog, else on the page. What is
/// open already stays open.
pub fn press_marked(key: &str) -> bool {
    let around = focused().and_then(|it| it.closest("fieldset").or_say("look around").flatten());
    let page = || document().body().map(web_sys::Element::from);
    let found = around
        .and_then(|place| marked(&place, key))
        .or_else(|| marked(&open_dialog().or_else(page)?, key));
    if let Some(it) = &found
        && !it.matches("details[open] > summary").unwrap_or_default()
    {
        it.click();
    }
    found.is_some()
}

fn marked(place: &web_sys::Element, key: &str) -> Option<HtmlElement> {
    let all = place
        .query_selector_all("[data-key]")
        .or_say("look for keys")?;
    (0..all.length())
        .filter_map(|n| all.get(n)?.dyn_into::<HtmlElement>().ok())
        .find(|it| it.offset_height() > 0 && it.get_attribute("data-key").as_deref() == Some(key))
}

/// Focuses the first element that fits.
pub fn focus_first(selector: &str) {
    let found = document()
        .query_selector(selector)
        .or_say("look for an element")
        .flatten();
    if let Some(element) = found.and_then(|it| it.dyn_into::<HtmlElement>().ok()) {
        element.focus().or_say("focus an element");
    }
}

/// Does `change`, which may make the fields of a form anew, and lets the caret stay in the field of the same name.
pub fn keep_field(change: impl FnOnce()) {
    let held = focused().filter(|it| it.has_attribute("name"));
    change();
    let Some(held) = held else { return };
    request_animation_frame(move || {
        if held.is_connected() {
            return;
        }
        let part = |name: &str| {
            let value = held.get_attribute(name);
            value.map_or(String::new(), |value| format!("[{name}=\"{value}\"]"))
        };
        // Several choices have one name, and each a value.
        let fields = all::<HtmlElement>(&format!("{}{}", part("name"), part("value")));
        if let Some(field) = fields.first() {
            focus_in_place(field);
        }
    });
}

/// Focuses the element of this id, or the first field or button in it: what was pointed to is in view.
pub fn enter(id: &str) {
    let Some(place) = document().get_element_by_id(id) else {
        return;
    };
    let fields = "input, textarea, select, button";
    let is_field = place.matches(fields).or_say("look at an element") == Some(true);
    let inside = || {
        place
            .query_selector(fields)
            .or_say("look for a field")
            .flatten()
    };
    let found = if is_field { None } else { inside() };
    if let Ok(element) = found.unwrap_or(place).dyn_into::<HtmlElement>() {
        element.focus().or_say("focus a field");
    }
}

/// Moves the focus among the rows; from elsewhere to the first one.
pub fn move_among_rows(by: i32) {
    let rows = all::<HtmlElement>("[data-row]");
    let current = focused().and_then(|it| rows.iter().position(|row| *row == it));
    let next = match current {
        Some(index) => (index as i32 + by).clamp(0, rows.len() as i32 - 1) as usize,
        None => 0,
    };
    if let Some(row) = rows.get(next) {
        row.focus().or_say("focus a row");
    }
}

/// All elements that fit, in the order of the page.
pub fn all<E: leptos::wasm_bindgen::JsCast>(selector: &str) -> Vec<E> {
    let Some(found) = document()
        .query_selector_all(selector)
        .or_say("look for elements")
    else {
        return Vec::new();
    };
    let one = |index| found.get(index)?.dyn_into::<E>().ok();
    (0..found.length()).filter_map(one).collect()
}

/// The dialog that lies above the page.
pub fn open_dialog() -> Option<web_sys::Element> {
    document()
        .query_selector("dialog[open]")
        .or_say("look for a dialog")
        .flatten()
}
