//! What people said and decided about a run: who is on it, notes, decisions, its forks, and how a fork compares with its
//! origin.

use leptos::{prelude::*, task::spawn_local};

use super::read::Read;
use crate::{
    api,
    components::{
        glyph::{Glyph, Shape},
        run_head::part,
        run_row,
        time::{Clock, Elapsed, Moment},
        toast::Toasts,
    },
    domain::{
        Run, RunId,
        rules::decision::{Decision, DecisionPage},
        views::{
            run_words::{DECISIONS_SHOWN, DecisionLine, has_line},
            words,
        },
    },
};

#[component]
pub fn Notes(run: Memo<Option<Run>>, read: Read) -> impl IntoView {
    let now = Clock::now();
    let looking = Memo::new(move |_| {
        let looking = run.with(|run| run.as_ref().and_then(|run| run.looking.clone()))?;
        let over = now.get().is_some_and(|now| now > looking.until);
        (!over).then_some(looking.by)
    });
    let page = Memo::new(move |_| read.decided.get()?.ok());
    // What was read further back, on the reader's demand, with the page that it was read from.
    let older = RwSignal::new(None::<DecisionPage>);
    let said = Memo::new(move |_| {
        let DecisionPage {
            mut decisions,
            mut next,
        } = page.get()?;
        if let Some(older) = older.get() {
            let last = decisions.last().map_or(i64::MAX, |it| it.id);
            let before = older.decisions.into_iter().filter(|it| it.id < last);
            decisions.extend(before);
            next = older.next;
        }
        decisions.retain(has_line);
        Some((decisions, next.is_some()))
    });
    let id = part(run, |run| run.id.clone());
    // What is opened stays open while others decide: only its lines change.
    let any = Memo::new(move |_| {
        let said = said.with(|it| it.as_ref().is_some_and(|(all, _)| !all.is_empty()));
        looking.get().is_some() || said
    });
    let newest = move || {
        let (mut all, _) = said.get().unwrap_or_default();
        all.truncate(DECISIONS_SHOWN);
        let run = id.get();
        all.into_iter()
            .map(|it| line(it, run.as_ref()))
            .collect_view()
    };
    let folds = Memo::new(move |_| {
        said.with(|it| {
            it.as_ref()
                .is_some_and(|(all, _)| all.len() > DECISIONS_SHOWN)
        })
    });
    let more = Memo::new(move |_| said.with(|it| it.as_ref().is_some_and(|(_, more)| *more)));
    let title = move || {
        let all = said.with(|it| it.as_ref().map_or(0, |(all, _)| all.len()));
        let plus = if more.get() { "+" } else { "" };
        format!("All {all}{plus} notes and decisions")
    };
    let lines = move || {
        let (all, _) = said.get().unwrap_or_default();
        let run = id.get();
        all.into_iter()
            .map(|it| line(it, run.as_ref()))
            .collect_view()
    };
    let rest = move || {
        folds.get().then(|| {
            view! {
                <details class="decided-more">
                    <summary>{title}</summary>
                    <ul class="run-notes">{lines}</ul>
                    {move || more.get().then(|| view! { <ReadOlder id page older/> })}
                </details>
            }
        })
    };
    view! {
        {move || any.get().then(|| view! {
            <section class="run-said" aria-label="Notes and decisions">
                <ul class="run-notes" aria-label="Notes">
                    {move || looking.get().map(|by| view! { <li class="tone-waiting"><bdi>{by}</bdi>" is on it"</li> })}
                    {newest}
                </ul>
                {rest}
            </section>
        })}
        {move || read.origin.get().flatten().map(|origin| view! { <Compared run origin/> })}
    }
    .into_any()
}

/// Reads the next older ones when it is asked to; the audit log has them too, for readers without WASM.
#[component]
fn ReadOlder(
    id: Memo<Option<RunId>>,
    page: Memo<Option<DecisionPage>>,
    older: RwSignal<Option<DecisionPage>>,
) -> impl IntoView {
    let toasts = expect_context::<Toasts>();
    let reading = RwSignal::new(false);
    let read = move |_| {
        let known = older.get_untracked().or(page.get_untracked());
        let Some((run, mut known)) = id.get_untracked().zip(known) else {
            return;
        };
        reading.set(true);
        spawn_local(async move {
            let answer = api::decisions::of_run(run, known.next).await;
            if reading.try_set(false).is_some() {
                return; // the page is gone
            }
            match answer {
                Ok(more) => {
                    known.decisions.extend(more.decisions);
                    known.next = more.next;
                    older.set(Some(known));
                }
                Err(error) => toasts.say(error.0.detail),
            }
        });
    };
    let href = move || id.get().map(|id| format!("/audit?run={id}"));
    view! {
        <p class="decided-older">
            <button type="button" class="button" disabled=move || reading.get() on:click=read>"Show older ones"</button>
            " "<a class="link" href=href>"in the audit log"</a>
        </p>
    }
    .into_any()
}

/// One decision about the run, in a line: who, when, what, why.
fn line(it: Decision, run: Option<&RunId>) -> impl IntoView + use<> {
    let DecisionLine {
        lead,
        what,
        fork,
        change,
        why,
    } = DecisionLine::of(&it);
    let fork = fork.map(|fork| {
        let (href, short) = (format!("/runs/{fork}"), fork.short().to_owned());
        view! { ": "<a class="link mono" href=href>{short}</a> }
    });
    let change = change.map(|it| view! { ": "<bdi class="mono">{it}</bdi> });
    // Whatever made a state by hand leads to what it changed.
    let diff = run.zip(it.snapshot).map(|(run, made)| {
        let href = format!("/runs/{run}/diff?from={}&to={made}", made - 1);
        view! { " · "<a class="link" href=href>"what it changed"</a> }
    });
    let why = why.map(|why| view! { <span class="dim">" “"<bdi>{why}</bdi>"”"</span> });
    view! { <li><b><bdi>{it.author}</bdi></b>" "<span class="dim"><Moment at=it.at/></span>{lead}<bdi>{what}</bdi>{fork}{change}{why}{diff}</li> }
}

/// A fork beside the run that it was made from.
#[component]
fn Compared(run: Memo<Option<Run>>, origin: Run) -> impl IntoView {
    let ours = move || run.get();
    let row = |who: &'static str, run: Run| {
        let span = Signal::derive({
            let run = run.clone();
            move || run_row::span(&run)
        });
        let href = format!("/runs/{}", run.id);
        view! {
            <tr>
                <th scope="row">{who}" "<a class="link mono" href=href>{run.id.short().to_owned()}</a></th>
                <td><Glyph shape=Shape::from(run.status)/>" "{words::headline(&run)}</td>
                <td>{words::several(run.committed, "step")}" committed"</td>
                <td><Elapsed span/></td>
                <td>{words::cost(run.usage.cost_usd)}</td>
            </tr>
        }
    };
    let diff = {
        let origin = origin.clone();
        move || {
            run.with(|run| {
                run.as_ref().map(|run| {
                    format!(
                        "/runs/{}/diff?from={}&to={}&other={}",
                        origin.id, origin.snapshot, run.snapshot, run.id
                    )
                })
            })
        }
    };
    view! {
        <section class="run-notes" aria-label="Compared with its origin">
            <table class="compared">
                <thead class="hidden"><tr><th>"Run"</th><th>"Outcome"</th><th>"Steps"</th><th>"Time"</th><th>"Cost"</th></tr></thead>
                <tbody>
                    {row("origin", origin)}
                    {move || ours().map(|run| row("this fork", run))}
                </tbody>
            </table>
            <p><a class="link" href=diff data-command="">"Compare the two states"</a></p>
        </section>
    }
    .into_any()
}
