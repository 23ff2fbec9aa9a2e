//! The change of state that a step made, or the last one before it.

use leptos::prelude::*;

use crate::{
    components::{
        diff_view::{DiffRows, SideWords},
        edited_by::EditedBy,
        look::Look,
    },
    domain::{
        StepStatus,
        views::{diff_sheet::DiffSheet, sheet::StepSheet, words},
    },
};

#[component]
pub fn DiffTab(sheet: DiffSheet, step: StepSheet, look: Look) -> impl IntoView {
    let it = &step.detail.step;
    let seq = words::number(it.seq);
    let edit = sheet.edit.clone();
    let said = match (sheet.own, sheet.to.snapshot, it.status) {
        _ if edit
            .as_ref()
            .is_some_and(|it| it.snapshot == sheet.to.snapshot) =>
        {
            None
        }
        (true, ..) => None,
        (false, 0, _) => Some(format!("No step up to {seq} changed the state.")),
        (false, _, StepStatus::Committed) => Some(format!(
            "Step {seq} left the state as it was. This is the last change before it."
        )),
        (false, ..) => Some(format!(
            "Step {seq} committed no state. This is the last change before it."
        )),
    };
    let (from, to) = (sheet.from.clone(), sheet.to.clone());
    let (run, totals) = (from.run.clone(), sheet.totals);
    let href = move |view: &str| {
        format!(
            "/runs/{run}/diff?from={}&to={}{view}",
            from.snapshot, to.snapshot
        )
    };
    let more = sheet.page.next.map(|after| {
        let href = href(&format!("&after={after}"));
        view! { <p><a class="button" href=href>"Show the rest"</a></p> }
    });
    let (tree, side, raw) = (href(""), href("&view=side"), href("&view=raw"));
    let (before, after) = (sheet.from.clone(), sheet.to.clone());
    let run = sheet.to.run.clone();
    view! {
        {edit.map(|edit| view! { <EditedBy edit run/> })}
        {said.map(|said| view! { <p class="dim">{said}</p> })}
        <section class="diff-box" aria-label="Change of state">
            <header class="diff-head">
                <p><SideWords side=before other=false/>" → "<SideWords side=after other=false/></p>
                <p class="diff-totals">
                    <span class="tone-committed">{format!("+{}", words::number(totals.added))}</span>" "
                    <span class="tone-failed">{format!("−{}", words::number(totals.removed))}</span>
                </p>
                <nav class="segments" aria-label="Views of the change">
                    <a class="segment" href=tree aria-current="true">"Tree"</a>
                    <a class="segment" href=side>"Side by side"</a>
                    <a class="segment" href=raw>"Raw"</a>
                </nav>
            </header>
            <DiffRows sheet beside=false look/>
            {more}
        </section>
    }
    .into_any()
}
