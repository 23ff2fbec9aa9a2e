//! The line below the bar that says why nothing can be saved, for as long as that is so.

use leptos::{prelude::*, task::spawn_local};
use std::time::Duration;

use super::browser::every;
use crate::{api, domain::Trouble};

/// While there is trouble, the page also asks this often: its stream may be lost.
const LOOK_EVERY: Duration = Duration::from_secs(5);

#[component]
pub fn TroubleBanner(
    trouble: Signal<Option<Trouble>>,
    /// What the page heard last; it looks again for as long as that is trouble.
    heard: RwSignal<Option<Option<Trouble>>>,
) -> impl IntoView {
    Effect::new(move || {
        if trouble.get().is_none() {
            return;
        }
        every(LOOK_EVERY, move || look(heard));
    });
    let banner = move || {
        let words = trouble.get()?.banner();
        Some(view! { <p class="trouble" role="alert">{words}</p> })
    };
    view! { {banner} }.into_any()
}

/// Tells only what is new: an alert that is drawn again is read out again.
fn look(heard: RwSignal<Option<Option<Trouble>>>) {
    spawn_local(async move {
        if let Ok(trouble) = api::session::trouble().await
            && heard.get_untracked() != Some(trouble)
        {
            heard.set(Some(trouble));
        }
    });
}
