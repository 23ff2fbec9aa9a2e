//! A page of a run's steps, then what is announced; each row is a link that selects its step.

use leptos::prelude::*;

use super::{
    glyph::{Glyph, Shape},
    time::{Elapsed, Span},
};
use crate::domain::{DecisionKind, Step, StepStatus, run::Announced, words};

#[component]
pub fn StepList(
    /// A step and the link that selects it.
    steps: Vec<(Step, String)>,
    announced: Vec<Announced>,
    selected: Option<i64>,
) -> impl IntoView {
    let rows = steps.into_iter().map(|(step, href)| {
        let on = selected == Some(step.seq);
        view! { <StepRow step href on/> }
    });
    let expected = announced
        .into_iter()
        .map(|step| view! { <ExpectedRow step/> });
    view! {
        <table class="steps" aria-label="Steps">
            <thead>
                <tr>
                    <th scope="col" class="col-seq">"#"</th>
                    <th scope="col" class="col-mark"><span class="hidden">"Status"</span></th>
                    <th scope="col" class="col-step">"Step"</th>
                    <th scope="col" class="col-duration">"Duration"</th>
                    <th scope="col" class="col-usd">"Cost"</th>
                </tr>
            </thead>
            <tbody>{rows.collect_view()}{expected.collect_view()}</tbody>
        </table>
    }
    .into_any()
}

#[component]
fn StepRow(step: Step, href: String, on: bool) -> impl IntoView {
    let span = (step.status != StepStatus::Waiting).then_some(Span {
        from: step.begun_at,
        to: step.ended_at,
        seen: step.begun_at,
    });
    let tries = (step.tries > 1).then(|| format!("{} tries", step.tries));
    view! {
        <tr class="step-row" aria-selected=on.then_some("true")>
            <td class="cell-figure">{step.seq}</td>
            <td class="cell-mark">
                <Glyph shape=Shape::from(step.status) label=words::step_status(step.status).to_owned()/>
            </td>
            <td class="cell-step">
                <a class="step-name" href=href data-row="" aria-current=on.then_some("true")><bdi>{step.name}</bdi></a>
                <bdi class="step-tool">{step.tool.unwrap_or_else(|| step.kind.as_str().to_owned())}</bdi>
                {step.effect.map(|_| view! { <span class="tag tag-effect">"effect"</span> })}
                {step.decision.map(|kind| view! { <span class="step-decision">{decided(kind)}</span> })}
                {tries.map(|tries| view! { <span class="step-tries">{tries}</span> })}
            </td>
            <td class="cell-figure"><Elapsed span=Signal::stored(span)/></td>
            <td class="cell-figure">{words::cost(step.cost_usd)}</td>
        </tr>
    }
    .into_any()
}

/// A step that may never come.
#[component]
fn ExpectedRow(step: Announced) -> impl IntoView {
    view! {
        <tr class="step-row is-expected">
            <td class="cell-figure"></td>
            <td class="cell-mark"><Glyph shape=Shape::Pending label="announced".to_owned()/></td>
            <td class="cell-step">
                <bdi class="step-name">{step.name}</bdi>
                <bdi class="step-tool">{step.tool.unwrap_or_else(|| step.kind.as_str().to_owned())}</bdi>
                {step.effect.map(|_| view! { <span class="tag tag-effect">"effect"</span> })}
            </td>
            <td></td>
            <td></td>
        </tr>
    }
    .into_any()
}

fn decided(kind: DecisionKind) -> &'static str {
    match kind {
        DecisionKind::Approve => "approved",
        DecisionKind::Reject => "rejected",
        DecisionKind::Answer => "answered",
        DecisionKind::Commit => "committed by hand",
        DecisionKind::Skip => "skipped",
        DecisionKind::Retry => "retried by hand",
        kind => kind.as_str(),
    }
}
