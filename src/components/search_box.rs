//! The search box: a plain form, so that a search is a link.

use leptos::prelude::*;
use leptos_router::components::Form;

#[component]
pub fn SearchBox(
    /// What is searched for now.
    #[prop(into)]
    text: Signal<String>,
) -> impl IntoView {
    view! {
        <Form method="GET" action="/" attr:class="search" attr:role="search" attr:aria-label="Runs">
            <input
                type="search"
                id="search"
                name="q"
                class="search-input"
                placeholder="status:crashed agent:invoice…"
                aria-label="Search runs"
                aria-keyshortcuts="/"
                autocomplete="off"
                spellcheck="false"
                maxlength="512"
                prop:value=move || text.get()
                value=text.get_untracked()
            />
            <kbd class="search-key" aria-hidden="true">"/"</kbd>
        </Form>
    }
    .into_any()
}
