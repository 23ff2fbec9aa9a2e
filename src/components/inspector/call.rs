//! What a step was asked to do, and what came of it.

use leptos::prelude::*;

use crate::{
    components::{excerpt::ExcerptBlock, time::At},
    domain::{StepStatus, Time, nouns::step::Reference, views::sheet::StepSheet},
};

#[component]
pub fn Call(
    step: StepSheet,
    /// Its run is over.
    over: bool,
) -> impl IntoView {
    let detail = step.detail;
    let error = detail.error.map(|error| {
        view! { <p class="run-error tone-failed"><b><bdi>{error.kind}</bdi></b>": "<bdi>{error.message}</bdi></p> }
    });
    // While it waits, the question and its context stand above the answer.
    let waits = detail.step.status == StepStatus::Waiting && !over;
    let context = step.context.filter(|_| !waits);
    let question = detail.gate.filter(|_| !waits).map(|gate| {
        view! { <p class="gate-title tone-waiting"><b><bdi>{gate.title}</bdi></b></p> }
    });
    let again = detail.step.retry_at.map(|at: Time| {
        view! { <p class="dim">"Tried again by itself at "<At at/>"."</p> }
    });
    let reference = |it: Reference| {
        view! { <li><bdi class="mono">{it.uri}</bdi>" "<bdi class="dim mono">{it.hash}</bdi></li> }
    };
    let references = (!detail.refs.is_empty()).then(|| {
        view! {
            <section class="excerpt">
                <h3 class="label">"references"</h3>
                <ul class="refs">{detail.refs.into_iter().map(reference).collect_view()}</ul>
            </section>
        }
    });
    let evidence = step.evidence.filter(|_| {
        // The banner of a crash shows it first.
        !detail.step.shows_crash()
    });
    let nothing = step.input.is_none() && step.result.is_none() && step.partial.is_none();
    let nothing = nothing && error.is_none() && question.is_none() && !waits;
    view! {
        {error}
        {again}
        <ExcerptBlock title="stack" excerpt=step.stack/>
        {question}
        <ExcerptBlock title="context" excerpt=context/>
        <ExcerptBlock title="input" excerpt=step.input/>
        <ExcerptBlock title="result" excerpt=step.result/>
        <ExcerptBlock title="last partial result" excerpt=step.partial/>
        <ExcerptBlock title="late result" excerpt=evidence/>
        {references}
        {nothing.then(|| view! { <p class="dim">"The agent recorded neither input nor result."</p> })}
        <p class="dim">"key " <bdi class="mono">{detail.step.key.to_string()}</bdi></p>
    }
    .into_any()
}
