//! What a reader has chosen for this browser: kept in its local storage, which private windows may refuse.

use leptos::{prelude::*, web_sys};

use super::browser::OrSay as _;

fn storage() -> Option<web_sys::Storage> {
    window()
        .local_storage()
        .or_say("open what this browser keeps")
        .flatten()
}

pub fn read(name: &str) -> Option<String> {
    storage()?.get_item(name).or_say("read a choice").flatten()
}

/// Keeps a choice; `None` goes back to the default.
pub fn keep(name: &str, choice: Option<&str>) {
    if let Some(storage) = storage() {
        let kept = match choice {
            Some(choice) => storage.set_item(name, choice),
            None => storage.remove_item(name),
        };
        // The choice holds for this page; a storage that is full or refused only forgets it.
        kept.or_say("keep a choice");
    }
}
