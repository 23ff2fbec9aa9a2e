//! Keys of a run's page: `j`/`k` steps, `n`/`p` problems, `[`/`]` changes of state, `d` state diff, `f` follow, `r` plan, `t` retry, `s` skip, `e` edit,
//! `b` rewind, `y` fork, `m` more.

use leptos::{ev, prelude::*, task::spawn_local};

use super::{links::Links, run_url::RunUrl, selected_step::Offers};
use crate::{
    api,
    components::{browser::OrSay as _, focus::focus_first, inspector::Tab, keyboard::Keys},
    domain::{DecisionKind, StepStatus, wire::step_query::Direction},
};

#[component]
pub fn RunKeys(
    url: Memo<RunUrl>,
    links: Links,
    offers: Offers,
    selected: Memo<Option<i64>>,
    /// The step after (1) or before (−1) the selected one.
    beside: Callback<i64, Option<i64>>,
) -> impl IntoView {
    let keys = expect_context::<Keys>();
    let open = Memo::new(move |_| offers.open());
    let status = Memo::new(move |_| offers.status());
    // Steps that are walked through leave one entry in the history, not hundreds.
    let walk = move |by: i64| {
        if let Some(seq) = untrack(|| beside.run(by)) {
            links.visit(untrack(|| links.step(seq)), true);
        }
    };
    let go = move |href: String| links.visit(href, false);
    Effect::new(move || {
        keys.leave_rows();
        let pressed = window_event_listener(ev::keydown, move |event| {
            let Some(key) = keys.single(&event) else {
                return;
            };
            let from = selected.get_untracked().unwrap_or(0);
            let look = move |problem: bool, direction: Direction| {
                spawn_local(async move {
                    let id = links.run();
                    let found = match problem {
                        true => api::steps::problem(id, from, direction).await,
                        false => api::steps::change(id, from, direction).await,
                    };
                    if let Ok(Some(seq)) = found {
                        go(untrack(|| links.step(seq)));
                    }
                });
            };
            let operates = offers.may.get_untracked();
            let may = |kind, step: Option<StepStatus>| {
                let standing = offers.standing.get_untracked().filter(|_| operates);
                standing.is_some_and(|it| it.offers(kind, step))
            };
            let step = open.get_untracked();
            let at = status.get_untracked();
            let on_step = |kind| step.is_some() && may(kind, step);
            let asked = |kind| go(untrack(|| links.ask(kind)));
            match key.as_str() {
                "r" if may(DecisionKind::Resume, None) => asked(DecisionKind::Resume),
                "t" if on_step(DecisionKind::Retry) => asked(DecisionKind::Retry),
                "s" if on_step(DecisionKind::Skip) => go(untrack(|| offers.skip(links))),
                "e" if may(DecisionKind::Edit, None) => asked(DecisionKind::Edit),
                "b" if at.is_some() && may(DecisionKind::Rewind, at) => asked(DecisionKind::Rewind),
                "y" if may(DecisionKind::Fork, at) => asked(DecisionKind::Fork),
                "m" if operates => open_more(),
                "j" => walk(1),
                "k" => walk(-1),
                "n" => look(true, Direction::Later),
                "p" => look(true, Direction::Earlier),
                "]" => look(false, Direction::Later),
                "[" => look(false, Direction::Earlier),
                "d" => go(untrack(|| links.tab(Tab::Diff))),
                "f" => go(untrack(|| links.follow(!url.with(|it| it.follow)))),
                _ => return,
            }
            event.prevent_default();
        });
        on_cleanup(move || pressed.remove());
    });
}

/// Opens the menu of what else may be done, and goes to its first line.
fn open_more() {
    let menu = document().query_selector(".more");
    if let Some(menu) = menu.or_say("look for the menu").flatten() {
        menu.set_attribute("open", "").or_say("open a menu");
        focus_first(".more .menu-item");
    }
}
