//! What differs between two states: as a tree, or side by side. What is unchanged is folded, and opens on demand.

mod row;

use leptos::prelude::*;

use self::row::{Context, row_view};
use super::look::{Look, Stand};
use crate::domain::{
    diff::rows::{Mark, Row},
    views::{
        diff_sheet::{DiffQuery, DiffSheet, Side},
        words,
    },
};

/// "after 45 fetch_customer"
#[component]
pub fn SideWords(side: Side, other: bool) -> impl IntoView {
    let run = other.then(|| {
        let href = format!("/runs/{}", side.run);
        let short = side.run.short().to_owned();
        view! { <a href=href><bdi>{short}</bdi></a>" " }
    });
    let said = match (side.seq, side.step) {
        (Some(seq), Some(name)) => {
            let seq = words::number(seq);
            view! { "after "<b><bdi>{format!("{seq} {name}")}</bdi></b> }.into_any()
        }
        _ if side.snapshot == 0 => view! { <b>"initial state"</b> }.into_any(),
        _ => view! { "snapshot "<b>{words::number(side.snapshot)}</b> }.into_any(),
    };
    view! { <span class="diff-side">{run}{said}</span> }.into_any()
}

#[component]
pub fn DiffRows(
    sheet: DiffSheet,
    /// Old and new beside each other.
    beside: bool,
    look: Look,
) -> impl IntoView {
    if sheet.equal() {
        return view! { <p class="diff-equal">"These states are equal."</p> }.into_any();
    }
    if sheet.page.rows.is_empty() {
        return view! { <p class="diff-equal">"No change contains this text."</p> }.into_any();
    }
    let stand = |side: &Side| Stand {
        run: side.run.clone(),
        snapshot: side.snapshot,
    };
    let context = Context {
        old: stand(&sheet.from),
        new: stand(&sheet.to),
        query: DiffQuery {
            from: Some(sheet.from.snapshot),
            to: Some(sheet.to.snapshot),
            other: (sheet.to.run != sheet.from.run).then(|| sheet.to.run.clone()),
        },
        look,
    };
    let rows = sheet.page.rows;
    match beside {
        false => {
            let rows = rows.into_iter().map(|row| row_view(row, &context));
            view! { <ol class="diff" aria-label="Changes">{rows.collect_view()}</ol> }.into_any()
        }
        true => {
            let cell = |row: Option<Row>| match row {
                Some(row) => row_view(row, &context),
                None => view! { <li class="diff-row diff-none"></li> }.into_any(),
            };
            let line = |(old, new): (Option<Row>, Option<Row>)| {
                view! { <div class="diff-pair"><ol>{cell(old)}</ol><ol>{cell(new)}</ol></div> }
            };
            view! {
                <div class="diff diff-beside" role="group" aria-label="Changes, before and after">
                    {pairs(rows).into_iter().map(line).collect_view()}
                </div>
            }
            .into_any()
        }
    }
}

/// What went stands beside what came in its place; what is the same stands on both sides.
fn pairs(rows: Vec<Row>) -> Vec<(Option<Row>, Option<Row>)> {
    let mut out: Vec<(Option<Row>, Option<Row>)> = Vec::new();
    for row in rows {
        match row.mark {
            Mark::Same => out.push((Some(row.clone()), Some(row))),
            Mark::Removed => out.push((Some(row), None)),
            Mark::Added => match out.last_mut() {
                Some((Some(old), new @ None)) if !row.first && old.depth == row.depth => {
                    *new = Some(row);
                }
                _ => out.push((None, Some(row))),
            },
        }
    }
    out
}
