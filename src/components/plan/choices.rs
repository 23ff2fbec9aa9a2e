//! The ways out for one step that waits for a decision, each with what it does. Nothing is chosen for anyone.

use leptos::prelude::*;

use super::{
    Elsewhere,
    one_value::{OneValue, StandsThere},
};
use crate::{
    components::{excerpt::ExcerptBlock, next_field, time::Moment},
    domain::{
        StepStatus,
        rules::plan::{EffectAhead, PlanStep},
        views::{
            pick::{Picks, Way},
            sheet::Excerpt,
            words,
        },
    },
};

#[component]
pub fn Choices(
    step: PlanStep,
    picks: RwSignal<Picks>,
    elsewhere: Elsewhere,
    stands: StandsThere,
    open: bool,
) -> impl IntoView {
    let seq = step.seq.unwrap_or_default();
    let unknown = step.effect.as_ref().is_some_and(|it| it.unknown);
    let evidence = step.evidence.clone();
    let late = evidence
        .as_ref()
        .and_then(|it| serde_json::to_string_pretty(&it.result).ok());
    let picked =
        move |way: Way| picks.with(|all| all.get(&seq).is_some_and(|it| it.way == Some(way)));
    let pick = move |way: Way| picks.update(|all| all.entry(seq).or_default().way = Some(way));
    // Without WASM each way that takes a result has its field from the start; with it only the chosen one has.
    let ready = RwSignal::new(false);
    Effect::new(move || ready.set(true));
    let result = move |way: Way| {
        let asked = Memo::new(move |_| !ready.get() || picked(way));
        let typed = move || {
            picks.with(|all| {
                all.get(&seq)
                    .map(|it| it.result.clone())
                    .unwrap_or_default()
            })
        };
        let field = move || {
            asked.get().then(|| view! {
                <label class="plan-result">
                    "Result (JSON). Leave empty for null"
                    <textarea class="input mono" name=format!("result.{seq}.{}", way.as_str()) rows="3" spellcheck="false" disabled=!open
                        prop:value=typed
                        on:input=move |event| {
                            let text = event_target_value(&event);
                            picks.update(|all| all.entry(seq).or_default().result = text);
                        }>{untrack(typed)}</textarea>
                </label>
            })
        };
        field.into_any()
    };
    // Keys 1–9 choose by the place in the list.
    let option = move |digit: u8, way: Way, title: AnyView, does: AnyView| {
        let first = picks.with_untracked(|all| all.get(&seq).is_some_and(|it| it.way == Some(way)));
        view! {
            <label class="choice" on:click=move |event| next_field::after_choice(&event)>
                <input type="radio" name=format!("way.{seq}") value=way.as_str() data-choice=digit.to_string() disabled=!open required=true checked=first
                    prop:checked=move || picked(way) on:change=move |_| pick(way)/>
                <span class="choice-words"><b>{title}</b><span class="dim">" — "{does}</span></span>
            </label>
            {way.gives().then(|| result(way))}
        }
        .into_any()
    };
    let ways = match unknown {
        true => {
            let effect = step.effect.clone();
            vec![
                option(
                    1,
                    Way::Happened,
                    "I checked: it happened".into_any(),
                    "commit the result I enter; the step is not executed".into_any(),
                ),
                option(
                    2,
                    Way::NewKey,
                    "I checked: it did not happen, and nothing is still under way".into_any(),
                    "run it with a new key".into_any(),
                ),
                effect
                    .map(|effect| {
                        let key = effect.key.clone().unwrap_or_default();
                        let title =
                            view! { "Retry with the same key "<bdi class="mono">{key}</bdi> };
                        option(
                            3,
                            Way::SameKey,
                            title.into_any(),
                            view! { <Window effect/> }.into_any(),
                        )
                    })
                    .into_any(),
                option(
                    4,
                    Way::Skip,
                    "Skip it".into_any(),
                    "later steps see the result I enter, or null; whether it happened stays unknown"
                        .into_any(),
                ),
            ]
        }
        false => {
            let again = match step.status {
                StepStatus::Failed => "one more attempt, with the same key",
                _ => "the agent's author says it is safe to run again",
            };
            vec![
                option(1, Way::SameKey, "Run it again".into_any(), again.into_any()),
                option(
                    2,
                    Way::Happened,
                    "Commit a result".into_any(),
                    "the one I enter; the step is not executed".into_any(),
                ),
                option(
                    3,
                    Way::Skip,
                    "Skip it".into_any(),
                    "later steps see the result I enter, or null".into_any(),
                ),
            ]
        }
    };
    let use_late = {
        let late = late.clone();
        move |_| {
            let late = late.clone().unwrap_or_default();
            picks.update(|all| {
                let picked = all.entry(seq).or_default();
                (picked.way, picked.result) = (Some(Way::Happened), late);
            });
        }
    };
    let evidence = evidence.map(|evidence| {
        let at = evidence.at;
        view! {
            <div class="plan-result">
                <p><b>"The worker sent its result late"</b>", at "<Moment at/>": evidence that it happened."</p>
                <ExcerptBlock title="late result" excerpt=Excerpt::of(&evidence.result)/>
                {open.then(|| view! { <button type="button" class="button" on:click=use_late>"It happened: use the late result"</button> })}
            </div>
        }
    });
    let error = step.error.clone().map(|error| {
        view! { <p class="tone-failed"><b><bdi>{error.kind}</bdi></b>": "<bdi>{error.message}</bdi></p> }
    });
    let name = step.name.clone();
    view! {
        <fieldset class="plan-choices">
            <legend class="hidden">{format!("Step {seq}, ")}<bdi>{name}</bdi>": what happened, and what now"</legend>
            {error}
            {evidence}
            {ways.collect_view()}
            {open.then(|| view! { <OneValue seq picks stands editor=elsewhere.edit.clone()/> })}
            {open.then(|| view! {
                <p class="plan-elsewhere">
                    <a href=elsewhere.edit>"Edit the state first…"</a>
                    <a href=elsewhere.rewind>"Rewind…"</a>
                    <a href=elsewhere.fork>"Fork…"</a>
                </p>
            })}
        </fieldset>
    }
    .into_any()
}

/// What the same key risks, with the provider's window in words.
#[component]
fn Window(effect: EffectAhead) -> impl IntoView {
    match (effect.dedupe_ms, effect.window_over, effect.window_ends) {
        (Some(ms), false, Some(ends)) => {
            let window = hours(ms);
            view! { "the agent's author says "<bdi>{effect.target}</bdi>" deduplicates for "{window}": until "<Moment at=ends/> }.into_any()
        }
        (Some(_), _, Some(ends)) => view! { <span class="tone-crashed">"the provider stopped recognising this key at "<Moment at=ends/>": it may happen twice"</span> }.into_any(),
        _ => view! { <span class="tone-crashed">"nobody stated how long the provider recognises this key: it may happen twice"</span> }.into_any(),
    }
}

/// "24 h", or a span where hours do not fit.
fn hours(ms: i64) -> String {
    match ms % 3_600_000 {
        0 => format!("{} h", ms / 3_600_000),
        _ => words::span(ms),
    }
}
