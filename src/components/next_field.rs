//! On to the field that is to be filled next: after a choice by the mouse at once, and by Ctrl or Cmd with Enter where something is
//! missing. A finger or a key on a choice moves nothing: who walks through the choices must stay among them.

use std::collections::BTreeSet;

use leptos::{
    ev,
    prelude::*,
    wasm_bindgen::JsCast as _,
    web_sys::{Element, Event, HtmlElement, HtmlInputElement, NodeList, PointerEvent},
};

use super::{browser::OrSay as _, keyboard};

/// For clicks on a choice: where the mouse made the last one, the caret stands in the field that belongs to it, or in the reason.
pub fn after_choice(event: &ev::MouseEvent) {
    let by_mouse = event
        .dyn_ref::<PointerEvent>()
        .is_some_and(|it| it.pointer_type() == "mouse");
    let (Some(place), Some(form)) = (around(event, "fieldset"), around(event, "form")) else {
        return;
    };
    if by_mouse {
        // The field of the choice is shown by then.
        request_animation_frame(move || {
            let own = || shown(&place, "textarea");
            let next = || open(&form).is_none().then(|| shown(&form, REASON))?;
            go(own().or_else(next));
        });
    }
}

const REASON: &str = "[name=reason]";

/// For the keys of a form that is not complete: Ctrl or Cmd with Enter goes to the first thing that is missing.
pub fn send_or_go(event: &ev::KeyboardEvent, complete: bool, send: impl FnOnce()) {
    if !keyboard::sends(event) {
        return;
    }
    match complete {
        true => send(),
        false => to_missing_around(event),
    }
}

/// The same in the form around what the key was pressed in.
pub fn to_missing_around(event: &Event) {
    if let Some(form) = around(event, "form") {
        to_missing(&form);
    }
}

/// The first choice that is open, the reason, or what is typed wrong.
pub fn to_missing(form: &Element) {
    let reason = shown(form, REASON).filter(|it| {
        let field = it.dyn_ref::<HtmlInputElement>();
        field.is_some_and(|it| it.value().trim().is_empty())
    });
    go(open(form).or(reason).or_else(|| shown(form, "textarea")));
}

fn around(event: &Event, selector: &str) -> Option<Element> {
    let target = event.target()?.dyn_into::<Element>().ok()?;
    target.closest(selector).or_say("look for a form").flatten()
}

fn shown(place: &Element, selector: &str) -> Option<HtmlElement> {
    let found = place
        .query_selector(selector)
        .or_say("look for a field")
        .flatten()?;
    let found = found.dyn_into::<HtmlElement>().ok()?;
    (found.offset_height() > 0).then_some(found)
}

/// The first choice that nobody made yet: of several ways none, or a box without its tick.
fn open(form: &Element) -> Option<HtmlElement> {
    let all = form
        .query_selector_all("input[data-choice]")
        .or_say("look for choices")?;
    let ways = |of: &HtmlInputElement| match of.type_().as_str() {
        "checkbox" => of.value(),
        _ => of.name(),
    };
    let made: BTreeSet<String> = inputs(&all)
        .filter(HtmlInputElement::checked)
        .map(|it| ways(&it))
        .collect();
    let open = inputs(&all).find(|it| !made.contains(&ways(it)));
    open.map(HtmlElement::from)
}

fn inputs(all: &NodeList) -> impl Iterator<Item = HtmlInputElement> {
    (0..all.length()).filter_map(|n| all.get(n)?.dyn_into().ok())
}

fn go(to: Option<HtmlElement>) {
    if let Some(to) = to {
        to.focus().or_say("focus a field");
    }
}
