//! `/`: what needs a person, then all runs, live without moving what is read.

mod board;
mod causes;
mod filter;
mod keys;
mod matching;
mod older;
mod orders;
mod spot;

pub use spot::Spots;

use std::collections::BTreeMap;

use leptos::prelude::*;
use leptos_router::{NavigateOptions, components::Redirect, hooks::use_query_map};

use self::{
    board::{Board, BoardSection, belongs_in_list},
    filter::Filter,
    keys::ListKeys,
    matching::SelectMatching,
    older::Older,
    orders::Orders,
};
use super::shell::{Page, Shell};
use crate::{
    api::{self, AppError},
    components::{
        needs_you::NeedsYouSection,
        notice::{Notice, Refused},
        page_title::PageTitle,
        runs_table::RunsTable,
        selection::Selection,
        sidebar::Sidebar,
    },
    domain::{
        Action, AsOf, RunId,
        rules::needs::{Alike, NeedsYou},
        views::words,
        wire::protocol::RunPage,
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
    let needs = Resource::new_blocking(move || filter.with(Filter::needs), api::runs::needs_you);
    let pasted = Resource::new_blocking(move || filter.with(Filter::pasted), found);
    let size = Resource::new_blocking(move || query.with(Alike::asked), size_of);
    let selection = Selection::start();
    let shell = expect_context::<Shell>();
    let search = Signal::derive(move || filter.with(|it| it.q.clone().unwrap_or_default()));
    let sidebar = move || {
        let counts = shell.counts().unwrap_or_default();
        view! { <Sidebar groups=filter.with(|filter| filter.groups(&counts))/> }
    };
    let on_top = move || filter.with(|it| it.is_all() || it.needs());
    let opens = move || pasted.get().and_then(Result::ok).flatten().map(opened);
    view! {
        <Page search>
            <div class="columns">
                <PageTitle text="Runs · Step47"/>
                <ListKeys/>
                <Transition>{sidebar}</Transition>
                <main id="main" class="main" tabindex="-1">
                    <h1 class="hidden">"Runs"</h1>
                    <Transition>{opens}</Transition>
                    <Transition>
                        <Chips filter size=Signal::derive(move || size.get().and_then(Result::ok).flatten())/>
                    </Transition>
                    {move || filter.with(Filter::hint).map(|said| view! { <p class="group-bar" role="note"><bdi>{said}</bdi></p> })}
                    <Transition fallback=Loading>
                        {move || on_top().then(|| needs.get().map(|answer| needs_view(answer, board, needs, selection)))}
                    </Transition>
                    <Transition fallback=Loading>
                        {move || (!filter.with(Filter::needs)).then(|| {
                            let size = size.get().and_then(Result::ok).flatten();
                            list.get().map(|answer| list_view(answer, filter.get(), board, list, selection, size))
                        })}
                    </Transition>
                    <Orders selection on_done=Callback::new(move |()| {
                        list.refetch();
                        needs.refetch();
                    })/>
                </main>
            </div>
        </Page>
    }
    .into_any()
}

async fn found(pasted: Option<String>) -> Result<Option<(RunId, Option<i64>)>, AppError> {
    match pasted {
        Some(text) => api::runs::find(text).await,
        None => Ok(None),
    }
}

async fn size_of(alike: Option<Alike>) -> Result<Option<i64>, AppError> {
    match alike {
        Some(alike) => api::runs::size(alike).await.map(Some),
        None => Ok(None),
    }
}

/// A pasted id or key that stands for one thing opens it.
fn opened((run, step): (RunId, Option<i64>)) -> AnyView {
    let path = match step {
        Some(step) => format!("/runs/{run}?step={step}"),
        None => format!("/runs/{run}"),
    };
    let options = NavigateOptions {
        replace: true,
        ..NavigateOptions::default()
    };
    view! { <Redirect path options/> }.into_any()
}

#[component]
fn Loading() -> impl IntoView {
    view! { <p class="loading" role="status">"Loading…"</p> }.into_any()
}

/// What the list is narrowed to, each with a way back.
#[component]
fn Chips(
    filter: Memo<Filter>,
    /// How many runs a cause has.
    size: Signal<Option<i64>>,
) -> impl IntoView {
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
                    {move || size.get().map(|n| view! { <p>{stopped_alike(n)}</p> })}
                </div>
            }
        })
    }
}

/// "3 runs stopped for this reason"
fn stopped_alike(n: i64) -> String {
    match n {
        1 => "1 run stopped for this reason".to_owned(),
        n => format!("{} runs stopped for this reason", words::count(n)),
    }
}

fn needs_view(
    answer: Answer<NeedsYou>,
    board: Board,
    read: Resource<Answer<NeedsYou>>,
    selection: Selection,
) -> AnyView {
    let (event, needs) = match answer {
        Ok(AsOf { event, value }) => (event, value),
        Err(error) => return view! { <Refused error/> }.into_any(),
    };
    board.shown(BoardSection::NeedsYou);
    let shell = expect_context::<Shell>();
    let mut about: BTreeMap<_, _> = needs.about.into_iter().collect();
    let rows = needs.runs.into_iter().map(|run| {
        let about = about.remove(&run.id);
        (board.row(BoardSection::NeedsYou, event, run), about)
    });
    let causes = needs.causes.into_iter().map(|cause| {
        let href = Filter::alike(&cause.alike).href();
        (board.cause(cause), href)
    });
    view! {
        <Follow event/>
        <NeedsYouSection
            rows=rows.collect()
            may=Signal::derive(move || shell.may(Action::Decide))
            causes=causes.collect()
            more=needs.more
            total=Signal::derive(move || shell.needs())
            fresh=board.fresh(BoardSection::NeedsYou)
            on_show=Callback::new(move |()| read.refetch())
            selection
        />
    }
    .into_any()
}

fn list_view(
    answer: Answer<RunPage>,
    filter: Filter,
    board: Board,
    read: Resource<Answer<RunPage>>,
    selection: Selection,
    size: Option<i64>,
) -> AnyView {
    let (event, page) = match answer {
        Ok(AsOf { event, value }) => (event, value),
        Err(error) => return view! { <Refused error/> }.into_any(),
    };
    board.shown(BoardSection::List);
    let last = page.runs.last().filter(|_| page.next.is_some());
    board.ends_at(last.map(|run| run.created_at));
    let empty = page.runs.is_empty();
    let query = filter.query();
    let older = Older::new(query.clone(), page.next.clone());
    let plain = query.is_plain();
    let first = page
        .runs
        .first()
        .map(|run| format!("/runs/{}/resume", run.id));
    let group = Alike::asked(&query).and(first);
    let listed = page
        .runs
        .into_iter()
        .filter(|run| !plain || belongs_in_list(&query, run));
    let rows = listed
        .map(|run| board.row(BoardSection::List, event, run))
        .collect::<Vec<_>>();
    let top = Filter {
        cursor: None,
        ..filter.clone()
    };
    let newest = filter.cursor.is_some().then(|| top.href());
    let searched = empty && page.next.is_some();
    let more = page.next.is_some() && !plain && group.is_none();
    let matching = query.clone();
    view! {
        <Follow event/>
        {group.map(|first| view! {
            <p class="group-bar">
                "These runs stopped for the same reason. Resume one first and see whether it goes on, then the others whose effects are known. "
                <a class="button" href=first>"Resume one first…"</a>" "
                <SelectMatching query=matching.clone() size selection/>
            </p>
        })}
        {more.then(|| {
            let query = query.clone();
            let picked = selection.picked();
            move || (!picked.with(BTreeMap::is_empty)).then(|| view! {
                <p class="group-bar"><SelectMatching query=query.clone() size=None selection/></p>
            })
        })}
        <RunsTable
            rows
            older=older.runs()
            follow=Callback::new(move |run| board.row(BoardSection::List, event, run))
            fresh=board.fresh(BoardSection::List)
            on_show=Callback::new(move |()| read.refetch())
            selection
        />
        {searched.then(|| view! { <p class="searched">"No matches among the newest runs. Searching older ones."</p> })}
        {(empty && !searched).then(|| view! { <Nothing filtered=!filter.is_all()/> })}
        <nav class="pager" aria-label="Pages of the list">
            {newest.map(|href| view! { <a class="button" href=href>"Newest runs"</a> })}
            <older::OlderLink older filter/>
        </nav>
    }
    .into_any()
}

#[component]
fn Nothing(filtered: bool) -> impl IntoView {
    if filtered {
        view! {
            <Notice title="No matching runs">
                <p>"Search matches the start of words in titles, ids, step names and errors, and step keys. Narrow it with " <code>"status:"</code> ", " <code>"agent:"</code> ", " <code>"label:key:value"</code> ", " <code>"key:"</code> " and " <code>"worker:"</code> "."</p>
                <p><a class="button" href="/">"Show all runs"</a></p>
            </Notice>
        }
        .into_any()
    } else {
        view! {
            <Notice title="No runs yet">
                <p>"A run appears here the moment an agent creates it: no reload needed."</p>
                <p>"Give the agent a token: " <code>"step47 token create --role agent --name my-agent"</code></p>
                <p>"Then " <code>"POST /v1/runs"</code> " with it, or use the SDK for Python or Rust. " <code>"step47 demo"</code> " shows sample agents."</p>
            </Notice>
        }
        .into_any()
    }
}
