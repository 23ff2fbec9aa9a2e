//! One step in full: what it was asked to do, what came of it, every attempt and its log.

use leptos::prelude::*;

use super::{
    crash_banner::CrashBanner,
    excerpt::ExcerptBlock,
    glyph::{Glyph, Shape},
    time::{Elapsed, Span},
};
use crate::domain::{
    Attempt, LogLine, StepStatus,
    sheet::{RunSheet, StepSheet},
    words,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tab {
    #[default]
    Call,
    Attempts,
    Log,
}

impl Tab {
    pub const ALL: [Self; 3] = [Self::Call, Self::Attempts, Self::Log];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Attempts => "attempts",
            Self::Log => "log",
        }
    }

    pub fn of(name: Option<&str>) -> Self {
        let named = |tab: &Self| Some(tab.as_str()) == name;
        Self::ALL.into_iter().find(named).unwrap_or_default()
    }
}

#[component]
pub fn Inspector(
    step: StepSheet,
    run: RunSheet,
    tab: Tab,
    /// The links of [`Tab::ALL`].
    tabs: [String; 3],
) -> impl IntoView {
    let it = step.detail.step.clone();
    let names = [
        "Tool call".to_owned(),
        format!("Attempts {}", step.detail.attempts.len()),
        format!("Log {}", step.detail.log.len()),
    ];
    let links = Tab::ALL.into_iter().zip(tabs).zip(names).map(|((which, href), name)| {
        view! { <a class="tab" href=href aria-current=(which == tab).then_some("true")>{name}</a> }
    });
    let body = match tab {
        Tab::Call => view! { <Call step=step.clone()/> }.into_any(),
        Tab::Attempts => view! { <Attempts attempts=step.detail.attempts.clone()/> }.into_any(),
        Tab::Log => view! { <Log lines=step.detail.log.clone()/> }.into_any(),
    };
    view! {
        <article class="inspector" aria-labelledby="step-title">
            <header class="inspector-head">
                <Glyph shape=Shape::from(it.status)/>
                <h2 id="step-title">{it.seq}" · "<bdi>{it.name.clone()}</bdi></h2>
                <span class=format!("step-word {}", Shape::from(it.status).tone())>{words::step_status(it.status)}</span>
                {it.effect.as_ref().map(|_| view! { <span class="tag tag-effect">"external effect"</span> })}
            </header>
            {(it.status == StepStatus::Crashed).then(|| view! { <CrashBanner step=step.clone() run=run.clone()/> })}
            <nav class="tabs" aria-label="Parts of the step">{links.collect_view()}</nav>
            {body}
        </article>
    }
    .into_any()
}

#[component]
fn Call(step: StepSheet) -> impl IntoView {
    let error = step.detail.error.clone().map(|error| {
        view! { <p class="run-error tone-failed"><b><bdi>{error.kind}</bdi></b>": "<bdi>{error.message}</bdi></p> }
    });
    let question = step.detail.gate.clone().map(|gate| {
        view! { <p class="gate-title tone-waiting"><b><bdi>{gate.title}</bdi></b></p> }
    });
    let nothing = step.input.is_none() && step.result.is_none() && step.partial.is_none();
    let nothing = nothing && error.is_none() && question.is_none();
    view! {
        {error}
        <ExcerptBlock title="stack" excerpt=step.stack/>
        {question}
        <ExcerptBlock title="context" excerpt=step.context/>
        <ExcerptBlock title="input" excerpt=step.input/>
        <ExcerptBlock title="result" excerpt=step.result/>
        <ExcerptBlock title="last partial result" excerpt=step.partial/>
        {nothing.then(|| view! { <p class="dim">"The agent recorded neither input nor result."</p> })}
        <p class="dim">"key " <bdi class="mono">{step.detail.step.key.to_string()}</bdi></p>
    }
    .into_any()
}

#[component]
fn Attempts(attempts: Vec<Attempt>) -> impl IntoView {
    let row = |attempt: Attempt| {
        let span = Span {
            from: attempt.begun_at,
            to: attempt.ended_at,
            seen: attempt.begun_at,
        };
        let error = attempt
            .error
            .map(|error| view! { <bdi>{error.kind}": "{error.message}</bdi> });
        view! {
            <tr>
                <td class="cell-figure">{attempt.attempt}</td>
                <td>{attempt.outcome.as_str()}</td>
                <td class="mono"><bdi>{attempt.worker}</bdi></td>
                <td class="cell-figure">{attempt.epoch.0}</td>
                <td class="cell-figure">{words::time_of_day(attempt.begun_at)}</td>
                <td class="cell-figure"><Elapsed span=Signal::stored(Some(span))/></td>
                <td class="attempt-error">{error}</td>
            </tr>
        }
    };
    view! {
        <table class="attempts" aria-label="Attempts, oldest first">
            <thead>
                <tr>
                    <th scope="col">"#"</th><th scope="col">"Outcome"</th><th scope="col">"Worker"</th>
                    <th scope="col">"Epoch"</th><th scope="col">"Begun"</th><th scope="col">"Duration"</th>
                    <th scope="col">"Error"</th>
                </tr>
            </thead>
            <tbody>{attempts.into_iter().map(row).collect_view()}</tbody>
        </table>
    }
    .into_any()
}

#[component]
fn Log(lines: Vec<LogLine>) -> impl IntoView {
    if lines.is_empty() {
        return view! { <p class="dim">"No log lines."</p> }.into_any();
    }
    let line = |line: LogLine| {
        view! {
            <li><time datetime=line.at.to_string()>{words::time_of_day(line.at)}</time><b>{line.level}</b><bdi>{line.message}</bdi></li>
        }
    };
    view! { <ol class="log">{lines.into_iter().map(line).collect_view()}</ol> }.into_any()
}
