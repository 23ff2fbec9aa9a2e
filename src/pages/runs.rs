//! `/`: what needs a person, then all runs, live without moving what is read.

mod board;
mod filter;

use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::{components::Redirect, hooks::use_query_map};

use self::{
    board::{Board, Place, belongs_in_list},
    filter::Filter,
};
use super::shell::{Page, Shell};
use crate::{
    api::{self, AppError},
    components::{
        needs_you::NeedsYouSection,
        notice::{Notice, Refused},
        runs_table::RunsTable,
        sidebar::Sidebar,
    },
    domain::{
        AsOf,
        needs::{Cause, NeedsYou},
        protocol::RunPage,
    },
    live::{Follow, Live},
};

type Answer<T> = Result<AsOf<T>, AppError>;

#[component]
pub fn RunsPage() -> impl IntoView {
    let params = use_query_map();
    let filter = Memo::new(move |_| params.with(Filter::of));
    let query = Memo::new(move |_| filter.with(Filter::query));
    let board = Board::new(expect_context::<Live>(), query.into());
    let list = Resource::new_blocking(move || query.get(), api::runs::list);
    let needs = Resource::new_blocking(move || filter.with(|it| it.needs), api::runs::needs_you);
    let shell = expect_context::<Shell>();
    let search = Signal::derive(move || filter.with(|it| it.q.clone().unwrap_or_default()));
    let title = move || match shell.needs() {
        Some(n) if n > 0 => format!("({n}) Runs · Step47"),
        _ => "Runs · Step47".into(),
    };
    let sidebar = move || {
        let counts = shell.counts().unwrap_or_default();
        view! { <Sidebar groups=filter.with(|filter| filter.groups(&counts))/> }
    };
    let on_top = move || filter.with(|it| it.is_all() || it.needs);
    view! {
        <Page search>
            <div class="columns">
                <Transition><Title text=title/>{sidebar}</Transition>
                <main id="main" class="main" tabindex="-1">
                    <h1 class="hidden">"Runs"</h1>
                    <Chips filter/>
                    <Transition fallback=Loading>
                        {move || on_top().then(|| needs.get().map(|answer| needs_view(answer, board, needs)))}
                    </Transition>
                    <Transition fallback=Loading>
                        {move || (!filter.with(|it| it.needs)).then(|| {
                            list.get().map(|answer| list_view(answer, filter.get(), board, list))
                        })}
                    </Transition>
                </main>
            </div>
        </Page>
    }
    .into_any()
}

#[component]
fn Loading() -> impl IntoView {
    view! { <p class="loading" role="status">"Reading…"</p> }.into_any()
}

/// What the list is narrowed to, each with a way back.
#[component]
fn Chips(filter: Memo<Filter>) -> impl IntoView {
    move || {
        let chips = filter.with(Filter::chips);
        (!chips.is_empty()).then(|| {
            let chip = |(text, href): (String, String)| {
                let label = format!("Remove the filter {text}");
                view! { <li><a class="chip" href=href aria-label=label><bdi>{text}</bdi><span aria-hidden="true">"×"</span></a></li> }
            };
            view! {
                <div class="chips">
                    <ul>{chips.into_iter().map(chip).collect_view()}</ul>
                    <a href="/">"Clear"</a>
                </div>
            }
        })
    }
}

fn needs_view(answer: Answer<NeedsYou>, board: Board, read: Resource<Answer<NeedsYou>>) -> AnyView {
    let (event, needs) = match answer {
        Ok(AsOf { event, value }) => (event, value),
        Err(error) => return view! { <Refused error/> }.into_any(),
    };
    board.shown(Place::NeedsYou);
    let shell = expect_context::<Shell>();
    let rows = needs
        .runs
        .into_iter()
        .map(|run| board.row(Place::NeedsYou, event, run));
    let causes = needs.causes.into_iter().map(|cause| {
        let href = cause_filter(&cause).href();
        (cause, href)
    });
    view! {
        <Follow event/>
        <NeedsYouSection
            rows=rows.collect()
            causes=causes.collect()
            more=needs.more
            total=Signal::derive(move || shell.needs())
            fresh=board.fresh(Place::NeedsYou)
            on_show=Callback::new(move |()| read.refetch())
        />
    }
    .into_any()
}

fn cause_filter(cause: &Cause) -> Filter {
    Filter {
        status: Some(cause.status),
        agent: Some(cause.agent.clone()),
        ..Filter::default()
    }
}

fn list_view(
    answer: Answer<RunPage>,
    filter: Filter,
    board: Board,
    read: Resource<Answer<RunPage>>,
) -> AnyView {
    let (event, page) = match answer {
        Ok(AsOf { event, value }) => (event, value),
        Err(error) => return view! { <Refused error/> }.into_any(),
    };
    if let ([only], Some(text)) = (page.runs.as_slice(), &filter.q)
        && only.id.as_str() == text
    {
        return view! { <Redirect path=format!("/runs/{text}")/> }.into_any();
    }
    board.shown(Place::List);
    let empty = page.runs.is_empty();
    let query = filter.query();
    let listed = page
        .runs
        .into_iter()
        .filter(|run| belongs_in_list(&query, run));
    let rows = listed
        .map(|run| board.row(Place::List, event, run))
        .collect::<Vec<_>>();
    let older = page.next.map(|next| {
        Filter {
            cursor: Some(next),
            ..filter.clone()
        }
        .href()
    });
    let newest = filter.cursor.is_some().then(|| {
        Filter {
            cursor: None,
            ..filter.clone()
        }
        .href()
    });
    view! {
        <Follow event/>
        <RunsTable rows fresh=board.fresh(Place::List) on_show=Callback::new(move |()| read.refetch())/>
        {empty.then(|| view! { <Nothing filtered=!filter.is_all()/> })}
        <nav class="pager" aria-label="Pages of the list">
            {newest.map(|href| view! { <a class="button" href=href>"Newest runs"</a> })}
            {older.map(|href| view! { <a class="button" href=href rel="next">"Older runs"</a> })}
        </nav>
    }
    .into_any()
}

#[component]
fn Nothing(filtered: bool) -> impl IntoView {
    if filtered {
        view! {
            <Notice title="No run fits">
                <p>"Search looks at titles and ids; " <code>"status:"</code> ", " <code>"agent:"</code> " and " <code>"label:key:value"</code> " narrow it."</p>
                <p><a class="button" href="/">"Show all runs"</a></p>
            </Notice>
        }
        .into_any()
    } else {
        view! {
            <Notice title="No runs yet">
                <p>"A run appears here the moment an agent creates it: no reload needed."</p>
                <p>"Give the agent a token: " <code>"step47 token create --role agent --name my-agent"</code></p>
                <p>"Then " <code>"POST /v1/runs"</code> " with it, or use the Rust SDK. " <code>"step47 demo"</code> " shows sample agents."</p>
            </Notice>
        }
        .into_any()
    }
}
