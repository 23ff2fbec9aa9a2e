//! Short news of what was done: said politely to screen readers, gone by itself. News is about a page: who goes on to another
//! one leaves it behind.

use std::time::Duration;

use leptos::{leptos_dom::helpers::TimeoutHandle, prelude::*};
use leptos_router::hooks::use_location;

use super::browser::OrSay as _;

/// How long news stays, also after someone pointed at it.
const STAYS: Duration = Duration::from_secs(6);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Toast {
    id: u64,
    news: String,
    /// The path of the page that it belongs to; without one, of the page where it was said.
    at: Option<String>,
}

/// Where news is handed in, provided once by the app.
#[derive(Clone, Copy)]
pub struct Toasts {
    shown: RwSignal<Vec<Toast>>,
    said: StoredValue<u64>,
}

impl Toasts {
    pub fn provide() {
        provide_context(Self {
            shown: RwSignal::new(Vec::new()),
            said: StoredValue::new(0),
        });
    }

    /// Says it on the page where the reader is.
    pub fn say(self, news: impl Into<String>) {
        self.show(None, news.into());
    }

    /// Says it on the page of this path, to which the reader is led now.
    pub fn say_at(self, path: &str, news: impl Into<String>) {
        self.show(Some(path.to_owned()), news.into());
    }

    fn show(self, at: Option<String>, news: String) {
        let id = self.said.try_update_value(|said| {
            *said += 1;
            *said
        });
        let id = id.unwrap_or_default();
        self.shown.update(|all| all.push(Toast { id, news, at }));
    }

    fn dismiss(self, id: u64) {
        self.shown.try_update(|all| all.retain(|it| it.id != id));
    }

    /// The reader went on to this page: what belongs to others goes.
    fn went_to(self, path: &str) {
        let stays = |it: &Toast| it.at.as_deref() == Some(path);
        if !self.shown.with_untracked(|all| all.iter().all(stays)) {
            self.shown.update(|all| all.retain(stays));
        }
    }
}

/// The corner where news shows up.
#[component]
pub fn Toaster() -> impl IntoView {
    let toasts = expect_context::<Toasts>();
    let path = use_location().pathname;
    Effect::new(move |before: Option<String>| {
        let path = path.get();
        if before.is_some_and(|it| it != path) {
            toasts.went_to(&path);
        }
        path
    });
    view! {
        <div class="toasts" aria-live="polite">
            <For each=move || toasts.shown.get() key=|it| it.id let(toast)>
                <OneToast toast toasts/>
            </For>
        </div>
    }
    .into_any()
}

/// News that goes by itself, but not while someone points at it or has the focus on it.
#[component]
fn OneToast(toast: Toast, toasts: Toasts) -> impl IntoView {
    let id = toast.id;
    let going = StoredValue::new(None::<TimeoutHandle>);
    // Someone may point at it before it has begun to go.
    let held = StoredValue::new(false);
    let stop = move || {
        if let Some(handle) = going.try_update_value(Option::take).flatten() {
            handle.clear();
        }
    };
    let gone = move || {
        if held.try_get_value() == Some(false) {
            toasts.dismiss(id);
        }
    };
    let go = move || {
        stop();
        going.set_value(set_timeout_with_handle(gone, STAYS).or_say("let news go"));
    };
    let hold = move || {
        held.set_value(true);
        stop();
    };
    let let_go = move || {
        held.set_value(false);
        go();
    };
    Effect::new(go);
    on_cleanup(stop);
    view! {
        <div class="toast" on:pointerenter=move |_| hold() on:pointerleave=move |_| let_go()
            on:focusin=move |_| hold() on:focusout=move |_| let_go()>
            <p>{toast.news}</p>
            <button type="button" class="toast-close" aria-label="Dismiss" on:click=move |_| toasts.dismiss(id)>
                "×"
            </button>
        </div>
    }
    .into_any()
}
