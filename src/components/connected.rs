//! Work that needs an element in the document. After a client navigation an effect runs while its element waits outside, until
//! everything beside it has been read: there it has no size, does not scroll, and opens no dialog.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use leptos::{prelude::*, web_sys::Node};

/// Does `work` at once or as soon as the element is in the document; not at all if the current owner is cleaned up before.
pub fn when_connected<E>(element: E, work: impl FnOnce(E) + 'static)
where
    E: AsRef<Node> + 'static,
{
    let wanted = Arc::new(AtomicBool::new(true));
    let gone = wanted.clone();
    on_cleanup(move || gone.store(false, Ordering::Relaxed));
    wait(element, wanted, work);
}

fn wait<E>(element: E, wanted: Arc<AtomicBool>, work: impl FnOnce(E) + 'static)
where
    E: AsRef<Node> + 'static,
{
    if !wanted.load(Ordering::Relaxed) {
        return;
    }
    match element.as_ref().is_connected() {
        true => work(element),
        false => request_animation_frame(move || wait(element, wanted, work)),
    }
}
