//! The document shell and the route table.

use leptos::{nonce::use_nonce, prelude::*};
use leptos_meta::{MetaTags, Stylesheet, provide_meta_context};
use leptos_router::{
    components::{Router, Routes},
    path,
};

use crate::{
    components::{
        badge::Badge,
        keyboard::Keys,
        notify::Notify,
        page_title::AnyTitle,
        theme::{self, ThemeChoice},
        time::{Clock, Zone},
        toast::{Toaster, Toasts},
    },
    domain::{Action, nouns::access::Door},
    live::Live,
    pages::{
        audit::AuditPage,
        diff::DiffPage,
        edit::EditPage,
        inbox::InboxPage,
        not_found::NotFoundPage,
        resume::ResumePage,
        route::PageRoute,
        run::RunPage,
        runs::{RunsPage, Spots},
        settings::SettingsPage,
        shell::Shell,
        signin::SignInPage,
        workers::WorkersPage,
    },
};

/// In the context of a page whose styles and scripts are nowhere.
#[derive(Clone)]
pub struct NoSite;

impl NoSite {
    /// Such a page never hydrates, so an element more at its beginning cannot break hydration.
    fn view(self) -> impl IntoView {
        view! {
            <p role="alert">
                "This server has no styles and scripts: it was built without the site. Whoever runs it finds the way out in its log: "
                <code>"cargo xtask build"</code>" makes a binary that has the site inside."
            </p>
        }
    }
}

/// The HTML document around every page.
pub fn shell(options: LeptosOptions) -> impl IntoView {
    // The browser hydrates from the first thing in the body on: usually there is nothing, not even a mark, before the page.
    let body = match use_context::<NoSite>() {
        Some(missing) => view! { {missing.view()} <App/> }.into_any(),
        None => view! { <App/> }.into_any(),
    };
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
                {body}
            </body>
        </html>
    }
}

/// A page for everybody who may read.
const READ: Door = Door::Page(Action::Read);

/// The route table: each page with its path and what it asks of its reader.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    Clock::provide();
    Zone::provide();
    ThemeChoice::provide();
    Keys::provide();
    Toasts::provide();
    Spots::provide();
    Notify::provide();
    let badge = Badge::provide();
    Shell::provide(Live::provide());
    view! {
        <Stylesheet id="step47" href="/pkg/step47.css"/>
        <AnyTitle badge/>
        <Router>
            <Routes fallback=NotFoundPage>
                <PageRoute path=path!("/") door=READ view=RunsPage/>
                <PageRoute path=path!("/runs/:id") door=READ view=RunPage/>
                <PageRoute path=path!("/runs/:id/diff") door=READ view=DiffPage/>
                <PageRoute path=path!("/runs/:id/resume") door=READ view=ResumePage/>
                <PageRoute path=path!("/runs/:id/edit") door=READ view=EditPage/>
                <PageRoute path=path!("/inbox") door=READ view=InboxPage/>
                <PageRoute path=path!("/audit") door=READ view=AuditPage/>
                <PageRoute path=path!("/workers") door=READ view=WorkersPage/>
                <PageRoute path=path!("/settings") door=READ view=SettingsPage/>
                <PageRoute path=path!("/signin") door=Door::Open view=SignInPage/>
            </Routes>
            <Toaster/>
        </Router>
    }
    .into_any()
}
