//! What a machine wrote, as text and nothing else; long texts say how much is left out.

use leptos::prelude::*;

use crate::domain::views::{sheet::Excerpt, words};

#[component]
pub fn ExcerptBlock(#[prop(into)] title: String, excerpt: Option<Excerpt>) -> impl IntoView {
    let label = title.clone();
    excerpt.map(|excerpt| {
        let left_out = excerpt.left_out();
        view! {
            <section class="excerpt">
                <h3 class="label">{title} <span class="excerpt-size">{words::size(excerpt.bytes)}</span></h3>
                <pre tabindex="0" role="group" aria-label=label><bdi>{excerpt.text}</bdi></pre>
                {(left_out > 0).then(|| view! {
                    <p class="dim">{format!("{} more not shown. The API has everything.", words::size(left_out))}</p>
                })}
            </section>
        }
    })
}
