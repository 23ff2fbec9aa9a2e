//! A plan on the screen: renewed in place when its run moves, and said to be so before anything is sent.

use leptos::prelude::*;

use super::{focus, time::Moment};
use crate::{
    api::AppError,
    domain::{
        rules::{decision::Decision, plan::Plan},
        views::words,
    },
};

/// A plan that someone looks at.
#[derive(Clone, Copy)]
pub struct LivePlan {
    pub now: RwSignal<Plan>,
    /// What was shown until it changed the last time.
    pub before: RwSignal<Option<Plan>>,
    /// The decision that changed it, if it was one.
    pub by: RwSignal<Option<Decision>>,
}

impl LivePlan {
    pub fn new(plan: Plan) -> Self {
        Self {
            now: RwSignal::new(plan),
            before: RwSignal::new(None),
            by: RwSignal::new(None),
        }
    }

    /// Shows the newer plan; the caret stays in its field.
    pub fn renew(self, newer: Plan) {
        focus::keep_field(move || {
            self.by.set(None);
            self.before.set(Some(self.now.get_untracked()));
            self.now.set(newer);
        });
    }
}

/// Says that the plan changed; a refusal says it itself.
#[component]
pub fn Renewed(plan: LivePlan, #[prop(into)] refused: Signal<Option<AppError>>) -> impl IntoView {
    let by = move || {
        plan.by.get().map(|it| {
            view! { " "<bdi>{it.author}</bdi>": "{words::decided(it.kind)}", at "<Moment at=it.at/>"." }
        })
    };
    let said = move || {
        let changed = plan.before.with(Option::is_some) && refused.with(Option::is_none);
        changed.then(|| {
            view! {
                <div class="refused">
                    <p>
                        <b>"The plan changed while you looked."</b>{by}
                        " Nothing was sent. Below is what is true now: look again, then decide. What you typed is kept."
                    </p>
                </div>
            }
        })
    };
    view! { <div role="status">{said}</div> }.into_any()
}
