//! A status in a word or a sentence, tinted with its colour.

use leptos::prelude::*;

use super::glyph::Shape;

#[component]
pub fn Pill(
    #[prop(into)] shape: Signal<Shape>,
    #[prop(into)] text: Signal<String>,
) -> impl IntoView {
    view! { <span class=move || format!("pill {}", shape.get().tone())>{text}</span> }.into_any()
}
