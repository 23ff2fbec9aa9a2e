//! Opening a dialog above the page. The browser does that only for one that is in the document.

use leptos::{html, prelude::*, web_sys::HtmlDialogElement};

use super::{browser::OrSay as _, connected::when_connected};

/// Opens the dialog as soon as it is in the document, each time it is made.
pub fn open_when_made(dialog: NodeRef<html::Dialog>) {
    Effect::new(move || {
        if let Some(dialog) = dialog.get() {
            when_connected(dialog, |dialog| open(&dialog));
        }
    });
}

/// Opens the dialog as modal, or plainly where the browser refuses that.
pub fn open(dialog: &HtmlDialogElement) {
    // Rendered open for readers without WASM; only `show_modal` puts it above the rest, and it wants a closed one.
    dialog.remove_attribute("open").or_say("close a dialog");
    if dialog.show_modal().or_say("open a dialog").is_none() {
        dialog.set_attribute("open", "").or_say("show a dialog");
    }
}
