//! Why a decision was not taken: who was first, what changed, or what does not fit. "Nothing was changed" stands only
//! where the server said so; a lost answer is not known yet.

use leptos::prelude::*;
use serde_json::Value;

use super::time::Moment;
use crate::{
    api::AppError,
    domain::{Code, DecisionKind, Time, views::words},
};

#[component]
pub fn Refusal(
    error: AppError,
    /// The page shows what is true now, below this.
    #[prop(optional)]
    renewed: bool,
) -> impl IntoView {
    if error.outcome_unknown() {
        return view! {
            <div class="refused" role="status">
                <p>
                    <b>"Not known yet: the server's answer got lost."</b>
                    " The decision may have been taken. This page asks the server again by itself; it is taken only once."
                </p>
            </div>
        }
        .into_any();
    }
    let problem = error.0;
    let by = problem.fields.get("decided_by").and_then(Value::as_str);
    let by = by.map(str::to_owned);
    let at = problem.fields.get("decided_at").cloned();
    let at = at.and_then(|at| serde_json::from_value::<Time>(at).ok());
    let kind = problem.fields.get("decided_kind").cloned();
    let kind = kind.and_then(|kind| serde_json::from_value::<DecisionKind>(kind).ok());
    let what = kind.map(|kind| format!(": {}", words::decided(kind)));
    let said = match (problem.code, by, at) {
        (Code::VersionConflict, Some(by), Some(at)) => view! {
            <b>"Already decided by "<bdi>{by}</bdi>{what}</b>", at "<Moment at/>"."
        }
        .into_any(),
        (Code::VersionConflict, ..) => {
            view! { <b>"The run changed while you looked."</b> }.into_any()
        }
        (Code::PlanChanged, Some(by), Some(at)) => view! {
            <b>"The plan changed: "<bdi>{by}</bdi>" decided"</b>" at "<Moment at/>"."
        }
        .into_any(),
        (Code::PlanChanged, ..) => view! { <b>"The plan changed while you looked."</b> }.into_any(),
        (Code::Forbidden, ..) => {
            view! { <b>"You may not do this: "</b><bdi>{problem.detail.clone()}</bdi> }.into_any()
        }
        _ => view! { <b>"Refused: "</b><bdi>{problem.detail.clone()}</bdi> }.into_any(),
    };
    let moved = matches!(problem.code, Code::VersionConflict | Code::PlanChanged);
    view! {
        <div class="refused" role="alert">
            <p>
                {said}
                " Nothing was changed."
                {(moved && renewed).then_some(" Below is what is true now: look again, then decide.")}
            </p>
        </div>
    }
    .into_any()
}
