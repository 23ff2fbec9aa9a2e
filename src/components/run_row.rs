//! One run as a row of a table; its signal is patched in place while it is read.

use leptos::prelude::*;

use super::{
    glyph::{Glyph, Shape},
    selection::{SelectBox, Selection},
    strip::Strip,
    time::{Ago, Elapsed, Span},
};
use crate::domain::{Run, RunStatus, views::words};

#[component]
pub fn RunRow(#[prop(into)] run: Signal<Run>, selection: Selection) -> impl IntoView {
    let shape = Memo::new(move |_| {
        run.with(|run| match run.damaged {
            true => Shape::Damaged,
            false => Shape::from(run.status),
        })
    });
    let label = Memo::new(move |_| {
        run.with(|run| match run.damaged {
            true => words::DAMAGED.to_owned(),
            false => words::run_status(run.status).to_owned(),
        })
    });
    let now_at = Memo::new(move |_| run.with(words::now_at));
    let cost = Memo::new(move |_| run.with(|run| words::cost(run.usage.cost_usd)));
    let title = Memo::new(move |_| run.with(title));
    let (href, short, agent) = run.with_untracked(|run| {
        (
            format!("/runs/{}", run.id),
            run.id.short().to_owned(),
            run.agent.clone(),
        )
    });
    let tone = move || match run.with(|run| run.needs_you()) {
        true => format!("cell-now {}", shape.get().tone()),
        false => "cell-now".into(),
    };
    view! {
        <tr class="run-row" role="row" data-run=run.with_untracked(|run| run.id.to_string())>
            <td class="cell-select" role="cell"><SelectBox run selection/></td>
            <td class="cell-glyph" role="cell"><Glyph shape label/></td>
            <td class="cell-run" role="cell">
                <a class="run-title" href=href data-row=""><bdi>{title}</bdi></a>
                <span class="run-under"><bdi>{agent}</bdi>" "<span class="run-id">{short}</span></span>
            </td>
            <td class="cell-strip" role="cell"><Strip run/></td>
            <td class=tone role="cell"><bdi>{now_at}</bdi></td>
            <td class="cell-figure cell-activity" role="cell"><Ago at=Signal::derive(move || run.with(|run| run.updated_at))/></td>
            <td class="cell-figure cell-elapsed" role="cell"><Elapsed span=Signal::derive(move || run.with(span))/></td>
            <td class="cell-figure cell-cost" role="cell">{cost}</td>
            <td class="cell-action" role="cell">
                {move || run.with(|run| action(run.status)).map(|(verb, ask)| {
                    let href = run.with(|run| format!("/runs/{}{ask}", run.id));
                    view! { <a class="button" href=href tabindex="-1" aria-hidden="true">{verb}</a> }
                })}
            </td>
        </tr>
    }
    .into_any()
}

/// A run without a title is called by its agent.
pub fn title(run: &Run) -> String {
    run.title.clone().unwrap_or_else(|| run.agent.clone())
}

/// From its first lease to its end; one that nobody works on stands still where its worker was last heard, whatever
/// people decide about it since.
pub fn span(run: &Run) -> Option<Span> {
    let heard = run.heard_at.unwrap_or(run.updated_at);
    let still = (run.status != RunStatus::Running).then_some(heard);
    run.started_at.map(|from| Span {
        from,
        to: run.finished_at.or(still),
        seen: run.updated_at,
    })
}

/// The verb of the row's button where a person is needed, and what the run's page then asks.
fn action(status: RunStatus) -> Option<(&'static str, &'static str)> {
    match status {
        RunStatus::Crashed | RunStatus::Failed => Some(("Review", "?ask=resume")),
        RunStatus::Waiting => Some(("Decide", "")),
        _ => None,
    }
}
