//! `/workers`: who works on what, who waits for work, and whose write was refused; read again while it is looked at.

use std::time::Duration;

use leptos::{prelude::*, web_sys::VisibilityState};
use leptos_router::{hooks::use_query_map, params::ParamsMap};

use super::{last_answer::LastAnswer, shell::Page};
use crate::{
    api::{self, AppError},
    components::{
        browser::every,
        notice::{Notice, Refused},
        page_title::PageTitle,
        skeleton::Skeleton,
        top_bar::{Here, Section},
        workers_table::WorkersTable,
    },
    domain::nouns::worker::{Doing, WorkerPage},
};

/// A page that is looked at is read again this often.
const READ_EVERY: Duration = Duration::from_secs(3);

#[component]
pub fn WorkersPage() -> impl IntoView {
    let params = use_query_map();
    let cursor = Memo::new(move |_| params.with(|it| it.get("cursor")));
    let page = Resource::new_blocking(move || cursor.get(), api::workers::page);
    let last = LastAnswer::default();
    Effect::new(move || {
        let again = move || {
            if document().visibility_state() == VisibilityState::Visible {
                page.refetch();
            }
        };
        every(READ_EVERY, again);
    });
    let body = move || {
        let which = cursor.get();
        let answer = page.get()?;
        let answer = last.or_last(which.as_deref().unwrap_or_default(), answer);
        Some(shown(answer, which.is_some()))
    };
    view! {
        <PageTitle text="Workers · Step47"/>
        <Page here=Here::Section(Section::Workers)>
            <main id="main" class="main" tabindex="-1">
                <header class="page-head">
                    <h1>"Workers"</h1>
                    <p class="dim">"heard from in the last 7 days · a silent worker may still be working"</p>
                </header>
                <Transition fallback=|| view! { <Skeleton rows=6/> }>{body}</Transition>
            </main>
        </Page>
    }
    .into_any()
}

fn shown(answer: Result<WorkerPage, AppError>, further: bool) -> AnyView {
    let WorkerPage {
        mut workers,
        next,
        now,
    } = match answer {
        Ok(page) => page,
        Err(error) => return view! { <Refused error/> }.into_any(),
    };
    if workers.is_empty() {
        return view! { <Nobody/> }.into_any();
    }
    // By name, so that no row moves while it is read.
    workers.sort_by_key(|worker| (worker.doing(now) == Doing::Silent, worker.name.clone()));
    let next = next.map(|next| {
        let mut params = ParamsMap::new();
        params.insert("cursor", next);
        format!("/workers{}", params.to_query_string())
    });
    view! {
        <WorkersTable workers now/>
        <nav class="pager" aria-label="Pages of the list">
            {further.then(|| view! { <a class="button" href="/workers">"Latest"</a> })}
            {next.map(|href| view! { <a class="button" href=href rel="next">"Earlier"</a> })}
        </nav>
    }
    .into_any()
}

#[component]
fn Nobody() -> impl IntoView {
    view! {
        <Notice title="No workers yet">
            <p>"A worker appears here when it asks for work or takes a run."</p>
            <p><code>"POST /v1/claims"</code> " asks for any run that may be worked on; the worker loops of the SDKs do so."</p>
        </Notice>
    }
    .into_any()
}
