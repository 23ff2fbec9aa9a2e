//! Keys of a run's page: `n`/`p` problems, `[`/`]` changes of state, `f` follow.

use leptos::{ev, prelude::*, task::spawn_local};
use leptos_router::{NavigateOptions, hooks::use_navigate};

use crate::{
    api,
    components::keyboard::Keys,
    domain::{RunId, step_query::Direction},
};

#[component]
pub fn RunKeys(
    id: RunId,
    #[prop(into)] selected: Signal<Option<i64>>,
    /// The address that selects a step.
    href: Callback<i64, String>,
    /// The address with following on or off.
    follow: Callback<bool, String>,
    #[prop(into)] following: Signal<bool>,
) -> impl IntoView {
    let keys = expect_context::<Keys>();
    let navigate = use_navigate();
    let go = Callback::new(move |href: String| {
        let options = NavigateOptions {
            scroll: false,
            ..NavigateOptions::default()
        };
        navigate(&href, options);
    });
    let id = StoredValue::new(id);
    Effect::new(move || {
        let pressed = window_event_listener(ev::keydown, move |event| {
            let Some(key) = keys.single(&event) else {
                return;
            };
            let from = selected.get_untracked().unwrap_or(0);
            let look = move |problem: bool, direction: Direction| {
                spawn_local(async move {
                    let id = id.get_value();
                    let found = match problem {
                        true => api::steps::problem(id, from, direction).await,
                        false => api::steps::change(id, from, direction).await,
                    };
                    if let Ok(Some(seq)) = found {
                        go.run(untrack(|| href.run(seq)));
                    }
                });
            };
            match key.as_str() {
                "n" => look(true, Direction::Later),
                "p" => look(true, Direction::Earlier),
                "]" => look(false, Direction::Later),
                "[" => look(false, Direction::Earlier),
                "f" => go.run(follow.run(!following.get_untracked())),
                _ => return,
            }
            event.prevent_default();
        });
        on_cleanup(move || pressed.remove());
    });
}
