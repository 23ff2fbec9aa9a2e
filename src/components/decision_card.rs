//! What a person decided, as a card where it matters: who, when, which choice, with what result, why.

use leptos::prelude::*;

use super::{copy_hash::CopyHash, time::At};
use crate::domain::{
    DecisionKind,
    nouns::step::Step,
    rules::decision::{Chosen, Decision, Gist, NamedStep},
    views::{
        sheet::{Ahead, StepSheet},
        words,
    },
};

/// Cards that stand open on a step; the others are folded.
const OPEN: usize = 2;

/// All decisions about a step, the newest on top.
#[component]
pub fn StepDecisions(
    step: StepSheet,
    /// What the next worker does, while the run waits for one.
    ahead: Option<Ahead>,
) -> impl IntoView {
    let doubt = step.detail.doubt();
    let doubt = doubt.map(|it| words::capital(it.in_words()));
    let it = step.detail.step;
    let mut all = step.detail.decisions;
    let rest = all.split_off(all.len().min(OPEN));
    let (newest, of) = (all.first().map(|it| it.id), it.clone());
    let unknown = doubt.clone();
    let one = move |decision: Decision| {
        let current = newest == Some(decision.id);
        view! { <StepCard decision step=of.clone() doubt=unknown.clone() current ahead/> }
    };
    let more = rest.len();
    let other = it;
    let old = move |decision: Decision| {
        view! { <StepCard decision step=other.clone() doubt=doubt.clone() current=false ahead=None/> }
    };
    view! {
        {all.into_iter().map(one).collect_view()}
        {(more > 0).then(|| view! {
            <details class="decided-more">
                <summary>{format!("{} earlier", words::several(more as i64, "decision"))}</summary>
                {rest.into_iter().map(old).collect_view()}
            </details>
        })}
    }
    .into_any()
}

#[component]
fn StepCard(
    decision: Decision,
    step: Step,
    /// What nobody knows of its last attempt.
    doubt: Option<String>,
    /// Nothing was decided about the step after it.
    current: bool,
    ahead: Option<Ahead>,
) -> impl IntoView {
    let seq = step.seq;
    let chosen = decision.chosen_for(seq).cloned();
    let said = said(&decision, chosen.as_ref());
    let resumed = decision.kind == DecisionKind::Resume && chosen.is_some();
    // A retry is no longer ahead once a worker has begun the step again.
    let to_come = |it: &&Chosen| current && (it.kind != DecisionKind::Retry || step.decided());
    let then = chosen.as_ref().filter(to_come).map(|it| it.then(&step));
    let skips = chosen
        .as_ref()
        .is_some_and(|it| it.kind == DecisionKind::Skip);
    // A skip settles nothing outside, so the doubt stays beside it.
    let doubt = doubt.filter(|_| skips && step.skipped_in_doubt());
    let new_key = chosen.as_ref().is_some_and(|it| it.new_key) && current;
    let key = new_key.then(|| step.idempotency_key.clone());
    let result = chosen.as_ref().and_then(|it| it.result.clone());
    let change = decision
        .change
        .clone()
        .or(chosen.and_then(|it| it.change.clone()));
    // Until a worker takes the run, it stands as the resume left it.
    let counts = ahead.filter(|_| current && resumed);
    let counts = counts.map(|it| format!(" · {}", it.in_words()));
    let plan = decision.plan.filter(|_| resumed).map(|hash| {
        let short: String = hash.to_string().chars().take(8).collect();
        view! { <div><dt>"plan"</dt><dd><span class="mono">{short}"…"</span>" "<CopyHash hash=hash.to_string()/>" as it was shown"{counts}</dd></div> }
    });
    let reason = decision.reason.clone();
    let named = |it: &NamedStep| format!("{} {}", words::number(it.step), it.name);
    let again: Vec<_> = decision.effects.iter().map(named).collect();
    let again = (!again.is_empty()).then(|| again.join(", "));
    view! {
        <section class="decided" aria-label="Decision">
            <p>
                <b><bdi>{decision.author.clone()}</bdi></b>" "<bdi>{said}</bdi>
                " · "<At at=decision.at/>
                {resumed.then_some(" · then resumed the run")}
                {again.map(|again| view! { " · may happen again: "<b><bdi>{again}</bdi></b> })}
            </p>
            {reason.map(|reason| view! { <p class="dim">"“"<bdi>{reason}</bdi>"”"</p> })}
            <dl class="decided-facts">
                {then.map(|then| view! { <div><dt>"what happens"</dt><dd><bdi>{then}</bdi></dd></div> })}
                {doubt.map(|it| view! { <div><dt>"not known"</dt><dd class="tone-crashed"><bdi>{it}</bdi></dd></div> })}
                {key.map(|key| view! { <div><dt>"new key"</dt><dd><bdi class="mono">{key}</bdi></dd></div> })}
                {result.map(|it| fact("result", it))}
                {change.map(|it| fact("change", it))}
                {plan}
            </dl>
        </section>
    }
    .into_any()
}

fn fact(name: &'static str, gist: Gist) -> impl IntoView {
    view! { <div><dt>{name}</dt><dd><bdi class="mono">{gist.said()}</bdi></dd></div> }
}

/// What was done, as it follows the author's name.
fn said(decision: &Decision, chosen: Option<&Chosen>) -> String {
    match (decision.kind, chosen) {
        (DecisionKind::Rewind, _) => words::rewound(decision),
        (DecisionKind::Skip, _) => "skipped the step".into(),
        (DecisionKind::Approve, _) => "approved".into(),
        (DecisionKind::Reject, _) => "rejected".into(),
        (DecisionKind::Answer, _) => "answered".into(),
        (_, Some(chosen)) => format!("decided “{}”", chosen.in_words()),
        (kind, None) => words::did(kind, decision),
    }
}
