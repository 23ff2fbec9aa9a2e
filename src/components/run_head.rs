//! The head of a run's page: what happened, in words, and the facts around it. Each fact is patched in its place.

use leptos::prelude::*;

use super::{
    asking::AskingWords,
    glyph::Shape,
    pill::Pill,
    run_row,
    time::{Ago, Elapsed},
};
use crate::domain::{
    AgentError, Run,
    nouns::{run::Link, worker::Asking},
    rules::lease::LeaseEnd,
    views::{run_words, sheet::RunSheet, words},
};

#[component]
pub fn RunHead(
    #[prop(into)] sheet: Signal<Option<RunSheet>>,
    /// Who asks for runs of this agent, while this one waits for a worker.
    #[prop(into)]
    asking: Signal<Option<Asking>>,
    children: Children,
) -> impl IntoView {
    let run = Memo::new(move |_| sheet.with(|it| it.as_ref().map(|it| it.run.clone())));
    let title = part(run, run_row::title);
    let agent_of = part(run, |run| run.agent.clone());
    let pill = Memo::new(move |_| {
        let sheet = sheet.get()?;
        let back = sheet.after.rewound_to;
        let shape = match back {
            Some(_) => Shape::Edited,
            None => Shape::from(sheet.run.status),
        };
        Some((shape, words::headline_after(&sheet.run, &sheet.after)))
    });
    let error = Memo::new(move |_| sheet.with(|it| it.as_ref().and_then(|it| it.error.clone())));
    let links = Memo::new(move |_| sheet.with(|it| it.as_ref().map(|it| it.links.clone())));
    let said = |error: AgentError| {
        view! { <p class="run-error tone-failed"><b><bdi>{error.kind}</bdi></b>": "<bdi>{error.message}</bdi></p> }
    };
    let link = |link: Link| {
        view! { <a href=link.url rel="external noreferrer noopener" target="_blank"><bdi>{link.label}</bdi>" ↗"</a> }
    };
    let web = move || {
        let links = links.get().unwrap_or_default();
        let web = links.into_iter().filter(Link::is_web).map(link);
        web.collect_view()
    };
    view! {
        <header class="run-head">
            <div class="run-headline">
                <h1><bdi>{title}</bdi></h1>
                {move || pill.get().map(|(shape, text)| view! { <Pill shape text/> })}
                <div class="run-actions">{children()}</div>
            </div>
            <Facts run sheet/>
            {move || asking.get().zip(agent_of.get()).map(|(asking, agent)| view! {
                <p class="run-asking" class:tone-waiting=asking.workers == 0><AskingWords agent asking/></p>
            })}
            {move || error.get().map(said)}
            <p class="run-links">{web}</p>
        </header>
    }
    .into_any()
}

/// A part of the run, told apart from the rest so that only its change is patched.
pub fn part<T>(run: Memo<Option<Run>>, pick: fn(&Run) -> T) -> Memo<Option<T>>
where
    T: PartialEq + Send + Sync + 'static,
{
    Memo::new(move |_| run.with(|run| run.as_ref().map(pick)))
}

#[component]
fn Facts(run: Memo<Option<Run>>, sheet: Signal<Option<RunSheet>>) -> impl IntoView {
    let agent = part(run, |run| match &run.code_version {
        Some(version) => format!("{}@{version}", run.agent),
        None => run.agent.clone(),
    });
    let model = part(run, |run| run.model.clone());
    let worker = part(run, |run| run.worker.clone());
    let epoch = part(run, |run| run.epoch.0);
    let cost = part(run, |run| words::cost(run.usage.cost_usd));
    let tokens = part(run, tokens);
    let labels = part(run, |run| run.labels.clone());
    let parent = part(run, |run| run.parent.clone());
    let origin = part(run, run_words::origin);
    let saved = Memo::new(move |_| sheet.with(|it| it.as_ref().and_then(saved)));
    let span = Signal::derive(move || run.with(|run| run.as_ref().and_then(run_row::span)));
    let label = |(key, value): (String, String)| {
        view! { <span class="tag"><bdi>{key}": "{value}</bdi></span> }
    };
    let labels = move || {
        let labels = labels.get().filter(|it| !it.is_empty());
        labels.map(|labels| view! {
            <div><dt class="hidden">"labels"</dt><dd class="labels">{labels.into_iter().map(label).collect_view()}</dd></div>
        })
    };
    let parent = move || {
        parent.get().flatten().map(|it| {
            let href = format!("/runs/{}?step={}", it.run, it.seq);
            let text = run_words::place(it.run.short(), it.seq);
            view! { <div><dt>{origin.get()}</dt><dd><a href=href>{text}</a></dd></div> }
        })
    };
    view! {
        <dl class="facts">
            <div><dt>"agent"</dt><dd><b><bdi>{agent}</bdi></b></dd></div>
            {move || model.get().flatten().map(|model| view! { <div><dt>"model"</dt><dd><b><bdi>{model}</bdi></b></dd></div> })}
            {move || worker.get().flatten().map(|worker| view! {
                <div><dt>"worker"</dt><dd><b class="mono"><bdi>{worker}</bdi></b><WorkerLease run sheet/></dd></div>
            })}
            <div><dt>"epoch"</dt><dd><b class="mono">{epoch}</b></dd></div>
            <div><dt>"cost"</dt><dd><b>{cost}</b></dd></div>
            {move || tokens.get().flatten().map(|tokens| view! { <div><dt>"tokens"</dt><dd><b>{tokens}</b></dd></div> })}
            <div><dt>"elapsed"</dt><dd><b><Elapsed span/></b></dd></div>
            {move || saved.get().map(|saved| view! { <div><dt>"saved"</dt><dd><b>{saved}</b></dd></div> })}
            {parent}
            {labels}
        </dl>
    }
    .into_any()
}

/// How the worker stands to the run: holds it, lost it, or let it go.
#[component]
fn WorkerLease(run: Memo<Option<Run>>, sheet: Signal<Option<RunSheet>>) -> impl IntoView {
    let ended = move || sheet.with(|it| it.as_ref().and_then(|it| it.after.lease_ended));
    let held = Memo::new(move |_| {
        let lease = run.with(|run| run.as_ref().map(|run| run.lease.clone()))?;
        if let Some(lease) = lease {
            return Some((", holds the lease, heard ", lease.heartbeat_at));
        }
        let (at, by) = ended()?;
        Some(match by {
            LeaseEnd::Expiry | LeaseEnd::Takeover => (", lease lost ", at),
            LeaseEnd::Release => (", released it ", at),
            LeaseEnd::Finish => (", finished ", at),
        })
    });
    move || held.get().map(|(said, at)| view! { {said}<Ago at/> })
}

fn tokens(run: &Run) -> Option<String> {
    let usage = run.usage;
    usage.input_tokens.or(usage.output_tokens)?;
    let shown = |n: Option<i64>| n.map_or("—".into(), words::number);
    Some(format!(
        "{} in, {} out",
        shown(usage.input_tokens),
        shown(usage.output_tokens)
    ))
}

/// What the checkpoints saved, as the plan says it: "46 steps · 36m 29s · $18.42".
fn saved(sheet: &RunSheet) -> Option<String> {
    let saved = sheet.after.saved.filter(|it| it.steps > 0)?;
    let mut parts = vec![
        words::several(saved.steps, "step"),
        words::span((saved.seconds * 1e3) as i64),
    ];
    parts.extend(saved.cost_usd.map(|usd| words::cost(Some(usd))));
    Some(parts.join(" · "))
}
