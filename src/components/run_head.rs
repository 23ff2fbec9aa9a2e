//! The head of a run's page: what happened, in words, and the facts around it.

use leptos::prelude::*;

use super::{
    glyph::Shape,
    pill::Pill,
    run_row,
    strip::{self, Strip},
    time::{Ago, Elapsed},
};
use crate::domain::{Run, RunStatus, sheet::RunSheet, words};

#[component]
pub fn RunHead(sheet: RunSheet) -> impl IntoView {
    let run = sheet.run;
    let title = run_row::title(&run);
    let shape = Shape::from(run.status);
    let error = sheet.error.map(|error| {
        view! { <p class="run-error tone-failed"><b><bdi>{error.kind}</bdi></b>": "<bdi>{error.message}</bdi></p> }
    });
    let links = sheet
        .links
        .into_iter()
        .filter(|link| link.url.starts_with("https://") || link.url.starts_with("http://"));
    let links = links.map(|link| {
        view! { <a href=link.url rel="external noreferrer noopener" target="_blank"><bdi>{link.label}</bdi></a> }
    });
    view! {
        <header class="run-head">
            <div class="run-headline">
                <h1><bdi>{title}</bdi></h1>
                <Pill shape text=words::headline(&run)/>
            </div>
            <Facts run=run.clone()/>
            {error}
            <p class="run-links">{links.collect_view()}</p>
            <div class="run-strip">
                <Strip run=run.clone() cells_max=80/>
                <p class="dim">{strip::in_words(&run)}</p>
            </div>
        </header>
    }
    .into_any()
}

#[component]
fn Facts(run: Run) -> impl IntoView {
    let agent = match &run.code_version {
        Some(version) => format!("{}@{version}", run.agent),
        None => run.agent.clone(),
    };
    let held = match (&run.lease, run.status) {
        (Some(_), _) => ", holds the lease",
        (None, RunStatus::Crashed) => ", lease lost",
        (None, _) => "",
    };
    let worker = run
        .worker
        .clone()
        .map(|worker| view! { <b class="mono"><bdi>{worker}</bdi></b>{held} });
    let usage = run.usage;
    let tokens = usage.input_tokens.or(usage.output_tokens).map(|_| {
        let shown = |n: Option<i64>| n.map_or("—".into(), words::number);
        format!(
            "{} in, {} out",
            shown(usage.input_tokens),
            shown(usage.output_tokens)
        )
    });
    let labels = run.labels.clone().into_iter().map(|(key, value)| {
        view! { <span class="tag"><bdi>{key}": "{value}</bdi></span> }
    });
    let span = run_row::span(&run);
    view! {
        <dl class="facts">
            <div><dt>"agent"</dt><dd><b><bdi>{agent}</bdi></b></dd></div>
            {run.model.clone().map(|model| view! { <div><dt>"model"</dt><dd><b><bdi>{model}</bdi></b></dd></div> })}
            {worker.map(|worker| view! { <div><dt>"worker"</dt><dd>{worker}</dd></div> })}
            <div><dt>"epoch"</dt><dd><b class="mono">{run.epoch.0}</b></dd></div>
            <div><dt>"cost"</dt><dd><b>{words::cost(usage.cost_usd)}</b></dd></div>
            {tokens.map(|tokens| view! { <div><dt>"tokens"</dt><dd><b>{tokens}</b></dd></div> })}
            <div><dt>"elapsed"</dt><dd><b><Elapsed span=Signal::stored(span)/></b></dd></div>
            <div><dt>"last activity"</dt><dd><b><Ago at=run.updated_at/></b></dd></div>
            <div><dt>"checkpointed"</dt><dd><b>{format!("{} steps", words::number(run.committed))}</b></dd></div>
            {(!run.labels.is_empty()).then(|| view! { <div><dt class="hidden">"labels"</dt><dd class="labels">{labels.collect_view()}</dd></div> })}
        </dl>
    }
    .into_any()
}
