//! Browser notifications when a run comes to need a person: only where they were asked for, also from a hidden tab.

use std::{collections::HashSet, time::Duration};

use leptos::{prelude::*, web_sys::Notification};

#[cfg(feature = "hydrate")]
use super::browser::OrSay as _;
use super::preference;
use crate::domain::{Run, views::words};

/// A hidden tab has no stream of events; this is how often one that notifies looks.
pub const LOOK_EVERY: Duration = Duration::from_secs(10);
/// More news at once become one notification.
const SINGLE_MAX: usize = 3;
/// What was told before is remembered up to these many.
const KNOWN_MAX: usize = 5_000;

/// Whether notifications were asked for, and whether the browser refuses them.
#[derive(Clone, Copy)]
pub struct Notify {
    on: RwSignal<bool>,
    blocked: RwSignal<bool>,
    /// What was found to need a person so far; absent before the first look.
    known: StoredValue<Option<HashSet<String>>>,
}

impl Notify {
    pub fn provide() -> Self {
        let notify = Self {
            on: RwSignal::new(false),
            blocked: RwSignal::new(false),
            known: StoredValue::new(None),
        };
        provide_context(notify);
        Effect::new(move || {
            let asked = preference::read("notify").as_deref() == Some("on");
            notify.on.set(asked && allowed());
        });
        notify
    }

    pub fn is_on(self) -> bool {
        self.on.get()
    }

    fn turn(self, on: bool) {
        match on {
            true => self.ask(),
            false => {
                self.on.set(false);
                preference::keep("notify", None);
            }
        }
    }

    /// Asks the browser, which asks the reader.
    #[cfg(feature = "hydrate")]
    fn ask(self) {
        leptos::task::spawn_local(async move {
            let asking = Notification::request_permission().or_say("ask for notifications");
            if let Some(asking) = asking {
                let answer = wasm_bindgen_futures::JsFuture::from(asking).await;
                answer.or_say("ask for notifications");
            }
            let allowed = allowed();
            self.blocked.set(!allowed);
            self.on.set(allowed);
            preference::keep("notify", allowed.then_some("on"));
        });
    }

    #[cfg(not(feature = "hydrate"))]
    fn ask(self) {}

    /// Tells what is new since the last look.
    pub fn compare(self, newest: &[Run]) {
        let fresh = self.known.try_update_value(|known| {
            let first = known.is_none();
            let known = known.get_or_insert_default();
            if known.len() > KNOWN_MAX {
                let still: HashSet<_> = newest.iter().map(key).collect();
                known.retain(|it| still.contains(it));
            }
            let mut fresh: Vec<&Run> = newest.iter().collect();
            fresh.retain(|run| known.insert(key(run)) && !first);
            fresh
        });
        let fresh = fresh.unwrap_or_default();
        match fresh.len() {
            ..=SINGLE_MAX => fresh.into_iter().for_each(tell),
            n => show(&format!("{n} runs need you"), "", "/?view=needs"),
        }
    }
}

/// Tells a run from all others, and from what it was before.
fn key(run: &Run) -> String {
    format!("{} {}", run.id, run.version)
}

fn tell(run: &Run) {
    let title = run.title.as_ref().unwrap_or(&run.agent);
    show(title, &words::headline(run), &format!("/runs/{}", run.id));
}

fn allowed() -> bool {
    leptos::web_sys::window().is_some()
        && Notification::permission() == leptos::web_sys::NotificationPermission::Granted
}

/// Shows a notification that leads to `href`.
#[cfg(feature = "hydrate")]
fn show(title: &str, body: &str, href: &str) {
    use leptos::{wasm_bindgen::JsCast as _, web_sys::NotificationOptions};
    use wasm_bindgen::closure::Closure;

    let options = NotificationOptions::new();
    options.set_body(body);
    options.set_tag(href);
    options.set_icon("/favicon.svg");
    let shown = Notification::new_with_options(title, &options);
    let Some(shown) = shown.or_say("show a notification") else {
        return;
    };
    let href = href.to_owned();
    let open = Closure::once_into_js(move || {
        window().focus().or_say("come to the front");
        window().location().set_href(&href).or_say("open the page");
    });
    shown.set_onclick(Some(open.unchecked_ref()));
}

#[cfg(not(feature = "hydrate"))]
fn show(_: &str, _: &str, _: &str) {}

#[component]
pub fn NotifySwitch() -> impl IntoView {
    let notify = expect_context::<Notify>();
    view! {
        <label class="switch">
            <input
                type="checkbox"
                prop:checked=move || notify.on.get()
                on:change=move |event| notify.turn(event_target_checked(&event))
            />
            "Tell me when a run comes to need a person"
        </label>
        <p class="dim" role="status">
            {move || notify.blocked.get().then_some("This browser does not allow notifications from this page: change that in its settings for this site.")}
        </p>
    }
    .into_any()
}
