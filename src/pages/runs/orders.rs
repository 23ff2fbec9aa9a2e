//! What is ordered for the picked runs: part by part, so that the page says how far it is.
//!
//! An answer that got lost is no refusal. The order carries a key by which the server recognises it, so a part without an
//! answer is sent again until it is known what came of it.

use leptos::{prelude::*, task::spawn_local};

use crate::{
    api::{self, AppError},
    components::{
        selection::Selection,
        selection_bar::{Named, SelectionBar},
    },
    domain::{
        Action, DecisionKind, RunId,
        wire::bulk_order::{Decided, Ordered},
    },
    pages::deciding::{ask_again_in, is_no_answer, new_key},
};

/// Runs that are decided about in one request.
const AT_ONCE: usize = 10;
/// Runs whose unknown effects are asked for at once.
const NAMED_AT_ONCE: usize = 200;

#[component]
pub fn Orders(
    selection: Selection,
    /// Reads again what is shown: runs that moved may no longer belong here.
    on_done: Callback<()>,
) -> impl IntoView {
    let me = Resource::new(|| (), |()| api::session::me());
    let may_decide = RwSignal::new(false);
    Effect::new(move || {
        let me = me.get().and_then(Result::ok);
        may_decide.set(me.is_some_and(|it| it.role.may(Action::Decide)));
    });
    let ordering = Ordering {
        selection,
        on_done,
        outcome: RwSignal::new(None),
        progress: RwSignal::new(None),
        unknown: RwSignal::new(false),
    };
    let Ordering {
        outcome,
        progress,
        unknown,
        ..
    } = ordering;
    let order = Callback::new(move |order: Ordered| {
        ordering.go_on(Left {
            order: Ordered {
                key: Some(new_key()),
                ..order
            },
            decided: Vec::new(),
            lost: 0,
        });
    });
    let on_close = Callback::new(move |()| outcome.set(None));
    let effects = RwSignal::new(Named::None);
    let asked = StoredValue::new(Vec::new());
    let name_effects = Callback::new(move |mut runs: Vec<RunId>| {
        runs.truncate(NAMED_AT_ONCE);
        effects.set(runs.is_empty().then(|| Ok(Vec::new())));
        asked.set_value(runs.clone());
        if runs.is_empty() {
            return;
        }
        spawn_local(async move {
            let read = api::groups::unknown_effects(runs.clone()).await;
            // Another selection may have been asked for since, or the page be gone.
            if asked.try_with_value(|it| *it == runs) == Some(true) {
                effects.try_set(Some(read));
            }
        });
    });
    view! { <SelectionBar selection may_decide order name_effects effects progress unknown outcome on_close/> }
        .into_any()
}

/// What is said about an order, and to whom.
#[derive(Clone, Copy)]
struct Ordering {
    selection: Selection,
    on_done: Callback<()>,
    outcome: RwSignal<Option<Vec<Decided>>>,
    progress: RwSignal<Option<(usize, usize)>>,
    /// The last part got no answer, and is asked for again.
    unknown: RwSignal<bool>,
}

/// An order under way: what came of its first runs.
struct Left {
    order: Ordered,
    decided: Vec<Decided>,
    /// How often the next part got no answer.
    lost: usize,
}

impl Ordering {
    /// Sends the next part; stops where the page is gone.
    fn go_on(self, left: Left) {
        let (done, all) = (left.decided.len(), left.order.runs.len());
        if done == all {
            return self.end(left.decided);
        }
        if self.progress.try_set(Some((done, all))).is_some() {
            return;
        }
        let some = left.order.runs[done..].iter().take(AT_ONCE).cloned();
        let part = Ordered {
            runs: some.collect(),
            ..left.order.clone()
        };
        spawn_local(async move {
            let answer = decide_some(part.clone()).await;
            self.heard(left, part.runs, answer);
        });
    }

    fn heard(self, left: Left, some: Vec<(RunId, i64)>, answer: Result<Vec<Decided>, AppError>) {
        let lost = left.lost;
        match answer {
            Err(error) if is_no_answer(&error, lost) => {
                if self.unknown.try_set(true).is_some() {
                    return;
                }
                let again = Left {
                    lost: lost + 1,
                    ..left
                };
                set_timeout(move || self.go_on(again), ask_again_in(lost));
            }
            answer => {
                self.unknown.try_set(false);
                let mut decided = left.decided;
                decided.extend(answer.unwrap_or_else(|error| refused(some, &error)));
                self.go_on(Left {
                    order: left.order,
                    decided,
                    lost: 0,
                });
            }
        }
    }

    fn end(self, decided: Vec<Decided>) {
        self.progress.try_set(None);
        if self.outcome.try_set(Some(decided)).is_none() {
            self.selection.clear();
            self.on_done.run(());
        }
    }
}

async fn decide_some(part: Ordered) -> Result<Vec<Decided>, AppError> {
    match part.kind {
        DecisionKind::Resume => api::groups::resume(part).await,
        _ => api::runs::decide_many(part).await,
    }
}

/// The server refused a whole part: each of its runs for this reason.
fn refused(some: Vec<(RunId, i64)>, error: &AppError) -> Vec<Decided> {
    let each = |(run, _)| Decided {
        run,
        refused: Some(error.0.detail.clone()),
    };
    some.into_iter().map(each).collect()
}
