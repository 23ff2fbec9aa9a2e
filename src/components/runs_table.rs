//! The table of runs; the same columns carry what needs a person and all runs, so that they line up.

use leptos::prelude::*;

use super::{
    run_row::RunRow,
    selection::{SelectAll, Selection},
};
use crate::domain::Run;

const COLUMNS: [(&str, &str); 9] = [
    ("col-select", "Select"),
    ("col-glyph", "Status"),
    ("col-run", "Run"),
    ("col-strip", "Timeline"),
    ("col-now", "Now at"),
    ("col-activity", "Activity"),
    ("col-elapsed", "Elapsed"),
    ("col-cost", "Cost"),
    ("col-action", "Action"),
];

/// The frame of a table with these columns; without `head` their names are there for screen readers only.
#[component]
pub fn RunColumns(
    #[prop(into)] label: String,
    #[prop(optional)] head: bool,
    /// Stands beside the name of the column of runs.
    #[prop(optional, into)]
    beside: ViewFn,
    /// Stands in the column of boxes.
    #[prop(optional, into)]
    select: ViewFn,
    children: Children,
) -> impl IntoView {
    let cell = move |(class, name): (&'static str, &'static str)| {
        let spoken = matches!(class, "col-select" | "col-glyph" | "col-action");
        let beside = match class {
            "col-run" => Some(beside.run()),
            "col-select" => Some(select.run()),
            _ => None,
        };
        view! {
            <th class=class role="columnheader" scope="col">
                <span class:hidden=spoken>{name}</span>
                {beside}
            </th>
        }
    };
    view! {
        <table class="runs" class:headless=!head role="table" aria-label=label>
            <thead role="rowgroup">
                <tr role="row">{COLUMNS.map(cell).collect_view()}</tr>
            </thead>
            <tbody role="rowgroup">{children()}</tbody>
        </table>
    }
    .into_any()
}

#[component]
pub fn RunsTable(
    rows: Vec<Signal<Run>>,
    /// Runs that came when the reader went on.
    #[prop(into)]
    older: Signal<Vec<Run>>,
    /// Makes a run's row follow it.
    follow: Callback<Run, Signal<Run>>,
    /// Runs that are not here yet.
    #[prop(into)]
    fresh: Signal<usize>,
    on_show: Callback<()>,
    selection: Selection,
) -> impl IntoView {
    let rows = rows
        .into_iter()
        .map(move |run| view! { <RunRow run selection/> });
    let row = move |run: Run| view! { <RunRow run=follow.run(run) selection/> };
    view! {
        <RunColumns
            label="Runs"
            head=true
            beside=move || view! { <Announce fresh on_show/> }
            select=move || view! { <SelectAll selection/> }
        >
            {rows.collect_view()}
            <For each=move || older.get() key=|run| run.id.clone() children=row/>
        </RunColumns>
    }
    .into_any()
}

/// Says that there is more than what is shown; shows it when asked, so that nothing moves by itself.
#[component]
pub fn Announce(fresh: Signal<usize>, on_show: Callback<()>) -> impl IntoView {
    view! {
        <span class="announce" role="status">
            {move || (fresh.get() > 0).then(|| view! {
                <button type="button" class="button announce-button" on:click=move |_| on_show.run(())>
                    {move || format!("{} new", fresh.get())}
                </button>
            })}
        </span>
    }
    .into_any()
}
