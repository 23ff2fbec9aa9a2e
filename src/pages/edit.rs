//! `/runs/:id/edit`: the state as JSON, or one value of it (`?path=`). What is typed is kept as a draft, compared with
//! the original while it is typed, and saved as a new snapshot; nothing is overwritten.

mod both_sides;
mod draft;
mod sheet;

use leptos::prelude::*;
use leptos_router::hooks::{use_params_map, use_query_map};

use self::sheet::EditBody;
use super::{
    run::{missing, run_id},
    shell::Page,
};
use crate::{
    api,
    components::{
        page_title::PageTitle,
        run_row,
        top_bar::{Crumb, Here},
    },
    live::Follow,
};

#[component]
pub fn EditPage() -> impl IntoView {
    let params = use_params_map();
    let query = use_query_map();
    let id = Memo::new(move |_| params.with(|it| it.get("id").unwrap_or_default()));
    let path = Memo::new(move |_| query.with(|it| it.get("path").unwrap_or_default()));
    let read = Resource::new_blocking(
        move || (id.get(), path.get()),
        |(id, path)| async move { api::snapshots::to_edit(run_id(&id)?, path).await },
    );
    let crumbs = Signal::derive(move || {
        let sheet = read.get().and_then(Result::ok);
        Crumb::to_run(sheet.map(|it| it.value.run.agent), &id.get(), Some("Edit"))
    });
    let body = move || {
        Some(match read.get()? {
            Err(error) => missing(error).into_any(),
            Ok(answer) => {
                let title = format!("Edit {} · Step47", run_row::title(&answer.value.run));
                view! {
                    <PageTitle text=title/>
                    <Follow event=answer.event/>
                    <EditBody sheet=answer.value/>
                }
                .into_any()
            }
        })
    };
    view! {
        <Page here=Here::BelowRuns crumbs>
            <main id="main" class="main" tabindex="-1">
                <Transition fallback=|| view! { <p class="loading" role="status">"Loading…"</p> }>{body}</Transition>
            </main>
        </Page>
    }
    .into_any()
}
