//! The left column: what is looked for, then the list of steps, or what was found.

use leptos::prelude::*;
use leptos_router::components::Form;

use super::{held::Held, place::Place, read::Read};
use crate::{
    components::{
        notice::Refused,
        step_list::{RowContext, StepList, StepTable},
    },
    domain::{
        Kind, RunId,
        views::{
            outline::{Outline, Row},
            sheet::RunSheet,
        },
        wire::protocol::StepPage,
    },
    live::{Live, Message},
};

#[component]
pub fn StepsColumn(
    id: RunId,
    read: Read,
    place: Memo<Place>,
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
    let find = Memo::new(move |_| place.with(|it| it.find.clone()));
    let action = format!("/runs/{id}");
    let list_id = id.clone();
    let list = move || {
        let id = list_id.clone();
        Some(match read.window.get()? {
            Err(error) => view! { <Refused error/> }.into_any(),
            Ok(answer) => {
                let base = answer.value.base;
                let held = Held::new(id.clone(), answer.value);
                keep_growing(held, &id);
                let context = RowContext {
                    outline: held.outline,
                    steps: held.steps,
                    selected: selected.into(),
                    href: step_href,
                    usual,
                };
                let on_view = Callback::new(move |(first, many): (i64, i64)| {
                    held.came((first - 10).max(0), many + 20);
                    let seen = held.outline.with_untracked(|it| seqs(it, first, many));
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
            place.with(|it| {
                Place {
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
            place.with(|it| {
                Place {
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
                    0 if next.is_none() => format!("No step fits “{text}”."),
                    0 => format!("None up to step {} fits “{text}”.", next.unwrap_or(0)),
                    n => format!("{n} steps fit “{text}”"),
                };
                let rows = steps.into_iter().map(|step| (step.seq, step)).collect();
                view! {
                    <p class="found"><bdi>{said}</bdi>" "<a href=back>"Show all steps"</a></p>
                    <StepTable steps=rows selected=selected.into() href=step_href usual/>
                    {next.map(|after| view! { <nav class="more-steps" aria-label="More found"><a href=more(after) rel="next">"Look further ↓"</a></nav> })}
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

/// The run went on: rows are patched from frames, and a new phase is read.
fn keep_growing(held: Held, id: &RunId) {
    let id = id.clone();
    expect_context::<Live>().listen(move |message| {
        let Message::Frame(frame) = message else {
            return;
        };
        if let Some(run) = frame.runs.iter().find(|run| run.id == id) {
            held.grow_to(run.steps, run.announced);
        }
        if frame.steps.iter().any(|step| step.kind == Kind::Milestone) {
            held.read_outline();
        }
        held.patch(frame.steps.clone());
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
