//! What a run was given and what came of it; and the runs that work for its steps.

use leptos::prelude::*;

use super::{
    excerpt::ExcerptBlock,
    glyph::{Glyph, Shape},
};
use crate::domain::{
    RunStatus,
    views::{sheet::RunSheet, timeline::Child, words},
};

/// Input and final result, folded: they may be long.
#[component]
pub fn RunContent(#[prop(into)] sheet: Signal<Option<RunSheet>>) -> impl IntoView {
    let parts = Memo::new(move |_| {
        let sheet = sheet.get()?;
        let any = sheet.input.is_some() || sheet.result.is_some();
        any.then_some((sheet.input, sheet.result))
    });
    move || {
        parts.get().map(|(input, result)| {
            let title = match (&input, &result) {
                (Some(_), Some(_)) => "Input and result",
                (_, Some(_)) => "Result",
                _ => "Input",
            };
            view! {
                <details class="run-content">
                    <summary>{title}</summary>
                    <ExcerptBlock title="input of the run" excerpt=input/>
                    <ExcerptBlock title="result of the run" excerpt=result/>
                </details>
            }
        })
    }
}

/// The runs that work for this one, with what they cost together; forks are listed with the decisions that made them.
#[component]
pub fn ChildRuns(#[prop(into)] runs: Signal<Vec<Child>>) -> impl IntoView {
    let all = Memo::new(move |_| {
        let mut all = runs.get();
        all.retain(|it| !it.fork);
        all
    });
    let broke = |it: &&Child| matches!(it.status, RunStatus::Crashed | RunStatus::Failed);
    let title = move || {
        all.with(|all| {
            let costs = all.iter().filter_map(|it| it.cost_usd);
            let cost: Option<f64> = costs.clone().next().map(|_| costs.sum());
            let said = format!(
                "{} · {}",
                words::several(all.len() as i64, "child run"),
                words::cost(cost)
            );
            match all.iter().filter(broke).count() {
                0 => said,
                n => format!("{said} · {n} crashed or failed"),
            }
        })
    };
    let stopped = Memo::new(move |_| all.with(|all| all.iter().any(|it| broke(&it))));
    let row = |it: Child| {
        let href = format!("/runs/{}", it.id);
        view! {
            <li>
                <Glyph shape=Shape::from(it.status) label=words::run_status(it.status).to_owned()/>
                " "<a class="link" href=href><bdi>{it.title}</bdi></a>
                <span class="dim">" for step "{words::number(it.step)}" · "{words::run_status(it.status)}" · "{words::cost(it.cost_usd)}</span>
            </li>
        }
    };
    move || {
        let any = all.with(|all| !all.is_empty());
        any.then(|| {
            view! {
                <details class="run-content" open=stopped.get()>
                    <summary class:tone-crashed=move || stopped.get()>{title}</summary>
                    <ul class="run-children" aria-label="Child runs">{move || all.get().into_iter().map(row).collect_view()}</ul>
                </details>
            }
        })
    }
}
