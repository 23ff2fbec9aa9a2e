//! `1`–`9` choose among what is offered: in the inbox, at a gate, in a plan. They never send.

use leptos::{
    wasm_bindgen::JsCast as _,
    web_sys::{Element, HtmlElement},
};

use super::{
    browser::OrSay as _,
    focus::{all, focus_in_place, focused, open_dialog},
};

/// What belongs together: one question, one plan.
const TOGETHER: &str = ".question, .plan, form";
/// One choice to make.
const CHOICE: &str = "fieldset:has([data-choice])";

/// Chooses the n-th offer where the focus is; from elsewhere, in the first choice that is still open.
pub fn choose(key: &str) -> bool {
    if key.len() != 1 || !matches!(key.as_bytes()[0], b'1'..=b'9') {
        return false;
    }
    let around = |selector| {
        focused().and_then(|it| it.closest(selector).or_say("look for a choice").flatten())
    };
    let inside = |place: &Element, it: &Element| place.contains(Some(it.as_ref()));
    let here = around(CHOICE).or_else(|| {
        let together = around(TOGETHER);
        let dialog = open_dialog();
        let mut fits: Vec<Element> = all(CHOICE);
        fits.retain(|it| dialog.as_ref().is_none_or(|dialog| inside(dialog, it)));
        if let Some(together) = together.filter(|place| fits.iter().any(|it| inside(place, it))) {
            fits.retain(|it| inside(&together, it));
        }
        let open = |it: &&Element| {
            it.query_selector(":checked")
                .or_say("look for a choice")
                .is_some_and(|it| it.is_none())
        };
        let first = fits.first().cloned();
        fits.iter().find(open).cloned().or(first)
    });
    here.is_some_and(|place| click(&place, key))
}

fn click(place: &Element, digit: &str) -> bool {
    let offer = place
        .query_selector(&format!("input[data-choice='{digit}']"))
        .or_say("look for a choice")
        .flatten()
        .and_then(|it| it.dyn_into::<HtmlElement>().ok());
    let Some(offer) = offer else { return false };
    focus_in_place(&offer);
    offer.click();
    true
}
