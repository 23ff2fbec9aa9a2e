//! What may be done about a run: the buttons in its head, and the rest in a menu that opens without WASM. What is offered
//! is what the server would accept.

use leptos::prelude::*;

use crate::domain::{DecisionKind, StepStatus, rules::offer::Standing};

/// What the menu calls a decision; a decision without a word has its button or its page elsewhere.
fn in_menu(kind: DecisionKind) -> Option<&'static str> {
    match kind {
        DecisionKind::Pause => Some("Pause…"),
        DecisionKind::Rewind => Some("Rewind to before this step…"),
        DecisionKind::Note => Some("Add a note…"),
        DecisionKind::Claim => Some("I'm on it…"),
        DecisionKind::Pin => Some("Pin…"),
        DecisionKind::Acknowledge => Some("Acknowledge…"),
        DecisionKind::Fork | DecisionKind::Cancel | DecisionKind::Resume => None,
        DecisionKind::Retry | DecisionKind::Commit | DecisionKind::Skip => None,
        DecisionKind::Approve | DecisionKind::Reject | DecisionKind::Answer => None,
        DecisionKind::Edit => None,
    }
}

/// The menu from top to bottom.
const MENU: [DecisionKind; 6] = [
    DecisionKind::Pause,
    DecisionKind::Rewind,
    DecisionKind::Note,
    DecisionKind::Claim,
    DecisionKind::Pin,
    DecisionKind::Acknowledge,
];

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
    let item = move |kind: DecisionKind| {
        let words = in_menu(kind).unwrap_or_default();
        move || {
            let fits = offers(kind) && (kind != DecisionKind::Rewind || step.get().is_some());
            fits.then(|| {
                view! { <li><a class="menu-item" href=move || href.run(kind)>{words}</a></li> }
            })
        }
    };
    let items = MENU.into_iter().map(item).collect_view();
    view! {
        <details class="more">
            <summary class="button">"More"</summary>
            <ul class="menu">
                {items}
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_menu_has_every_decision_that_has_a_word_in_it() {
        for kind in DecisionKind::ALL {
            assert_eq!(MENU.contains(kind), in_menu(*kind).is_some(), "{kind}");
        }
    }
}
