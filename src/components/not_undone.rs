//! What a rewind or a fork left behind outside: named on the run's page until the run ends or someone acknowledges it.

use leptos::prelude::*;

use crate::domain::{
    RunId,
    rules::plan::LeftBehind,
    views::{run_words::NOT_UNDONE, words},
};

#[component]
pub fn NotUndone(
    #[prop(into)] left: Signal<Vec<LeftBehind>>,
    run: RunId,
    /// The address that acknowledges them, for readers who may decide.
    #[prop(into)]
    acknowledge: Signal<Option<String>>,
) -> impl IntoView {
    let run = StoredValue::new(run);
    let one = move |it: LeftBehind| {
        let known = it.known();
        let of = it.run.clone().unwrap_or_else(|| run.get_value());
        let href = format!("/runs/{of}?step={}", it.seq);
        let origin = it.run.map(|run| format!(" in run {}", run.short()));
        view! {
            <li>
                <a href=href>{words::number(it.seq)}" "<bdi>{it.name}</bdi></a>{origin}
                " · "<bdi>{it.effect.words}</bdi>" · "<bdi class="mono">{it.effect.target}</bdi>
                " · "<b class="tone-crashed">{known}</b>
            </li>
        }
    };
    let any = Memo::new(move |_| left.with(|left| !left.is_empty()));
    move || {
        any.get().then(|| {
            view! {
                <section class="not-undone" aria-label=NOT_UNDONE>
                    <b class="tone-crashed">{NOT_UNDONE}</b>
                    <ul>{move || left.get().into_iter().map(one).collect_view()}</ul>
                    {move || acknowledge.get().map(|href| view! { <a class="button" href=href>"Acknowledge…"</a> })}
                </section>
            }
        })
    }
}
