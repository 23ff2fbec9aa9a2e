//! Every try at a step: who, when, how it ended, and the error with its stack.

use leptos::prelude::*;

use crate::{
    components::{
        excerpt::ExcerptBlock,
        time::{At, Elapsed, Span},
    },
    domain::{Attempt, views::sheet::StepSheet},
};

#[component]
pub fn Attempts(step: StepSheet) -> impl IntoView {
    let expected = step.detail.expected().map(|it| {
        view! {
            <tr class="tone-edited">
                <td class="cell-figure">{it.attempt}</td>
                <td>"expected"</td>
                <td>"next worker"</td>
                <td></td><td></td><td></td><td></td>
                <td class="attempt-error"><bdi class="mono">{it.idempotency_key}</bdi></td>
                <td class="attempt-error">{it.new_key.then_some("a new key")}</td>
            </tr>
        }
    });
    let row = |attempt: Attempt| {
        let span = Span {
            from: attempt.begun_at,
            to: attempt.ended_at,
            seen: attempt.begun_at,
        };
        let error = attempt
            .error
            .map(|error| view! { <bdi>{error.kind}": "{error.message}</bdi> });
        let late = attempt
            .evidence
            .map(|it| view! { <p class="dim">"sent its result late, at "<At at=it.at/></p> });
        let key = attempt.idempotency_key;
        let heard = attempt.heartbeat_at.map(|at| view! { <At at/> });
        view! {
            <tr>
                <td class="cell-figure">{attempt.attempt}</td>
                <td>{attempt.outcome.as_str()}</td>
                <td class="mono"><bdi>{attempt.worker}</bdi></td>
                <td class="cell-figure">{attempt.epoch.0}</td>
                <td class="cell-figure"><At at=attempt.begun_at/></td>
                <td class="cell-figure">{heard}</td>
                <td class="cell-figure"><Elapsed span=Signal::stored(Some(span))/></td>
                <td class="attempt-error"><bdi class="mono">{key}</bdi></td>
                <td class="attempt-error">{error}{late}</td>
            </tr>
        }
    };
    view! {
        <div class="table-scroll" tabindex="0" role="region" aria-label="Attempts">
            <table class="attempts" aria-label="Attempts, oldest first">
                <thead>
                    <tr>
                        <th scope="col">"#"</th><th scope="col">"Outcome"</th><th scope="col">"Worker"</th>
                        <th scope="col">"Epoch"</th><th scope="col">"Begun"</th><th scope="col">"Last heard"</th>
                        <th scope="col">"Duration"</th><th scope="col">"Idempotency key"</th><th scope="col">"Error"</th>
                    </tr>
                </thead>
                <tbody>
                    {step.detail.attempts.into_iter().map(row).collect_view()}
                    {expected}
                </tbody>
            </table>
        </div>
        <ExcerptBlock title="stack of the newest error" excerpt=step.stack/>
    }
    .into_any()
}
