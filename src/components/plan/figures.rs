//! The plan in four figures.

use leptos::prelude::*;

use crate::domain::{
    rules::plan::{Plan, PlanAction, PlanStep},
    views::words,
};

#[component]
pub fn Figures(
    plan: Plan,
    /// Changes of the state that are sent with the decisions.
    changes: Memo<Vec<String>>,
) -> impl IntoView {
    let replayed = plan.saved.steps;
    let asks: Vec<_> = plan.missing().collect();
    let (decisions, about) = decisions(&plan, &asks);
    let tone = if asks.is_empty() { "" } else { "tone-crashed" };
    let expected = plan.count(PlanAction::Expected);
    let announced = match (expected, range(&plan)) {
        (0, _) => "the agent named no further step".to_owned(),
        (_, range) => format!("{range}; the agent may choose others"),
    };
    let seconds = (plan.saved.seconds * 1e3) as i64;
    let time = words::span(seconds);
    let saved = match plan.saved.cost_usd {
        Some(usd) => format!("{} · {time}", words::cost(Some(usd))),
        None => time,
    };
    view! {
        <div class="plan-figures">
            <div class="figure"><b class="tone-committed">{words::number(replayed)}" replayed"</b><p>"from checkpoints, not executed again"</p></div>
            <div class="figure"><b class=tone>{decisions}</b><p>{about}{move || changed(changes.with(Vec::len))}</p></div>
            <div class="figure"><b>{words::number(expected)}" announced"</b><p>{announced}</p></div>
            <div class="figure"><b>{saved}</b><p>"not paid again"</p></div>
        </div>
    }
    .into_any()
}

fn changed(values: usize) -> Option<String> {
    match values {
        0 => None,
        1 => Some("; 1 value of the state is changed".to_owned()),
        n => Some(format!("; {n} values of the state are changed")),
    }
}

/// How many decisions are asked for, and about what.
fn decisions(plan: &Plan, asks: &[&PlanStep]) -> (String, String) {
    let count = match asks.len() {
        0 => "No decision".to_owned(),
        1 => "1 decision".to_owned(),
        n => format!("{n} decisions"),
    };
    let unknown = |step: &&&PlanStep| step.effect.as_ref().is_some_and(|it| it.unknown);
    let steps = |of: Vec<i64>| match of.as_slice() {
        [one] => format!("step {one}"),
        many => format!("{} steps", many.len()),
    };
    let risky: Vec<_> = asks
        .iter()
        .filter(unknown)
        .filter_map(|it| it.seq)
        .collect();
    let about = match (asks.is_empty(), risky.is_empty()) {
        (true, _) => plan.executed_again(),
        (false, false) => format!("{} may already have happened", steps(risky)),
        (false, true) => format!(
            "about {}",
            steps(asks.iter().filter_map(|it| it.seq).collect())
        ),
    };
    (count, about)
}

/// The numbers that announced steps get if the agent keeps to its plan: "48 – 52".
pub fn range(plan: &Plan) -> String {
    let recorded = plan.replays.iter().map(|span| span.to);
    let last = recorded
        .chain(plan.steps.iter().filter_map(|it| it.seq))
        .max()
        .unwrap_or(0);
    let expected = plan.count(PlanAction::Expected);
    match expected {
        0 => String::new(),
        1 => words::number(last + 1),
        n => format!("{} – {}", words::number(last + 1), words::number(last + n)),
    }
}
