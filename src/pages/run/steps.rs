//! The left column: what is looked for, then the list of steps, or what was found.

use leptos::prelude::*;
use leptos_router::components::Form;

use super::{loaded_steps::LoadedSteps, read::Read, run_url::RunUrl};
use crate::{
    components::{
        notice::Refused,
        step_list::{RowContext, StepList, StepTable},
    },
    domain::{
        Kind, Run, RunId,
        views::{
            outline::{Outline, Row},
            sheet::RunSheet,
        },
        wire::{protocol::StepPage, step_query::StepQuery},
    },
    live::{Live, Message},
};

#[component]
pub fn StepsColumn(
    id: RunId,
    read: Read,
    url: Memo<RunUrl>,
    sheet: Memo<Option<RunSheet>>,
    selected: Memo<Option<i64>>,
    listed: RwSignal<Option<(i64, i64)>>,
    step_href: Callback<i64, String>,
    row_href: Callback<i64, String>,
    /// The reader scrolled up.
    on_up: Callback<()>,
) -> impl IntoView {
    let usual = Signal::derive(move || {
        sheet.with(|it| {
            let it = it.as_ref()?;
            Some((it.run.at.as_ref()?.seq, it.usual?))
        })
    });
    let find = Memo::new(move |_| url.with(|it| it.find.clone()));
    let action = format!("/runs/{id}");
    let list_id = id.clone();
    let list = move || {
        let id = list_id.clone();
        Some(match read.window.get()? {
            Err(error) => view! { <Refused error/> }.into_any(),
            Ok(answer) => {
                let base = answer.value.base;
                let loaded = LoadedSteps::new(id.clone(), answer.value);
                keep_growing(loaded, &id);
                let context = RowContext {
                    outline: loaded.outline,
                    steps: loaded.steps,
                    selected: selected.into(),
                    href: step_href,
                    usual,
                };
                let on_view = Callback::new(move |(first, many): (i64, i64)| {
                    loaded.came((first - 10).max(0), many + 20);
                    let seen = loaded.outline.with_untracked(|it| seqs(it, first, many));
                    if listed.get_untracked() != seen {
                        listed.set(seen);
                    }
                });
                view! { <StepList context base page_href=row_href on_view on_up reveal=selected/> }
                    .into_any()
            }
        })
    };
    let back = {
        let id = id.clone();
        move || {
            url.with(|it| {
                RunUrl {
                    find: None,
                    after: None,
                    ..it.clone()
                }
                .href(&id)
            })
        }
    };
    let found = move |text: String| {
        let id = id.clone();
        let back = back();
        let more = move |after: i64| {
            url.with(|it| {
                RunUrl {
                    after: Some(after),
                    ..it.clone()
                }
                .href(&id)
            })
        };
        Some(match read.found.get()?? {
            Err(error) => view! { <Refused error/> }.into_any(),
            Ok(StepPage { steps, next }) => {
                let said = match steps.len() {
                    0 if next.is_none() => format!("No step matches “{text}”."),
                    0 => format!("No step up to {} matches “{text}”.", next.unwrap_or(0)),
                    1 => format!("1 step matches “{text}”"),
                    n => format!("{n} steps match “{text}”"),
                };
                let rows = steps.into_iter().map(|step| (step.seq, step)).collect();
                let hint = StepQuery::hint(&text);
                view! {
                    {hint.map(|hint| view! { <p class="found" role="note"><bdi>{hint}</bdi></p> })}
                    <p class="found"><bdi>{said}</bdi>" "<a href=back>"Show all steps"</a></p>
                    <StepTable steps=rows selected=selected.into() href=step_href usual/>
                    {next.map(|after| view! { <nav class="more-steps" aria-label="More found"><a href=more(after) rel="next">"Search further ↓"</a></nav> })}
                }
                .into_any()
            }
        })
    };
    view! {
        <Form method="GET" action attr:class="find-steps" attr:role="search" attr:aria-label="Steps of this run">
            <input type="search" name="find" id="find-step" aria-label="Find steps" autocomplete="off"
                placeholder="Find steps: name, status:failed, kind:llm, is:effect"
                prop:value=move || find.get().unwrap_or_default()
                value=find.get_untracked().unwrap_or_default()/>
        </Form>
        {move || match find.get() {
            None => list().into_any(),
            Some(text) => found(text).into_any(),
        }}
    }
    .into_any()
}

/// Finds the step after (1) or before (−1) the one that is picked: among those that were looked for, or among all.
pub fn beside(
    read: Read,
    run: Memo<Option<Run>>,
    picked: Memo<Option<i64>>,
) -> Callback<i64, Option<i64>> {
    let found = Memo::new(move |_| {
        let found = read.found.get().flatten()?.ok()?;
        let mut seqs: Vec<i64> = found.steps.iter().map(|it| it.seq).collect();
        seqs.sort_unstable();
        Some(seqs)
    });
    Callback::new(move |by: i64| {
        let at = picked.get()?;
        if let Some(seqs) = found.get() {
            return match by {
                1 => seqs.into_iter().find(|seq| *seq > at),
                _ => seqs.into_iter().rev().find(|seq| *seq < at),
            };
        }
        let last = run.with(|run| run.as_ref().map_or(0, |run| run.steps));
        Some(at + by).filter(|seq| (1..=last).contains(seq))
    })
}

/// The run went on: rows are patched from frames, and what no frame carries is read: a new phase, which announced steps are open.
fn keep_growing(loaded: LoadedSteps, id: &RunId) {
    let id = id.clone();
    let live = expect_context::<Live>();
    let outline = loaded.outline_again(live);
    live.listen(move |message| {
        let Message::Frame(frame) = message else {
            return;
        };
        let run = frame.runs.iter().find(|run| run.id == id);
        let differs = run.is_some_and(|run| loaded.grow_to(run));
        if differs || frame.steps.iter().any(|step| step.kind == Kind::Milestone) {
            outline.ask();
        }
        loaded.patch(frame.steps.clone());
    });
}

/// The first and the last step among these rows.
fn seqs(outline: &Outline, first: i64, many: i64) -> Option<(i64, i64)> {
    let steps = outline.rows(first, many).filter_map(|row| match row {
        Row::Step(seq) => Some(seq),
        _ => None,
    });
    let (low, high) = steps.fold((i64::MAX, 0), |(low, high), seq| {
        (low.min(seq), high.max(seq))
    });
    (high > 0).then_some((low, high))
}
