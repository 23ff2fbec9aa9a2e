//! Effects that may have happened, one by one: in dialogs that leave them so, and on the page of a run that was given up
//! with them.

use leptos::prelude::*;

use super::effect_words::EffectWords;
use crate::{
    api::AppError,
    domain::{
        RunId,
        rules::{
            doubt::UNCHECKED,
            plan::{LeftBehind, NAMED_MAX},
        },
        views::words,
    },
};

/// "47 charge_card · charge €1,249.00 to cus_R91 · stripe.charges · key r:47"
#[component]
pub fn UnknownEffects(effects: Vec<LeftBehind>) -> impl IntoView {
    let one = |it: LeftBehind| {
        let of = it.run.map(|run| {
            let href = format!("/runs/{run}?step={}", it.seq);
            view! { <a class="link mono" href=href target="_blank">{run.short().to_owned()}</a>" · " }
        });
        view! { <li>{of}{words::number(it.seq)}" "<bdi>{it.name}</bdi>" · "<EffectWords effect=it.effect/></li> }
    };
    view! { <ul class="sheet-text order-results" tabindex="0" aria-label="Unknown effects">{effects.into_iter().map(one).collect_view()}</ul> }
        .into_any()
}

/// The unknown effects of several runs, which are read when someone asks to cancel them.
#[component]
pub fn UnknownEffectsOf(
    /// None until they are read.
    effects: Option<Result<Vec<LeftBehind>, AppError>>,
) -> impl IntoView {
    match effects {
        None => view! { <p class="sheet-text" role="status">"Reading the unknown effects…"</p> }
            .into_any(),
        Some(Err(error)) => view! {
            <p class="sheet-text tone-crashed">"The unknown effects could not be read: look at each run first. "<bdi>{error.0.detail}</bdi></p>
        }
        .into_any(),
        Some(Ok(effects)) if effects.is_empty() => ().into_any(),
        Some(Ok(effects)) => {
            let more = effects.len() >= NAMED_MAX;
            view! {
                <UnknownEffects effects/>
                {more.then(|| view! { <p class="sheet-text tone-crashed">"There may be more."</p> })}
            }
            .into_any()
        }
    }
}

/// What a cancelled run left unknown: named on its page until someone acknowledges it.
#[component]
pub fn Unchecked(
    /// None where nothing was left unknown, or someone acknowledged it.
    #[prop(into)]
    effects: Signal<Option<Vec<LeftBehind>>>,
    run: RunId,
    /// The address that acknowledges them, for readers who may decide.
    #[prop(into)]
    acknowledge: Signal<Option<String>>,
) -> impl IntoView {
    let run = StoredValue::new(run);
    let one = move |it: LeftBehind| {
        let href = format!("/runs/{}?step={}", run.get_value(), it.seq);
        view! { <li><a href=href>{words::number(it.seq)}" "<bdi>{it.name}</bdi></a>" · "<EffectWords effect=it.effect/></li> }
    };
    let any = Memo::new(move |_| effects.with(Option::is_some));
    let named = move || {
        let effects = effects.get().unwrap_or_default();
        effects.into_iter().map(one).collect_view()
    };
    move || {
        any.get().then(|| {
            view! {
                <section class="not-undone" aria-label="Nobody checked">
                    <b class="tone-crashed">{words::capital(UNCHECKED.to_owned())}</b>
                    <ul>{named}</ul>
                    {move || acknowledge.get().map(|href| view! { <a class="button" href=href>"Acknowledge…"</a> })}
                </section>
            }
        })
    }
}
