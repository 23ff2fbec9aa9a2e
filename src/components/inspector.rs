//! One step in full: what it was asked to do, what came of it, every attempt, its log, its events and the state.

mod attempts;
mod call;
mod diff;
mod events;
mod log;
mod state;

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use self::{
    attempts::Attempts, call::Call, diff::DiffTab, events::Events, log::Log, state::StateTab,
};
use super::{
    crash_banner::CrashBanner,
    decision_card::StepDecisions,
    glyph::{Glyph, Shape},
    look::Look,
    notice::Refused,
};
use crate::{
    api::AppError,
    domain::{
        Event,
        views::{
            diff_sheet::DiffSheet,
            sheet::{RunSheet, StepSheet},
            state_view::StateView,
            words,
        },
    },
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Tab {
    #[default]
    Call,
    Diff,
    State,
    Attempts,
    Log,
    Events,
}

impl Tab {
    pub const ALL: [Self; 6] = [
        Self::Call,
        Self::Diff,
        Self::State,
        Self::Attempts,
        Self::Log,
        Self::Events,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Diff => "diff",
            Self::State => "state",
            Self::Attempts => "attempts",
            Self::Log => "log",
            Self::Events => "events",
        }
    }

    pub fn of(name: Option<&str>) -> Self {
        let named = |tab: &Self| Some(tab.as_str()) == name;
        Self::ALL.into_iter().find(named).unwrap_or_default()
    }

    fn title(self, step: &StepSheet) -> String {
        match self {
            Self::Call => "Tool call".into(),
            Self::Diff => "State diff".into(),
            Self::State => "State".into(),
            Self::Attempts => format!("Attempts {}", step.detail.attempts.len()),
            Self::Log => format!("Log {}", step.detail.log.len()),
            Self::Events => "Events".into(),
        }
    }
}

/// What a tab shows beside the step itself, read when it is opened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Extra {
    Nothing,
    Events(Vec<Event>),
    Diff(Box<DiffSheet>),
    State(Box<StateView>),
}

#[component]
pub fn Inspector(
    #[prop(into)] step: Signal<Option<StepSheet>>,
    #[prop(into)] run: Signal<Option<RunSheet>>,
    #[prop(into)] tab: Signal<Tab>,
    #[prop(into)] extra: Signal<Option<Result<Extra, AppError>>>,
    /// The address of each tab.
    href: Callback<Tab, String>,
    /// What may be done about the step: beside its name, and above its tabs.
    #[prop(into, optional)]
    acts: ViewFn,
    #[prop(into, optional)] above: ViewFn,
    look: Look,
) -> impl IntoView {
    let banner = move || {
        let (step, run) = (step.get()?, run.get()?);
        let it = &step.detail.step;
        // A decision about the step stands in place of the banner. A superseded step keeps it.
        it.shows_crash().then(|| view! { <CrashBanner step run/> })
    };
    let decided = move || {
        let ahead = run.get().and_then(|it| it.after.ahead);
        step.get().map(|step| view! { <StepDecisions step ahead/> })
    };
    let titles = Memo::new(move |_| {
        step.with(|step| {
            step.as_ref()
                .map(|step| Tab::ALL.map(|tab| tab.title(step)))
        })
    });
    let link = move |(index, which): (usize, Tab)| {
        let title = move || titles.with(|titles| titles.as_ref().map(|it| it[index].clone()));
        view! {
            <a
                class="tab"
                href=move || href.run(which)
                aria-current=move || (tab.get() == which).then_some("true")
            >{title}</a>
        }
    };
    // A run that is over asks nobody any more.
    let over =
        Memo::new(move |_| run.with(|run| run.as_ref().is_some_and(|it| it.run.status.over())));
    let body = move || {
        let body = match tab.get() {
            Tab::Call => view! { <Call step=step.get()? over=over.get()/> }.into_any(),
            Tab::Attempts => view! { <Attempts step=step.get()?/> }.into_any(),
            Tab::Log => view! { <Log step/> }.into_any(),
            Tab::Diff | Tab::State | Tab::Events => match extra.get()? {
                Ok(Extra::Events(events)) => view! { <Events events/> }.into_any(),
                Ok(Extra::Diff(sheet)) => {
                    view! { <DiffTab sheet=*sheet step=step.get()? look/> }.into_any()
                }
                Ok(Extra::State(state)) => {
                    let id = run.with(|run| run.as_ref().map(|run| run.run.id.clone()))?;
                    view! { <StateTab run=id state=*state step=step.get()? look/> }.into_any()
                }
                Ok(Extra::Nothing) => {
                    view! { <p class="loading" role="status">"Loading…"</p> }.into_any()
                }
                Err(error) => view! { <Refused error/> }.into_any(),
            },
        };
        Some(body)
    };
    view! {
        <article class="inspector" aria-labelledby="step-title">
            <div class="inspector-top">
                {move || step.get().map(|step| view! { <Head step/> })}
                {move || acts.run()}
            </div>
            {banner}
            {decided}
            {move || above.run()}
            <nav class="tabs" aria-label="Parts of the step">
                {Tab::ALL.into_iter().enumerate().map(link).collect_view()}
            </nav>
            {body}
        </article>
    }
    .into_any()
}

#[component]
fn Head(step: StepSheet) -> impl IntoView {
    let said = words::detail_stands(&step.detail);
    let it = step.detail.step;
    let tone = match it.decided() {
        true => Shape::Edited.tone(),
        false => Shape::from(it.stood()).tone(),
    };
    let links = step.detail.links.into_iter().filter(|link| link.is_web());
    let links = links.map(|link| {
        view! { <a class="trace" href=link.url rel="external noreferrer noopener" target="_blank"><bdi>{link.label}</bdi>" ↗"</a> }
    });
    view! {
        <header class="inspector-head">
            <Glyph shape=Shape::from(it.stood()) ghost=it.was.is_some()/>
            <h2 id="step-title">{words::number(it.seq)}" · "<bdi>{it.name}</bdi></h2>
            <span class=format!("step-word {tone}")>{said}</span>
            {it.effect.as_ref().map(|_| view! { <span class="tag tag-effect">"external effect"</span> })}
            {links.collect_view()}
        </header>
    }
    .into_any()
}
