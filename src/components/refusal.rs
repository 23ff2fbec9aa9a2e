//! Why a decision was not taken: who was first, what changed, or what does not fit. "Nothing was changed" stands only
//! where the server said so; a lost answer is not known yet.

use leptos::prelude::*;
use serde_json::Value;

use super::who_first::{First, WhoFirst};
use crate::{api::AppError, domain::Code};

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
    let first = First::of_refusal(&problem);
    let why = problem.fields.get("why").and_then(Value::as_str);
    let why = why.unwrap_or(&problem.detail).to_owned();
    let said = match (problem.code, first) {
        (Code::VersionConflict, Some(first)) => {
            view! { <b>"Already decided: "</b><WhoFirst first/>"." }.into_any()
        }
        (Code::VersionConflict, None) => {
            view! { <b>"The run changed while you looked."</b> }.into_any()
        }
        (Code::DecisionRefused, Some(first)) => {
            view! { <b>"Already decided: "</b><WhoFirst first/>"; "<bdi>{why}</bdi>"." }.into_any()
        }
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
