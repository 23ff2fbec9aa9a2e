//! What waits for a person, above everything else: single runs, then causes that stopped several.

use leptos::prelude::*;

use super::{
    glyph::{Glyph, Shape},
    run_row::RunRow,
    runs_table::{Announce, RunColumns},
    selection::Selection,
    time::Ago,
};
use crate::domain::{
    Run,
    rules::needs::{About, Cause, Urgency},
    views::{counts::COUNT_MAX, words},
};

#[component]
pub fn NeedsYouSection(
    /// Runs, and what each is about where that is known.
    rows: Vec<(Signal<Run>, Option<About>)>,
    /// Whether the reader may decide.
    #[prop(into)]
    may: Signal<bool>,
    /// A cause and where its runs are listed.
    causes: Vec<(Signal<Cause>, String)>,
    /// There are more single runs than found a place.
    more: bool,
    /// How many there are in all.
    #[prop(into)]
    total: Signal<Option<i64>>,
    /// Runs that came to need a person since the page was loaded.
    #[prop(into)]
    fresh: Signal<usize>,
    on_show: Callback<()>,
    selection: Selection,
) -> impl IntoView {
    let empty = rows.is_empty() && causes.is_empty();
    let single = move |(run, about): (Signal<Run>, Option<About>)| {
        let urgency = run.with_untracked(Urgency::of_run);
        (
            urgency,
            view! { <RunRow run selection about may/> }.into_any(),
        )
    };
    let several = |(cause, href): (Signal<Cause>, String)| {
        let urgency = cause.with_untracked(Urgency::of_cause);
        (urgency, view! { <CauseRow cause href/> }.into_any())
    };
    let lines = move || {
        let rows = rows.into_iter().map(single);
        let mut lines: Vec<_> = rows.chain(causes.into_iter().map(several)).collect();
        // The order within the same urgency stays as it was read.
        lines.sort_by_key(|(urgency, _)| *urgency);
        lines.into_iter().map(|(_, line)| line).collect_view()
    };
    let count = move || {
        total
            .get()
            .filter(|n| *n > 0)
            .map(|n| format!(" · {}", words::count(n)))
    };
    view! {
        <section class="needs" class:is-calm=empty aria-labelledby="needs-title">
            <div class="needs-head">
                <h2 id="needs-title">"Needs you" {count}</h2>
                <p>{if empty { "nothing waits for a person" } else { "effects unknown first, then oldest" }}</p>
                <Announce fresh on_show/>
            </div>
            {(!empty).then(|| view! {
                <RunColumns label="Runs that need you">
                    {lines()}
                </RunColumns>
            })}
            {more.then(|| view! {
                <p class="needs-more"><a href="/?view=needs">"Show all that need you"</a></p>
            })}
        </section>
    }
    .into_any()
}

#[component]
fn CauseRow(cause: Signal<Cause>, href: String) -> impl IntoView {
    // How many runs there are and what is told of them changes; what they have in common does not.
    let alike = cause.with_untracked(|it| it.alike.clone());
    let effects = alike.effects();
    let tone = match alike.effects_unknown {
        true => "cell-now tone-crashed",
        false => "cell-now",
    };
    let version = alike.code_version.map(|it| format!("@{it}"));
    let runs = move || match cause.with(|it| it.runs) {
        n @ COUNT_MAX.. => format!("{} runs", words::count(n)),
        n => words::several(n, "run"),
    };
    let how = move || cause.with(|it| it.how().to_owned());
    let newest = Signal::derive(move || cause.with(|it| it.newest));
    let cost = move || words::cost(cause.with(|it| it.cost_usd));
    view! {
        <tr class="run-row cause-row" role="row">
            <td class="cell-select" role="cell"></td>
            <td class="cell-glyph" role="cell">
                <Glyph shape=Shape::from(alike.status) label=words::run_status(alike.status).to_owned()/>
            </td>
            <td class="cell-run" role="cell">
                <a class="run-title" href=href.clone() data-row="">{runs}</a>
                " " <bdi class="dim">{alike.agent}{version}</bdi>
            </td>
            <td class="cell-strip" role="cell">"Same reason: " <b><bdi>{alike.step}</bdi>", "<bdi>{how}</bdi></b></td>
            <td class=tone role="cell">{effects}</td>
            <td class="cell-figure cell-activity" role="cell"><Ago at=newest/></td>
            <td class="cell-figure cell-elapsed" role="cell"></td>
            <td class="cell-figure cell-cost" role="cell">{cost}</td>
            <td class="cell-action" role="cell">
                <a class="button" href=href tabindex="-1" aria-hidden="true">"Open"</a>
            </td>
        </tr>
    }
    .into_any()
}
