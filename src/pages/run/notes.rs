//! What people said about a run: who is looking, notes, its forks, and how a fork compares with its origin.

use leptos::prelude::*;

use super::read::Read;
use crate::{
    components::{
        glyph::{Glyph, Shape},
        run_row,
        time::{Clock, Elapsed, Moment},
    },
    domain::{DecisionKind, Run, rules::decision::Decision, views::words},
};

/// Notes that are shown; the audit log has all of them.
const SHOWN: usize = 5;

#[component]
pub fn Notes(run: Memo<Option<Run>>, read: Read) -> impl IntoView {
    let now = Clock::now();
    let looking = Memo::new(move |_| {
        let looking = run.with(|run| run.as_ref().and_then(|run| run.looking.clone()))?;
        let over = now.get().is_some_and(|now| now > looking.until);
        (!over).then_some(looking.by)
    });
    let said = Memo::new(move |_| {
        let page = read.decided.get()?.ok()?;
        let told = page.decisions.into_iter();
        let told = told.filter(|it| matches!(it.kind, DecisionKind::Note | DecisionKind::Fork));
        Some(told.take(SHOWN).collect::<Vec<_>>())
    });
    let one = |it: Decision| {
        let author = it.author.clone();
        let what = match (it.text, it.new_run) {
            (Some(text), _) => view! { ": "<bdi>{text}</bdi> }.into_any(),
            (_, Some(fork)) => {
                let href = format!("/runs/{fork}");
                view! { " forked it from before step "{it.step}": "<a class="link mono" href=href>{fork.short().to_owned()}</a> }.into_any()
            }
            _ => ().into_any(),
        };
        view! { <li><b><bdi>{author}</bdi></b>" "<span class="dim"><Moment at=it.at/></span>{what}</li> }
    };
    let any = move || {
        looking.get().is_some() || said.with(|it| it.as_ref().is_some_and(|it| !it.is_empty()))
    };
    view! {
        {move || any().then(|| view! {
            <ul class="run-notes" aria-label="Notes">
                {move || looking.get().map(|by| view! { <li class="tone-waiting"><bdi>{by}</bdi>" is looking"</li> })}
                {move || said.get().unwrap_or_default().into_iter().map(one).collect_view()}
            </ul>
        })}
        {move || read.origin.get().flatten().map(|origin| view! { <Compared run origin/> })}
    }
    .into_any()
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
                <td>{words::number(run.committed)}" steps"</td>
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
            <p><a class="link" href=diff>"Compare the two states"</a></p>
        </section>
    }
    .into_any()
}
