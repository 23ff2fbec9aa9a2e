//! An effect as whoever decides must know it: in the agent's words, its target, and the key that the provider saw.

use leptos::prelude::*;

use crate::domain::rules::plan::EffectAhead;

#[component]
pub fn EffectWords(effect: EffectAhead) -> impl IntoView {
    let EffectAhead {
        words, target, key, ..
    } = effect;
    let target = (words != target).then(|| view! { " · "<bdi class="mono">{target}</bdi> });
    let key = key.map(|key| view! { " · key "<bdi class="mono">{key}</bdi> });
    view! { <bdi>{words}</bdi>{target}{key} }.into_any()
}
