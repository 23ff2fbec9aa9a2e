//! What a run was given and what came of it; and the runs that work for its steps.

use leptos::prelude::*;

use super::{
    excerpt::ExcerptBlock,
    glyph::{Glyph, Shape},
};
use crate::domain::{
    RunStatus,
    views::{sheet::RunSheet, timeline::Child, words},
};

/// Input and final result, folded: they may be long.
#[component]
pub fn RunContent(#[prop(into)] sheet: Signal<Option<RunSheet>>) -> impl IntoView {
    let parts = Memo::new(move |_| {
        let sheet = sheet.get()?;
        let any = sheet.input.is_some() || sheet.result.is_some();
        any.then_some((sheet.input, sheet.result))
    });
    move || {
        parts.get().map(|(input, result)| {
            let title = match (&input, &result) {
                (Some(_), Some(_)) => "Input and result",
                (_, Some(_)) => "Result",
                _ => "Input",
            };
            view! {
                <details class="run-content">
                    <summary>{title}</summary>
                    <ExcerptBlock title="input of the run" excerpt=input/>
                    <ExcerptBlock title="result of the run" excerpt=result/>
                </details>
            }
        })
    }
}

/// The runs that work for this one, with what they cost together; forks are listed with the decisions that made them.
#[component]
pub fn ChildRuns(
    #[prop(into)] runs: Signal<Vec<Child>>,
    /// Child runs and forks that were not read.
    #[prop(into)]
    more: Signal<i64>,
) -> impl IntoView {
    let all = Memo::new(move |_| {
        let mut all = runs.get();
        all.retain(|it| !it.fork);
        all
    });
    let title = move || all.with(|all| summed(all, more.get()));
    let stopped = Memo::new(move |_| all.with(|all| all.iter().any(broke)));
    let rest = move || {
        let more = Some(more.get()).filter(|n| *n > 0)?;
        let said = match more {
            1 => "+1 more child run or fork".to_owned(),
            n => format!("+{} more child runs and forks", words::count(n)),
        };
        Some(view! { <li class="dim">{said}</li> })
    };
    let row = |it: Child| {
        let href = format!("/runs/{}", it.id);
        view! {
            <li>
                <Glyph shape=Shape::from(it.status) label=words::run_status(it.status).to_owned()/>
                " "<a class="link" href=href><bdi>{it.title}</bdi></a>
                <span class="dim">" for step "{words::number(it.step)}" · "{words::run_status(it.status)}" · "{words::cost(it.cost_usd)}</span>
            </li>
        }
    };
    move || {
        let any = all.with(|all| !all.is_empty());
        any.then(|| {
            view! {
                <details class="run-content" open=stopped.get()>
                    <summary class:tone-crashed=move || stopped.get()>{title}</summary>
                    <ul class="run-children" aria-label="Child runs">
                        {move || all.get().into_iter().map(row).collect_view()}
                        {rest}
                    </ul>
                </details>
            }
        })
    }
}

fn broke(child: &Child) -> bool {
    matches!(child.status, RunStatus::Crashed | RunStatus::Failed)
}

/// "2 child runs · $0.50 · 1 crashed or failed"; "at least" where some are not read, or did not say what they cost.
fn summed(all: &[Child], more: i64) -> String {
    let costs: Vec<f64> = all.iter().filter_map(|it| it.cost_usd).collect();
    let cost: Option<f64> = (!costs.is_empty()).then(|| costs.iter().sum());
    let least = |known: bool| if known { "" } else { "at least " };
    let said = format!(
        "{}{} · {}{}",
        least(more == 0),
        words::several(all.len() as i64, "child run"),
        least(cost.is_none() || more == 0 && costs.len() == all.len()),
        words::cost(cost)
    );
    match all.iter().filter(|it| broke(it)).count() {
        0 => said,
        n => format!("{said} · {n} crashed or failed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{RunId, Time};

    fn child(status: RunStatus, cost_usd: Option<f64>) -> Child {
        Child {
            id: "c".parse::<RunId>().unwrap(),
            title: "child".into(),
            status,
            step: 1,
            fork: false,
            cost_usd,
            from: Time(0),
            to: Time(1),
        }
    }

    #[test]
    fn a_sum_that_is_not_whole_says_at_least() {
        let known = child(RunStatus::Done, Some(0.25));
        let unknown = child(RunStatus::Failed, None);
        let all = [known.clone(), known.clone()];
        assert_eq!(summed(&all, 0), "2 child runs · $0.50");
        assert_eq!(
            summed(&[known, unknown.clone()], 0),
            "2 child runs · at least $0.25 · 1 crashed or failed"
        );
        assert_eq!(summed(&all, 7), "at least 2 child runs · at least $0.50");
        assert_eq!(
            summed(&[unknown], 0),
            "1 child run · — · 1 crashed or failed"
        );
    }
}
