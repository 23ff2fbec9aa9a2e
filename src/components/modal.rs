//! Opening a dialog above the page. The browser does that only for one that is in the document; after a client navigation
//! an effect runs while its element waits outside, until everything beside it has been read.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use leptos::{html, prelude::*, web_sys::HtmlDialogElement};

use super::browser::OrSay as _;

/// Opens the dialog as soon as it is in the document, each time it is made.
pub fn open_when_made(dialog: NodeRef<html::Dialog>) {
    Effect::new(move || {
        let Some(dialog) = dialog.get() else { return };
        let wanted = Arc::new(AtomicBool::new(true));
        let gone = wanted.clone();
        on_cleanup(move || gone.store(false, Ordering::Relaxed));
        open_when_there(dialog, wanted);
    });
}

fn open_when_there(dialog: HtmlDialogElement, wanted: Arc<AtomicBool>) {
    if dialog.is_connected() {
        open(&dialog);
    } else if wanted.load(Ordering::Relaxed) {
        request_animation_frame(move || open_when_there(dialog, wanted));
    }
}

/// Above all else; where the browser will not have that, at least visible.
pub fn open(dialog: &HtmlDialogElement) {
    // Rendered open for readers without WASM; only `show_modal` puts it above the rest, and it wants a closed one.
    dialog.remove_attribute("open").or_say("close a dialog");
    if dialog.show_modal().or_say("open a dialog").is_none() {
        dialog.set_attribute("open", "").or_say("show a dialog");
    }
}
