//! What is not there, with a real 404.

use leptos::prelude::*;

use super::shell::Page;
use crate::components::{notice::Notice, page_title::PageTitle, top_bar::Here};

/// Says 404 to whoever asked, when the page is rendered on the server.
pub fn say_not_found() {
    #[cfg(feature = "ssr")]
    if let Some(response) = use_context::<leptos_axum::ResponseOptions>() {
        response.set_status(http::StatusCode::NOT_FOUND);
    }
}

#[component]
pub fn NotFoundPage() -> impl IntoView {
    say_not_found();
    view! {
        <PageTitle text="Not found · Step47"/>
        <Page here=Here::Nowhere>
            <main id="main" class="main" tabindex="-1">
                <h1 class="hidden">"Not found"</h1>
                <Notice title="There is no such page">
                    <p>"The address may be mistyped, or the page may have moved."</p>
                    <p><a class="button" href="/">"Show all runs"</a></p>
                </Notice>
            </main>
        </Page>
    }
    .into_any()
}
