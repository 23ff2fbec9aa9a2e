//! Rewind and fork, plan first: what the run goes back to, every effect that is not undone, and which of them may
//! happen again.

use leptos::{ev, prelude::*};
use std::collections::BTreeSet;

use super::{
    next_field,
    plan::TakerWords,
    refusal::Refusal,
    renewed::{LivePlan, Renewed},
};
use crate::{
    api::AppError,
    domain::{
        DecisionKind, StepStatus,
        rules::plan::LeftBehind,
        views::{run_words, words},
        wire::protocol::Decide,
    },
};

#[component]
pub fn RewindForkSheet(
    /// Rewind or fork.
    kind: DecisionKind,
    /// From before this step; a fork without one is from the end.
    step: Option<i64>,
    /// Whose workers take the run.
    agent: String,
    plan: LivePlan,
    back: String,
    #[prop(into)] busy: Signal<bool>,
    #[prop(into)] refused: Signal<Option<AppError>>,
    on_decide: Callback<Decide>,
) -> impl IntoView {
    let fork = kind == DecisionKind::Fork;
    let reason = RwSignal::new(String::new());
    let again = RwSignal::new(BTreeSet::<i64>::new());
    let now = plan.now;
    // A tick stays where the effect is the one that it was given for.
    Effect::new(move || {
        if let Some(before) = plan.before.get() {
            let stays = |it: &&LeftBehind| before.left_behind.contains(it);
            let left: BTreeSet<i64> = now.with_untracked(|plan| {
                let same = plan.left_behind.iter().filter(stays);
                same.map(|it| it.seq).collect()
            });
            again.update(|again| again.retain(|seq| left.contains(seq)));
        }
    });
    let open = Memo::new(move |_| {
        now.with(|plan| {
            let left = plan.left_behind.iter();
            again.with(|again| left.filter(|it| !again.contains(&it.seq)).count())
        })
    });
    let lacks = Memo::new(move |_| {
        if let Some(damaged) = now.with(|plan| plan.refused.clone()) {
            return Some(damaged);
        }
        let reason = reason.with(|it| it.trim().is_empty());
        match (open.get(), reason) {
            (0, false) => None,
            (0, true) => Some("a reason is missing".to_owned()),
            (n, reason) => {
                let effects = words::several(n as i64, "more effect");
                let and = if reason { " and give a reason" } else { "" };
                Some(format!("Tick {effects}{and} to continue"))
            }
        }
    });
    let send = move || {
        if lacks.with_untracked(Option::is_some) {
            return;
        }
        on_decide.run(Decide {
            if_version: (!fork).then(|| now.with_untracked(|plan| plan.version)),
            step,
            again: again.get_untracked().into_iter().collect(),
            reason: Some(reason.get_untracked().trim().to_owned()),
            ..Decide::new(kind)
        });
    };
    let submit = move |event: ev::SubmitEvent| {
        event.prevent_default();
        send();
    };
    let keys = move |event: ev::KeyboardEvent| {
        next_field::send_or_go(&event, lacks.with_untracked(Option::is_none), send);
    };
    let seq = step.map_or("1".to_owned(), words::number);
    let title = match (fork, step) {
        (true, None) => "Fork this run".to_owned(),
        (true, Some(_)) => format!("Fork from before step {seq}"),
        (false, _) => format!("Rewind to before step {seq}"),
    };
    let does = match (fork, step) {
        (true, None) => {
            "A new run begins with the same input and state. This run stays as it is.".to_owned()
        }
        (true, Some(_)) => format!(
            "A new run begins with the state and the results before step {seq}. This run stays as it is."
        ),
        (false, _) => format!(
            "The state goes back to what it was before step {seq}. Step {seq} and all after it stay visible as superseded and are executed again."
        ),
    };
    let next = fork.then(|| {
        let said = run_words::after_fork(&agent, step.unwrap_or(1));
        let taker = move || {
            let taker = now.with(|plan| plan.taker.clone());
            view! { <TakerWords agent=agent.clone() taker/> }
        };
        view! { <p><bdi>{said}</bdi>" "{taker}</p> }
    });
    let kept = move || match now.with(|plan| plan.saved.steps) {
        1 => "1 step is replayed from its checkpoint, not executed again.".to_owned(),
        n => format!(
            "{} steps are replayed from checkpoints, not executed again.",
            words::number(n)
        ),
    };
    let row = move |(n, it): (usize, LeftBehind)| {
        let seq = it.seq;
        let happened = match it.status {
            StepStatus::Committed => "happened",
            _ => "may have happened",
        };
        let key = it.effect.key.clone();
        view! {
            <li class="plan-row is-decide">
                <label class="choice" on:click=move |event| next_field::after_choice(&event)>
                    <input type="checkbox" name="again" value=seq.to_string() data-choice=(n + 1).to_string()
                        prop:checked=move || again.with(|all| all.contains(&seq))
                        on:change=move |event| again.update(|all| {
                            if event_target_checked(&event) { all.insert(seq); } else { all.remove(&seq); }
                        })/>
                    <span class="choice-words">
                        <b>{words::number(seq)}" "<bdi>{it.name}</bdi></b>", "<bdi>{it.effect.words.clone()}</bdi>
                        " "<span class="tone-crashed">{happened}" and is not undone"</span>
                        <span class="dim">": "<bdi>{it.effect.target.clone()}</bdi>{key.map(|key| view! { ", key "<bdi class="mono">{key}</bdi> })}". It may happen again, with a new key."</span>
                    </span>
                </label>
            </li>
        }
    };
    let left = move || {
        let left = now.with(|plan| plan.left_behind.clone());
        match left.is_empty() {
            true => view! { <p class="plan-row">"No effects need your consent."</p> }.into_any(),
            false => view! {
                <p class="plan-row"><b class="tone-crashed">"Not undone. Tick each that may happen again:"</b></p>
                <fieldset class="left-behind">
                    <legend class="hidden">"Effects that may happen again"</legend>
                    <ul>{left.into_iter().enumerate().map(row).collect_view()}</ul>
                </fieldset>
            }
            .into_any(),
        }
    };
    view! {
        <form class="plan branch" on:submit=submit on:keydown=keys aria-labelledby="plan-title">
            <header class="plan-head">
                <h2 id="plan-title">{title}</h2>
                <p class="dim">{does}</p>
                {step.map(|_| view! { <p>{kept}</p> })}
                {next}
            </header>
            {move || refused.get().map(|error| view! { <Refusal error renewed=true/> })}
            <Renewed plan refused/>
            {left}
            <footer class="plan-foot">
                <label class="reason">
                    "Reason"
                    <input type="text" class="input" name="reason" maxlength="1000" autocomplete="off" placeholder="kept in the audit log"
                        prop:value=move || reason.get() on:input=move |event| reason.set(event_target_value(&event))/>
                </label>
                <p class="dim missing" role="status">{move || lacks.get()}</p>
                <a class="button" href=back>"Back"</a>
                <button type="submit" class="button primary" disabled=move || busy.get() || lacks.with(Option::is_some)>
                    {if fork { "Fork run" } else { "Rewind run" }}
                </button>
            </footer>
        </form>
    }
    .into_any()
}
