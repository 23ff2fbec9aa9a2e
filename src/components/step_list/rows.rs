//! The kinds of rows: a phase's heading, a step, an announced step.

use leptos::prelude::*;

use super::RowContext;
use crate::{
    components::{
        glyph::{Glyph, Shape},
        time::{Elapsed, Slow, Span},
    },
    domain::{
        Step, StepStatus,
        nouns::run::Announced,
        views::{outline::Row, timeline::Phase, words},
    },
};

#[component]
pub fn RowView(row: Row, index: i64, context: RowContext) -> impl IntoView {
    match row {
        Row::Phase(phase) => view! { <PhaseRow phase index context/> }.into_any(),
        Row::Step(seq) => view! { <StepRow seq index context/> }.into_any(),
        Row::Announced(n) => view! { <ExpectedRow n context/> }.into_any(),
    }
}

#[component]
fn PhaseRow(phase: i64, index: i64, context: RowContext) -> impl IntoView {
    let outline = context.outline;
    let it = Memo::new(move |_| outline.with(|it| it.phases.get(phase as usize).cloned()));
    let folded = Memo::new(move |_| {
        outline.with(|it| it.folded.get(phase as usize).copied().unwrap_or(false))
    });
    let first = move || it.with(|it| it.as_ref().map_or(1, |it| it.first));
    // Without WASM the heading is a link that opens the phase at its first step.
    let turn = move |event: leptos::ev::MouseEvent| {
        event.prevent_default();
        outline.update(|it| it.turn(phase));
    };
    view! {
        <tr class="phase-row" aria-rowindex=index.to_string()>
            <th colspan="6" scope="rowgroup">
                <a href=move || context.href.run(first()) on:click=turn role="button" data-row=""
                    aria-expanded=move || (!folded.get()).to_string()>
                    <span aria-hidden="true">{move || if folded.get() { "▸ " } else { "▾ " }}</span>
                    <bdi>{move || it.get().map(|it| name(&it))}</bdi>" "
                    <span class="phase-facts">{move || it.get().map(|it| facts(&it))}</span>
                </a>
            </th>
        </tr>
    }
    .into_any()
}

fn name(phase: &Phase) -> String {
    phase.name.clone().unwrap_or_else(|| "Since then".into())
}

/// "steps 1–19 · 14m 02s · milestone ✓"
fn facts(phase: &Phase) -> String {
    let steps = format!(
        "steps {}–{}",
        words::number(phase.first),
        words::number(phase.last)
    );
    match phase.reached {
        Some(reached) => {
            let took = words::span(reached.ms_since(phase.from));
            format!("{steps} · {took} · milestone ✓")
        }
        None => steps,
    }
}

#[component]
fn StepRow(seq: i64, index: i64, context: RowContext) -> impl IntoView {
    let step = Memo::new(move |_| context.steps.with(|steps| steps.get(&seq).cloned()));
    let on = Memo::new(move |_| context.selected.get() == Some(seq));
    let cells = move || match step.get() {
        Some(step) => view! { <Cells step on context/> }.into_any(),
        None => view! { <td></td><td class="dim" colspan="4">"…"</td> }.into_any(),
    };
    let ghost = move || {
        step.with(|step| {
            step.as_ref()
                .is_some_and(|it| it.status == StepStatus::Superseded)
        })
    };
    view! {
        <tr
            class="step-row"
            class:is-superseded=ghost
            aria-rowindex=index.to_string()
            aria-selected=move || on.get().then_some("true")
        >
            <td class="cell-figure">{words::number(seq)}</td>
            {cells}
        </tr>
    }
    .into_any()
}

#[component]
fn Cells(step: Step, on: Memo<bool>, context: RowContext) -> impl IntoView {
    let span = Span {
        from: step.begun_at,
        to: step.ended_at,
        seen: step.begun_at,
    };
    let shown = (step.status != StepStatus::Waiting && !step.damaged).then_some(span);
    let tries = (step.tries > 1).then(|| format!("{} tries", step.tries));
    let seq = step.seq;
    let running = step.status == StepStatus::Running;
    let slow = running.then(|| {
        let usual = Signal::derive(move || {
            let usual = context.usual.get();
            usual.filter(|(of, _)| *of == seq).map(|(_, usual)| usual)
        });
        view! { <Slow usual span/> }
    });
    let (shape, word) = match step.damaged {
        true => (Shape::Damaged, words::DAMAGED.to_owned()),
        false => (Shape::from(step.stood()), words::step_stands(&step)),
    };
    let ghost = step.was.is_some();
    let link = move |name: String| {
        view! {
            <a class="step-name" href=move || context.href.run(seq) data-row=""
                aria-current=move || on.get().then_some("true")><bdi>{name}</bdi></a>
        }
    };
    if step.damaged {
        // What the row says may be what was damaged: none of it is shown as true.
        return view! {
            <td class="cell-mark"><Glyph shape=shape label=word.clone() ghost/></td>
            <td class="cell-step"><div class="step-line">{link(word)}</div></td>
            <td class="cell-figure">"—"</td>
            <td class="cell-figure cell-usd">"—"</td>
            <td class="cell-figure cell-change">"—"</td>
        }
        .into_any();
    }
    // A retry that was ordered is no retry yet.
    let decision = step.decision.filter(|_| !step.decided());
    let ordered = step
        .decided()
        .then(|| view! { <span class="step-decision">"runs again"</span> });
    view! {
        <td class="cell-mark">
            <Glyph shape=shape label=word ghost/>
        </td>
        <td class="cell-step"><div class="step-line">
            {link(step.name)}
            <bdi class="step-tool">{step.tool.unwrap_or_else(|| step.kind.as_str().to_owned())}</bdi>
            {step.effect.map(|_| view! { <span class="tag tag-effect">"effect"</span> })}
            {ordered}
            {decision.map(|kind| view! { <span class="step-decision">{words::decided(kind)}</span> })}
            {tries.map(|tries| view! { <span class="step-tries">{tries}</span> })}
            {slow}
        </div></td>
        <td class="cell-figure"><Elapsed span=Signal::stored(shown)/></td>
        <td class="cell-figure cell-usd">{words::cost(step.cost_usd)}</td>
        <td class="cell-figure cell-change">{words::state_change(step.state_change)}</td>
    }
    .into_any()
}

/// The nth step that is announced, counted from 0, and may never come; its number is what it would be if it came next. Which one
/// it is changes while the run goes on, and the row stays.
#[component]
fn ExpectedRow(n: i64, context: RowContext) -> impl IntoView {
    let outline = context.outline;
    let step = Memo::new(move |_| outline.with(|it| it.announced.get(n as usize).cloned()));
    let seq = move || words::number(outline.with(|it| it.steps) + n + 1);
    // The table's head is its first row.
    let index = move || outline.with(|it| it.len() - it.announced.len() as i64) + n + 2;
    let cells = move || step.get().map(|step| view! { <ExpectedCells step/> });
    view! {
        <tr class="step-row is-expected" aria-rowindex=move || index().to_string()>
            <td class="cell-figure">{seq}</td>
            {cells}
        </tr>
    }
    .into_any()
}

#[component]
fn ExpectedCells(step: Announced) -> impl IntoView {
    view! {
        <td class="cell-mark"><Glyph shape=Shape::Pending label="announced".to_owned()/></td>
        <td class="cell-step"><div class="step-line">
            <bdi class="step-name">{step.name}</bdi>
            <bdi class="step-tool">{step.tool.unwrap_or_else(|| step.kind.as_str().to_owned())}</bdi>
            {step.effect.map(|_| view! { <span class="tag tag-effect">"effect"</span> })}
        </div></td>
        <td></td>
        <td></td>
        <td></td>
    }
    .into_any()
}
