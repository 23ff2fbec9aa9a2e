//! The resume plan: what will happen to each step, what has to be decided, and the button that does it. Nothing is
//! sent before that.

mod choices;
mod figures;
mod one_value;
mod rows;

use leptos::{ev, html, prelude::*};

pub use self::one_value::{Said, StandsThere};
use self::{figures::Figures, rows::Rows};
use super::{
    next_field,
    refusal::Refusal,
    renewed::{LivePlan, Renewed},
};
use crate::{
    api::AppError,
    domain::{
        DecisionKind, RunId,
        nouns::worker::Asking,
        rules::plan::Taker,
        views::{
            pick::{self, first_picks, missing},
            words,
        },
        wire::protocol::Decide,
    },
};

/// Where else the plan leads.
#[derive(Debug, Clone, PartialEq)]
pub struct Elsewhere {
    pub back: String,
    pub edit: String,
    pub rewind: String,
    pub fork: String,
}

#[component]
pub fn PlanView(
    plan: LivePlan,
    agent: String,
    /// What a button elsewhere asked for.
    #[prop(optional_no_strip)]
    choose: Option<DecisionKind>,
    elsewhere: Elsewhere,
    stands: StandsThere,
    /// Whether this person may decide.
    may: bool,
    reason: RwSignal<String>,
    #[prop(into)] busy: Signal<bool>,
    #[prop(into)] refused: Signal<Option<AppError>>,
    on_resume: Callback<Decide>,
) -> impl IntoView {
    let now = plan.now;
    let picks = RwSignal::new(now.with_untracked(|plan| first_picks(plan, choose)));
    Effect::new(move || {
        if let Some(before) = plan.before.get() {
            now.with_untracked(|now| picks.update(|it| *it = pick::kept(&before, now, it)));
            // The state may be another by now.
            if let Some(said) = stands.said.get_untracked() {
                stands.ask.run(said.path);
            }
        }
    });
    // Without WASM the button is always there: the server says what is missing.
    let ready = RwSignal::new(false);
    Effect::new(move || ready.set(true));
    let lacks = Memo::new(move |_| now.with(|plan| missing(plan, &picks.get(), &reason.get())));
    let changes = Memo::new(move |_| now.with(|plan| pick::changes(plan, &picks.get())));
    let form = NodeRef::<html::Form>::new();
    let send = move || {
        let made = now.with_untracked(|plan| {
            pick::order(plan, &picks.get_untracked(), reason.get_untracked().trim())
        });
        if let (Ok(order), false) = (made, busy.get_untracked()) {
            on_resume.run(order);
        }
    };
    let submit = move |event: ev::SubmitEvent| {
        event.prevent_default();
        send();
    };
    let keys = move |event: ev::KeyboardEvent| {
        next_field::send_or_go(&event, lacks.with_untracked(Option::is_none), send);
    };
    let title = move || match now.with(|plan| plan.from) {
        Some(seq) => format!("Resume from step {}", words::number(seq)),
        None => "Resume".into(),
    };
    let open = Memo::new(move |_| may && now.with(|plan| plan.refused.is_none()));
    let action = now.with_untracked(|plan| action(&plan.run));
    let taker = move || {
        let taker = now.with(|plan| plan.taker.clone());
        view! { <TakerWords agent=agent.clone() taker/> }
    };
    let why = move || {
        now.with(|plan| plan.refused.clone()).map(|why| {
            view! {
                <div class="refused"><p><b>"It cannot be resumed now: "</b><bdi>{why}</bdi>"."</p></div>
            }
        })
    };
    let back = elsewhere.back.clone();
    let rows = move || {
        view! { <Rows plan=now.get() picks elsewhere=elsewhere.clone() stands open=open.get()/> }
    };
    view! {
        <form class="plan" class:has-foot=true node_ref=form method="post" action=action on:submit=submit on:keydown=keys aria-labelledby="plan-title">
            <input type="hidden" name="plan" value=move || now.with(|plan| plan.hash.to_string())/>
            <input type="hidden" name="version" value=move || now.with(|plan| plan.version.to_string())/>
            <header class="plan-head">
                <h2 id="plan-title">{title}</h2>
                <p class="dim">"What will happen when a worker picks this run up. Nothing has been sent yet. "{taker}</p>
            </header>
            {move || refused.get().map(|error| view! { <Refusal error renewed=true/> })}
            <Renewed plan refused/>
            {why}
            {move || view! { <Figures plan=now.get() changes/> }}
            {rows}
            <footer class="plan-foot">
                {move || open.get().then(|| view! {
                    <label class="reason">
                        "Reason"
                        <input type="text" class="input" name="reason" maxlength="1000" autocomplete="off" placeholder="kept in the audit log"
                            prop:value=move || reason.get() on:input=move |event| reason.set(event_target_value(&event))/>
                    </label>
                    <p class="dim missing" role="status">{move || lacks.get()}</p>
                    {move || (!changes.with(Vec::is_empty)).then(|| view! {
                        <p class="plan-changes">"Resuming also changes the state: "<bdi class="mono">{changes.get().join("; ")}</bdi></p>
                    })}
                })}
                {(!may).then(|| view! { <p class="dim">{words::VIEW_ONLY}</p> })}
                <a class="button" href=back>"Back"</a>
                {move || open.get().then(|| view! {
                    <button type="submit" class="button primary" disabled=move || busy.get() || (ready.get() && lacks.with(Option::is_some))>
                        "Resume run "<kbd aria-hidden="true">"⌘↵"</kbd>
                    </button>
                })}
            </footer>
        </form>
    }
    .into_any()
}

fn action(run: &RunId) -> String {
    format!("/runs/{run}/resume")
}

/// Whether a worker is there to take the run.
#[component]
pub fn TakerWords(agent: String, taker: Taker) -> impl IntoView {
    let asking = Asking {
        workers: taker.workers,
        last: taker.last,
    };
    let alone = taker.workers == 0;
    view! { <span class:tone-waiting=alone><super::asking::AskingWords agent asking/>"."</span> }
        .into_any()
}
