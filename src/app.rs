//! The document shell and the route table.

use leptos::{nonce::use_nonce, prelude::*};
use leptos_meta::{MetaTags, Stylesheet, Title, provide_meta_context};
use leptos_router::{
    SsrMode,
    components::{Route, Router, Routes},
    path,
};

use crate::{
    components::{
        badge::Badge,
        keyboard::Keys,
        notify::Notify,
        theme::{self, ThemeChoice},
        time::{Clock, Zone},
        toast::{Toaster, Toasts},
    },
    live::Live,
    pages::{
        audit::AuditPage, diff::DiffPage, edit::EditPage, inbox::InboxPage,
        not_found::NotFoundPage, resume::ResumePage, run::RunPage, runs::RunsPage,
        settings::SettingsPage, shell::Shell, signin::SignInPage, workers::WorkersPage,
    },
};

/// The HTML document around every page.
pub fn shell(options: LeptosOptions) -> impl IntoView {
    view! {
        <!DOCTYPE html>
        <html lang="en">
            <head>
                <meta charset="utf-8"/>
                <meta name="viewport" content="width=device-width, initial-scale=1"/>
                <meta name="color-scheme" content="light dark"/>
                <script nonce=use_nonce()>{theme::BEFORE_PAINT}</script>
                <link rel="icon" href="/favicon.svg" type="image/svg+xml"/>
                <AutoReload options=options.clone()/>
                <HydrationScripts options/>
                <MetaTags/>
            </head>
            <body>
                <App/>
            </body>
        </html>
    }
}

/// Every page is complete before it is sent: readable before, and without, WASM.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    Clock::provide();
    Zone::provide();
    ThemeChoice::provide();
    Keys::provide();
    Toasts::provide();
    Notify::provide();
    let badge = Badge::provide();
    Shell::provide(Live::provide());
    view! {
        <Stylesheet id="step47" href="/pkg/step47.css"/>
        <Title text="Step47" formatter=move |title: String| badge.titled(title)/>
        <Router>
            <Routes fallback=NotFoundPage>
                <Route path=path!("/") view=RunsPage ssr=SsrMode::Async/>
                <Route path=path!("/runs/:id") view=RunPage ssr=SsrMode::Async/>
                <Route path=path!("/runs/:id/diff") view=DiffPage ssr=SsrMode::Async/>
                <Route path=path!("/runs/:id/resume") view=ResumePage ssr=SsrMode::Async/>
                <Route path=path!("/runs/:id/edit") view=EditPage ssr=SsrMode::Async/>
                <Route path=path!("/inbox") view=InboxPage ssr=SsrMode::Async/>
                <Route path=path!("/audit") view=AuditPage ssr=SsrMode::Async/>
                <Route path=path!("/workers") view=WorkersPage ssr=SsrMode::Async/>
                <Route path=path!("/settings") view=SettingsPage ssr=SsrMode::Async/>
                <Route path=path!("/signin") view=SignInPage ssr=SsrMode::Async/>
            </Routes>
        </Router>
        <Toaster/>
    }
    .into_any()
}
