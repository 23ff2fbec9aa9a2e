//! The lines of a plan: what is replayed in ranges, what changed in the gap, and every step that is more than that.

use leptos::prelude::*;

use super::{Elsewhere, choices::Choices, figures, one_value::StandsThere};
use crate::{
    components::{
        glyph::{Glyph, Shape},
        time::Moment,
    },
    domain::{
        StepStatus,
        rules::{
            decision::EditMark,
            plan::{Changed, Checked, LeftBehind, Plan, PlanAction, PlanStep, Span},
        },
        views::{pick::Picks, run_words::NOT_UNDONE, words},
    },
};

/// Announced steps that are named; the rest is counted.
const NAMED: usize = 3;

#[component]
pub fn Rows(
    plan: Plan,
    picks: RwSignal<Picks>,
    elsewhere: Elsewhere,
    stands: StandsThere,
    open: bool,
) -> impl IntoView {
    let (plain, own): (Vec<_>, Vec<_>) = plan.steps.iter().cloned().partition(is_plain);
    let spans = merged(&plan.replays, &plain);
    let expected: Vec<_> = own
        .iter()
        .filter(|step| step.action == PlanAction::Expected)
        .cloned()
        .collect();
    let own = own
        .into_iter()
        .filter(|step| step.action != PlanAction::Expected)
        .map(move |step| view! { <Line step picks elsewhere=elsewhere.clone() stands open/> });
    let range = figures::range(&plan);
    view! {
        <div class="plan-rows" role="list" aria-label="What will happen">
            {(!spans.is_empty()).then(|| view! { <Replayed spans checked=plan.integrity.clone()/> })}
            {(!plan.gap.is_empty()).then(|| view! { <Gap gap=plan.gap.clone()/> })}
            {(!plan.not_undone.is_empty()).then(|| view! { <LeftThere left=plan.not_undone.clone()/> })}
            {own.collect_view()}
            {(!expected.is_empty()).then(|| view! { <Expected expected range/> })}
        </div>
    }
    .into_any()
}

/// Replayed, and nothing more to say about it.
fn is_plain(step: &PlanStep) -> bool {
    step.action == PlanAction::Replay
        && step.status == StepStatus::Committed
        && step.edits.is_empty()
}

/// The spans with the single steps between them: "1 – 28, 30 – 46".
fn merged(spans: &[Span], single: &[PlanStep]) -> Vec<Span> {
    let single = single.iter().filter_map(|it| it.seq);
    let single = single.map(|seq| Span { from: seq, to: seq });
    let mut all: Vec<_> = spans.iter().copied().chain(single).collect();
    all.sort_by_key(|span| span.from);
    let mut merged: Vec<Span> = Vec::new();
    for span in all {
        match merged.last_mut() {
            Some(last) if last.to + 1 >= span.from => last.to = last.to.max(span.to),
            _ => merged.push(span),
        }
    }
    merged
}

fn spoken(spans: &[Span]) -> String {
    let one = |span: &Span| match span.to - span.from {
        0 => words::number(span.from),
        _ => format!("{} – {}", words::number(span.from), words::number(span.to)),
    };
    spans.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[component]
fn Replayed(spans: Vec<Span>, checked: Checked) -> impl IntoView {
    let damaged = !checked.damaged.is_empty();
    let sums = match damaged {
        true => {
            let list: Vec<_> = checked.damaged.iter().map(i64::to_string).collect();
            format!("damaged in the store: step {}", list.join(", "))
        }
        false => format!(
            "checksums verified, {} of {}",
            words::number(checked.good),
            words::number(checked.of)
        ),
    };
    view! {
        <div class="plan-row" role="listitem">
            <span class="plan-seq">{spoken(&spans)}</span>
            <span class="plan-mark"><Glyph shape=if damaged { Shape::Damaged } else { Shape::Committed }/></span>
            <span class="plan-what">"replay"</span>
            <span class="plan-detail">"results read from the store"</span>
            <span class="plan-detail" class:tone-failed=damaged>{sums}</span>
        </div>
    }
    .into_any()
}

#[component]
fn Gap(gap: Vec<Changed>) -> impl IntoView {
    let code: Vec<_> = gap
        .iter()
        .filter_map(|it| match it {
            Changed::Version { was, now } => Some(format!(
                "Agent version {}; the last worker seen runs {now}",
                known(was)
            )),
            Changed::Model { was, now } => Some(format!("model {} → {now}", known(was))),
            Changed::Reference { .. } => None,
        })
        .collect();
    let references = gap.into_iter().filter_map(|it| match it {
        Changed::Reference { uri, was, now, checked_at, checked_by } => {
            let said = match now {
                None => view! { "checked on resume" }.into_any(),
                Some(now) => {
                    let how = if now == was { "unchanged" } else { "changed" };
                    let by = checked_by.unwrap_or_default();
                    view! { {how}", checked "{checked_at.map(|at| view! { "at "<Moment at/> })}" by "<bdi>{by}</bdi> }.into_any()
                }
            };
            Some(view! { <span class="gap-reference"><bdi class="mono">{uri}</bdi>": "{said}</span> })
        }
        _ => None,
    });
    view! {
        <div class="plan-row" role="listitem">
            <span class="plan-seq"></span>
            <span class="plan-mark tone-waiting" aria-hidden="true">"▲"</span>
            <span class="plan-what tone-waiting">"Changed since it stopped"</span>
            <span class="plan-detail"><bdi>{code.join("; ")}</bdi></span>
            <span class="plan-detail">{references.collect_view()}</span>
        </div>
    }
    .into_any()
}

fn known(text: &Option<String>) -> &str {
    text.as_deref().unwrap_or("unknown")
}

#[component]
fn Line(
    step: PlanStep,
    picks: RwSignal<Picks>,
    elsewhere: Elsewhere,
    stands: StandsThere,
    open: bool,
) -> impl IntoView {
    let seq = step.seq.map(words::number).unwrap_or_default();
    let decide = step.action == PlanAction::Decide;
    let edited = !step.edits.is_empty() && step.action == PlanAction::Replay;
    let shape = match (step.action, edited) {
        (_, true) => Shape::Edited,
        (PlanAction::Execute, _) => Shape::Running,
        (PlanAction::Given, _) => Shape::Skipped,
        (PlanAction::Wait, _) => Shape::Waiting,
        _ => Shape::from(step.status),
    };
    let what = match (step.action, edited) {
        (_, true) => "replay, edited".to_owned(),
        (PlanAction::Decide, _) => step.name.clone(),
        (action, _) => format!("{action} {}", step.name),
    };
    let first = match (&step.effect, step.edits.last()) {
        (Some(effect), _) if step.action != PlanAction::Replay => {
            let class = if effect.unknown { "tone-waiting" } else { "" };
            view! { <span class=class><bdi>{effect.words.clone()}</bdi></span> }.into_any()
        }
        (_, Some(edit)) if edited => edited_by(edit).into_any(),
        _ => view! { <bdi>{step.name.clone()}</bdi> }.into_any(),
    };
    let second = match step.edits.last().filter(|_| edited) {
        Some(edit) => edit
            .reason
            .clone()
            .map(|it| format!("“{it}”"))
            .unwrap_or_default(),
        None => step.why.clone(),
    };
    let unknown = step.effect.as_ref().is_some_and(|it| it.unknown);
    let skipped = step.status == StepStatus::Skipped;
    // A replayed step names its own edit; any other step goes on from the edited state.
    let edits = step.edits.clone().into_iter().filter(|_| !edited);
    view! {
        {edits.map(|edit| view! { <Edited edit/> }).collect_view()}
        <div class="plan-row" class:is-decide=decide role="listitem">
            <span class="plan-seq">{seq}</span>
            <span class="plan-mark"><Glyph shape/></span>
            <span class="plan-what"><bdi>{what}</bdi></span>
            <span class="plan-detail">{first}</span>
            <span class="plan-detail" class:tone-crashed=(decide || skipped) && unknown><bdi>{second}</bdi></span>
            {decide.then(|| view! { <Choices step=step.clone() picks elsewhere stands open/> })}
        </div>
    }
    .into_any()
}

/// "state edited by ana (1 change), 09:33"
fn edited_by(edit: &EditMark) -> impl IntoView {
    let (by, at) = (edit.author.clone(), edit.at);
    let count = edit.changes.map(|n| words::several(n, "change"));
    let count = count.map(|count| format!(" ({count})"));
    view! { "state edited by "<bdi>{by}</bdi>{count}", "<Moment at/> }
}

/// A change by hand that the steps below go on from.
#[component]
fn Edited(edit: EditMark) -> impl IntoView {
    let why = edit.reason.clone().map(|it| format!("“{it}”"));
    view! {
        <div class="plan-row" role="listitem">
            <span class="plan-seq"></span>
            <span class="plan-mark"><Glyph shape=Shape::Edited/></span>
            <span class="plan-what tone-edited">"edited"</span>
            <span class="plan-detail">{edited_by(&edit)}</span>
            <span class="plan-detail"><bdi>{why}</bdi></span>
        </div>
    }
    .into_any()
}

/// What a rewind or fork before this plan did not undo.
#[component]
fn LeftThere(left: Vec<LeftBehind>) -> impl IntoView {
    let one = |it: LeftBehind| {
        let known = it.known();
        view! { <span class="gap-reference"><b>{words::number(it.seq)}" "<bdi>{it.name}</bdi></b>", "<bdi>{it.effect.words}</bdi>": "<b class="tone-crashed">{known}</b></span> }
    };
    view! {
        <div class="plan-row is-decide" role="listitem">
            <span class="plan-seq"></span>
            <span class="plan-mark tone-crashed" aria-hidden="true">"▲"</span>
            <span class="plan-what tone-crashed">{NOT_UNDONE}</span>
            <span class="plan-detail">{left.into_iter().map(one).collect_view()}</span>
            <span class="plan-detail tone-crashed">"these effects may happen again, with new keys"</span>
        </div>
    }
    .into_any()
}

#[component]
fn Expected(expected: Vec<PlanStep>, range: String) -> impl IntoView {
    let mut names: Vec<_> = expected
        .iter()
        .take(NAMED)
        .map(|it| it.name.clone())
        .collect();
    if expected.len() > NAMED {
        names.push("…".into());
    }
    let targets: Vec<_> = expected
        .iter()
        .filter_map(|it| it.effect.as_ref().map(|effect| effect.target.clone()))
        .collect();
    let effects = match targets.len() {
        0 => "no external effect announced".to_owned(),
        1 => format!("1 more external effect announced: {}", targets[0]),
        n => format!(
            "{n} more external effects announced: {}",
            targets[..n.min(NAMED)].join(", ")
        ),
    };
    view! {
        <div class="plan-row" role="listitem">
            <span class="plan-seq">{range}</span>
            <span class="plan-mark"><Glyph shape=Shape::Pending/></span>
            <span class="plan-what">"announced"</span>
            <span class="plan-detail"><bdi>{names.join(", ")}</bdi></span>
            <span class="plan-detail"><bdi>{effects}</bdi></span>
        </div>
    }
    .into_any()
}
