//! Keys of a run's page: `j`/`k` steps, `n`/`p` problems, `[`/`]` changes of state, `d` state diff, `f` follow, `r` plan, `t` retry, `s` skip, `e` edit,
//! `b` rewind, `y` fork, `m` more.

use leptos::{ev, prelude::*, task::spawn_local};
use leptos_router::{NavigateOptions, hooks::use_navigate};

use crate::{
    api,
    components::{browser::OrSay as _, focus::focus_first, inspector::Tab, keyboard::Keys},
    domain::{
        DecisionKind, RunId, StepStatus, rules::offer::Standing, wire::step_query::Direction,
    },
};

#[component]
pub fn RunKeys(
    id: RunId,
    #[prop(into)] selected: Signal<Option<i64>>,
    /// The step after (1) or before (−1) the selected one.
    beside: Callback<i64, Option<i64>>,
    /// The address that selects a step.
    href: Callback<i64, String>,
    /// The address that opens a tab of the selected step.
    tab: Callback<Tab, String>,
    /// The address with following on or off.
    follow: Callback<bool, String>,
    #[prop(into)] following: Signal<bool>,
    /// The address that asks for a decision.
    ask: Callback<DecisionKind, String>,
    /// The address that skips the selected step.
    skip: Signal<String>,
    #[prop(into)] standing: Signal<Option<Standing>>,
    /// The selected step's status, unless somebody decided about it already.
    #[prop(into)]
    open: Signal<Option<StepStatus>>,
    #[prop(into)] may: Signal<bool>,
) -> impl IntoView {
    let keys = expect_context::<Keys>();
    let navigate = use_navigate();
    let go_to = Callback::new(move |(href, replace): (String, bool)| {
        let options = NavigateOptions {
            scroll: false,
            replace,
            ..NavigateOptions::default()
        };
        navigate(&href, options);
    });
    let go = Callback::new(move |href: String| go_to.run((href, false)));
    // What is walked through leaves one entry in the history, not hundreds.
    let walk = move |by: i64| {
        if let Some(seq) = untrack(|| beside.run(by)) {
            go_to.run((untrack(|| href.run(seq)), true));
        }
    };
    let id = StoredValue::new(id);
    Effect::new(move || {
        keys.leave_rows();
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
            let operates = may.get_untracked();
            let may = |kind, step: Option<StepStatus>| {
                let standing = standing.get_untracked().filter(|_| may.get_untracked());
                standing.is_some_and(|it| it.offers(kind, step))
            };
            let step = open.get_untracked();
            let on_step = |kind| step.is_some() && may(kind, step);
            let asked = |kind| go.run(untrack(|| ask.run(kind)));
            match key.as_str() {
                "r" if may(DecisionKind::Resume, None) => asked(DecisionKind::Resume),
                "t" if on_step(DecisionKind::Retry) => asked(DecisionKind::Retry),
                "s" if on_step(DecisionKind::Skip) => go.run(skip.get_untracked()),
                "e" if may(DecisionKind::Edit, None) => asked(DecisionKind::Edit),
                "b" if may(DecisionKind::Rewind, None) => asked(DecisionKind::Rewind),
                "y" if may(DecisionKind::Fork, None) => asked(DecisionKind::Fork),
                "m" if operates => open_more(),
                "j" => walk(1),
                "k" => walk(-1),
                "n" => look(true, Direction::Later),
                "p" => look(true, Direction::Earlier),
                "]" => look(false, Direction::Later),
                "[" => look(false, Direction::Earlier),
                "d" => go.run(untrack(|| tab.run(Tab::Diff))),
                "f" => go.run(follow.run(!following.get_untracked())),
                _ => return,
            }
            event.prevent_default();
        });
        on_cleanup(move || pressed.remove());
    });
}

/// Opens the menu of what else may be done, and goes to its first line.
fn open_more() {
    if let Ok(Some(menu)) = document().query_selector(".more") {
        menu.set_attribute("open", "").or_say("open a menu");
        focus_first(".more .menu-item");
    }
}
