//! What may be done about a run: the buttons in its head, and the rest in a menu that opens without WASM. What is offered
//! is what the server would accept.

use leptos::prelude::*;

use crate::domain::{DecisionKind, StepStatus, rules::offer::Standing};

#[component]
pub fn RunActions(
    #[prop(into)] standing: Signal<Option<Standing>>,
    /// The selected step's status, if one is: a rewind and a fork go to before it.
    #[prop(into)]
    step: Signal<Option<StepStatus>>,
    /// The address that asks for a decision.
    href: Callback<DecisionKind, String>,
) -> impl IntoView {
    let offers = move |kind| standing.get().is_some_and(|it| it.offers(kind, step.get()));
    let item = move |kind: DecisionKind, words: &'static str| {
        move || {
            offers(kind).then(|| {
                view! { <li><a class="menu-item" href=move || href.run(kind)>{words}</a></li> }
            })
        }
    };
    let rewind = move || {
        let fits = offers(DecisionKind::Rewind) && step.get().is_some();
        fits.then(|| item(DecisionKind::Rewind, "Rewind to before this step…"))
    };
    view! {
        <details class="more">
            <summary class="button">"More"</summary>
            <ul class="menu">
                {item(DecisionKind::Pause, "Pause…")}
                {rewind}
                {item(DecisionKind::Note, "Add a note…")}
                {item(DecisionKind::Claim, "I'm on it…")}
                {item(DecisionKind::Pin, "Pin…")}
                {item(DecisionKind::Acknowledge, "Acknowledge…")}
            </ul>
        </details>
        {move || offers(DecisionKind::Fork).then(|| view! {
            <a class="button" href=move || href.run(DecisionKind::Fork)>"Fork…"</a>
        })}
        {move || offers(DecisionKind::Cancel).then(|| view! {
            <a class="button" href=move || href.run(DecisionKind::Cancel)>"Cancel run…"</a>
        })}
        {move || offers(DecisionKind::Resume).then(|| view! {
            <a class="button primary" href=move || href.run(DecisionKind::Resume)>"Review & resume "<kbd aria-hidden="true">"R"</kbd></a>
        })}
    }
    .into_any()
}

/// The buttons beside a step's name, where a person may help it.
#[component]
pub fn StepActions(
    standing: Standing,
    step: StepStatus,
    /// Somebody decided about it already: only the state can still be edited.
    decided: bool,
    edit: String,
    retry: String,
    skip: String,
) -> impl IntoView {
    let offers = move |kind| !decided && standing.offers(kind, Some(step));
    view! {
        <span class="step-actions">
            {standing.offers(DecisionKind::Edit, None).then(|| view! {
                <a class="button" href=edit>"Edit state… "<kbd aria-hidden="true">"E"</kbd></a>
            })}
            {offers(DecisionKind::Skip).then(|| view! {
                <a class="button" href=skip>"Skip… "<kbd aria-hidden="true">"S"</kbd></a>
            })}
            {offers(DecisionKind::Retry).then(|| view! {
                <a class="button danger" href=retry>"Retry… "<kbd aria-hidden="true">"T"</kbd></a>
            })}
        </span>
    }
    .into_any()
}
