//! What may be done about a run: the buttons in its head, and the rest in a menu that opens without WASM.

use leptos::prelude::*;

use crate::domain::{DecisionKind, RunStatus};

/// The plan can be carried out.
pub fn resumable(status: RunStatus) -> bool {
    matches!(
        status,
        RunStatus::Crashed | RunStatus::Failed | RunStatus::Paused
    )
}

/// The state can be edited: nobody works on it.
pub fn editable(status: RunStatus) -> bool {
    resumable(status) || matches!(status, RunStatus::Waiting | RunStatus::Ready)
}

#[component]
pub fn RunActions(
    #[prop(into)] status: Signal<Option<RunStatus>>,
    /// The address that asks for a decision.
    href: Callback<DecisionKind, String>,
) -> impl IntoView {
    let item = move |kind: DecisionKind, words: &'static str| {
        view! { <li><a class="menu-item" href=move || href.run(kind)>{words}</a></li> }
    };
    let is = move |fits: fn(RunStatus) -> bool| status.get().is_some_and(fits);
    let open = move || is(|it| !it.over());
    view! {
        <details class="more">
            <summary class="button">"More"</summary>
            <ul class="menu">
                {move || (open() && !is(|it| it == RunStatus::Paused)).then(|| item(DecisionKind::Pause, "Pause…"))}
                {move || open().then(|| item(DecisionKind::Rewind, "Rewind to before this step…"))}
                {item(DecisionKind::Note, "Add a note…")}
                {item(DecisionKind::Claim, "I am looking…")}
                {item(DecisionKind::Pin, "Pin…")}
                {move || is(|it| matches!(it, RunStatus::Failed | RunStatus::Crashed | RunStatus::Cancelled))
                    .then(|| item(DecisionKind::Acknowledge, "Acknowledge…"))}
            </ul>
        </details>
        <a class="button" href=move || href.run(DecisionKind::Fork)>"Fork…"</a>
        {move || open().then(|| view! {
            <a class="button" href=move || href.run(DecisionKind::Cancel)>"Cancel run…"</a>
        })}
        {move || is(resumable).then(|| view! {
            <a class="button primary" href=move || href.run(DecisionKind::Resume)>"Review & resume "<kbd aria-hidden="true">"R"</kbd></a>
        })}
    }
    .into_any()
}

/// The buttons beside a step's name, where a person may help it.
#[component]
pub fn StepActions(
    /// The step waits for an answer, which stands below.
    waiting: bool,
    edit: String,
    retry: String,
    skip: String,
) -> impl IntoView {
    view! {
        <span class="step-actions">
            <a class="button" href=edit>"Edit state… "<kbd aria-hidden="true">"E"</kbd></a>
            <a class="button" href=skip>"Skip… "<kbd aria-hidden="true">"S"</kbd></a>
            {(!waiting).then(|| view! {
                <a class="button danger" href=retry>"Retry… "<kbd aria-hidden="true">"T"</kbd></a>
            })}
        </span>
    }
    .into_any()
}
