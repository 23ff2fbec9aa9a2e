//! One choice out of a few, side by side.

use leptos::prelude::*;

/// `choices` are values and what they are called; the switch needs WASM, like the choice it keeps.
#[component]
pub fn Segments<T>(
    label: &'static str,
    choices: Vec<(T, &'static str)>,
    #[prop(into)] chosen: Signal<T>,
    #[prop(into)] on_choose: Callback<T>,
) -> impl IntoView
where
    T: Copy + PartialEq + Send + Sync + 'static,
{
    let segment = move |(value, name): (T, &'static str)| {
        view! {
            <button
                type="button"
                class="segment"
                aria-pressed=move || (chosen.get() == value).to_string()
                on:click=move |_| on_choose.run(value)
            >
                {name}
            </button>
        }
    };
    view! {
        <div class="segments" role="group" aria-label=label>
            {choices.into_iter().map(segment).collect_view()}
        </div>
    }
    .into_any()
}
