//! The run's state after a step.

use leptos::prelude::*;

use crate::{
    components::{excerpt::ExcerptBlock, time::At},
    domain::{
        StepStatus,
        sheet::{StateSheet, StepSheet},
        words,
    },
};

#[component]
pub fn StateTab(state: StateSheet, step: StepSheet) -> impl IntoView {
    let it = &step.detail.step;
    let seq = words::number(it.seq);
    let said = match (state.own, state.seq, it.status) {
        (true, _, _) => format!("The state that step {seq} committed."),
        (false, None, _) => format!("Step {seq} committed no state. This is the initial state."),
        (false, Some(before), StepStatus::Committed) => {
            format!(
                "Step {seq} left the state as step {} had made it.",
                words::number(before)
            )
        }
        (false, Some(before), _) => format!(
            "Step {seq} committed no state. This is the last one before it, of step {}.",
            words::number(before)
        ),
    };
    view! {
        <p class="dim">{said}</p>
        <ExcerptBlock title="state" excerpt=state.state/>
        <p class="dim">
            "snapshot "<b class="mono">{state.snapshot}</b>" · "<At at=state.created_at/>
            " · hash "<bdi class="mono">{state.hash.to_string().chars().take(16).collect::<String>()}</bdi>
        </p>
    }
    .into_any()
}
