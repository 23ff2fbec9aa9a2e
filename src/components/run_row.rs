//! One run as a row of a table; its signal is patched in place while it is read.

use leptos::prelude::*;

use super::{
    glyph::{Glyph, Shape},
    selection::{SelectBox, Selection},
    strip::Strip,
    time::{Ago, Elapsed, Span},
};
use crate::domain::{
    DecisionKind, Run, RunStatus, StepStatus,
    rules::{
        needs::{About, Matter},
        offer::Standing,
    },
    views::words,
};

#[component]
pub fn RunRow(
    #[prop(into)] run: Signal<Run>,
    selection: Selection,
    /// What it needs a person for; narrow screens have room to say it.
    #[prop(optional_no_strip)]
    about: Option<About>,
    /// Whether the reader may decide.
    #[prop(optional, into)]
    may: Signal<bool>,
) -> impl IntoView {
    let shape = Memo::new(move |_| {
        run.with(|run| match run.damaged {
            true => Shape::Damaged,
            false => Shape::from(run.status),
        })
    });
    let label = Memo::new(move |_| {
        run.with(|run| match run.damaged {
            true => words::DAMAGED.to_owned(),
            false => words::run_status(run.status).to_owned(),
        })
    });
    let now_at = Memo::new(move |_| run.with(words::now_at));
    let cost = Memo::new(move |_| run.with(|run| words::cost(run.usage.cost_usd)));
    let title = Memo::new(move |_| run.with(title));
    let (href, short, agent) = run.with_untracked(|run| {
        (
            format!("/runs/{}", run.id),
            run.id.short().to_owned(),
            run.agent.clone(),
        )
    });
    let tone = move || {
        let needs = format!("cell-now {}", shape.get().tone());
        run.with(|run| match (run.unchecked(), run.needs_you()) {
            (true, _) => "cell-now tone-crashed".into(),
            (false, true) => needs,
            (false, false) => "cell-now".into(),
        })
    };
    let about = StoredValue::new(about);
    let matter = Memo::new(move |_| {
        let about = about.get_value()?;
        run.with(|run| about.holds(run)).then_some(about)
    });
    view! {
        <tr class="run-row" role="row" data-run=run.with_untracked(|run| run.id.to_string())>
            <td class="cell-select" role="cell"><SelectBox run selection/></td>
            <td class="cell-glyph" role="cell"><Glyph shape label/></td>
            <td class="cell-run" role="cell">
                <a class="run-title" href=href data-row=""><bdi>{title}</bdi></a>
                <span class="run-under"><bdi>{agent}</bdi>" "<span class="run-id">{short}</span></span>
                {move || matter.get().map(said)}
            </td>
            <td class="cell-strip" role="cell"><Strip run/></td>
            <td class=tone role="cell"><bdi>{now_at}</bdi></td>
            <td class="cell-figure cell-activity" role="cell"><Ago at=Signal::derive(move || run.with(|run| run.updated_at))/></td>
            <td class="cell-figure cell-elapsed" role="cell"><Elapsed span=Signal::derive(move || run.with(span))/></td>
            <td class="cell-figure cell-cost" role="cell">{cost}</td>
            <td class="cell-action" role="cell">
                {move || run.with(action).map(|(verb, ask)| {
                    let href = run.with(|run| format!("/runs/{}{ask}", run.id));
                    let two = matter.get().and_then(|it| run.with(|run| on_card(run, it, may.get())));
                    view! {
                        <a class="button" class:on-row=two.is_some() href=href tabindex="-1" aria-hidden="true">{verb}</a>
                        {two}
                    }
                })}
            </td>
        </tr>
    }
    .into_any()
}

/// What a card says below its title.
fn said(about: About) -> AnyView {
    match about.what {
        Matter::Effect { may, ended, by } => {
            let ended = ended.map(|at| view! { " "{words::attempt_ended(by)}" "<Ago at/>"." });
            view! { <span class="run-about on-card"><bdi>{may}</bdi>" may have happened."{ended}</span> }
                .into_any()
        }
        Matter::Failure { tries, error } => {
            let tries = words::several(tries, "attempt");
            let error = error.map(|it| view! { " · “"<bdi>{it}</bdi>"”" });
            view! { <span class="run-about on-card">{tries}{error}</span> }.into_any()
        }
        Matter::Question { title, .. } => {
            view! { <span class="run-about on-card"><bdi>{title}</bdi></span> }.into_any()
        }
    }
}

/// The buttons of a card, where two ways lead on.
fn on_card(run: &Run, about: About, may: bool) -> Option<AnyView> {
    let (id, seq) = (&run.id, about.seq);
    match about.what {
        Matter::Question { title, plain: true } if may => {
            let at = format!("/runs/{id}?step={seq}&ask=");
            let verb = words::approve(&title);
            let (reject, approve) = (format!("{at}reject"), format!("{at}approve"));
            Some(
                view! {
                    <a class="button on-card" href=reject>"Reject…"</a>
                    <a class="button primary on-card" href=approve><bdi>{verb}</bdi></a>
                }
                .into_any(),
            )
        }
        Matter::Effect { .. } if matches!(run.status, RunStatus::Crashed | RunStatus::Paused) => {
            let (decide, resume) = (format!("/runs/{id}"), format!("/runs/{id}?ask=resume"));
            Some(
                view! {
                    <a class="button on-card" href=decide>"Decide"</a>
                    <a class="button primary on-card" href=resume>"Review & resume"</a>
                }
                .into_any(),
            )
        }
        _ => None,
    }
}

/// A run without a title is called by its agent.
pub fn title(run: &Run) -> String {
    run.title.clone().unwrap_or_else(|| run.agent.clone())
}

/// The time that workers had it.
pub fn span(run: &Run) -> Option<Span> {
    run.worked().map(|(from, to)| Span {
        from,
        to,
        seen: run.updated_at,
    })
}

/// The verb of the row's button where a person is needed, and what the run's page then asks.
fn action(run: &Run) -> Option<(&'static str, &'static str)> {
    let standing = Standing::of(run);
    // Also a gate that is open while a worker holds the run.
    let asks = run.counts_as(RunStatus::Waiting) && standing.answers(StepStatus::Waiting);
    let resumes = standing.offers(DecisionKind::Resume, None);
    // Someone paused it, and knows how to go on.
    let rests = run.status == RunStatus::Paused && !run.needs_you();
    match (asks, resumes && !rests) {
        (true, _) => Some(("Decide", "")),
        (false, true) => Some(("Review", "?ask=resume")),
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::nouns::{run::At, sample};

    #[test]
    fn a_row_asks_for_what_the_server_would_accept() {
        for &status in RunStatus::ALL {
            for at in [None, Some(StepStatus::Waiting), Some(StepStatus::Crashed)] {
                let at = at.map(|status| At {
                    seq: 1,
                    name: "pay".into(),
                    status,
                });
                let run = Run {
                    status,
                    at,
                    effects_unknown: true,
                    ..sample::run("a")
                };
                let standing = Standing::of(&run);
                match action(&run) {
                    Some(("Decide", _)) => assert!(!status.over(), "{status}"),
                    Some((_, ask)) => {
                        assert_eq!(ask, "?ask=resume");
                        assert!(standing.offers(DecisionKind::Resume, None), "{status}");
                    }
                    None => assert!(!run.needs_you(), "{status}: {:?}", run.at),
                }
            }
        }
    }
}
