//! `/runs/:id`: what happened in one sentence, the timeline, the steps, and one step in full.

mod ask;
mod buttons;
mod keys;
mod links;
mod live;
mod loaded_steps;
mod notes;
mod read;
mod run_url;
mod selected_step;
mod steps;

use leptos::prelude::*;
use leptos_router::hooks::{use_params_map, use_query_map};

use self::{
    ask::Asked,
    buttons::RunButtons,
    keys::RunKeys,
    links::Links,
    notes::Notes,
    read::Read,
    run_url::RunUrl,
    selected_step::{Offers, SelectedStep, waiting_gate},
    steps::{StepsColumn, beside},
};
use super::{not_found::say_not_found, shell::Page};
use crate::{
    api::AppError,
    components::{
        not_undone::NotUndone,
        notice::{Notice, Refused},
        page_title::PageTitle,
        run_content::{ChildRuns, RunContent},
        run_head::RunHead,
        run_row,
        timeline::TimelineView,
        top_bar::{Crumb, Here},
        unknown_effects::Unchecked,
    },
    domain::{Code, Problem, RunId},
    live::Follow,
};

/// What the page is about, once that is known.
#[derive(Debug, Clone, PartialEq)]
enum Found {
    Run(RunId),
    Refused(AppError),
}

pub fn run_id(text: &str) -> Result<RunId, AppError> {
    text.parse().map_err(|_| Problem::not_found("run").into())
}

#[component]
pub fn RunPage() -> impl IntoView {
    let params = use_params_map();
    let query = use_query_map();
    let id = Memo::new(move |_| params.with(|it| it.get("id").unwrap_or_default()));
    let url = Memo::new(move |_| query.with(RunUrl::of));
    let read = Read::new(id, url);
    live::keep_current(id, url, read);
    let crumbs = Signal::derive(move || {
        let sheet = read.run.get().and_then(Result::ok);
        Crumb::to_run(sheet.map(|it| it.value.run.agent), &id.get(), None)
    });
    view! {
        <Page here=Here::BelowRuns crumbs>
            <main id="main" class="run-page" tabindex="-1">
                <Transition fallback=|| view! { <p class="loading" role="status">"Loading…"</p> }>
                    <Run id read url/>
                </Transition>
            </main>
        </Page>
    }
    .into_any()
}

/// The run, or why it cannot be shown; below `Transition`, where resources may be read.
#[component]
fn Run(id: Memo<String>, read: Read, url: Memo<RunUrl>) -> impl IntoView {
    let found = Memo::new(move |_| {
        Some(match read.sheet_or_error(&id.get())? {
            Ok(sheet) => Found::Run(sheet.run.id),
            Err(error) => Found::Refused(error),
        })
    });
    move || {
        read.wait_for_all();
        found.get().map(|found| match found {
            Found::Run(id) => view! { <RunBody id read url/> }.into_any(),
            Found::Refused(error) => missing(error).into_any(),
        })
    }
}

pub fn missing(error: AppError) -> impl IntoView {
    if !error.is(Code::NotFound) {
        return view! { <PageTitle text="Run · Step47"/><Refused error/> }.into_any();
    }
    say_not_found();
    view! {
        <PageTitle text="No such run · Step47"/>
        <h1 class="hidden">"No such run"</h1>
        <Notice title="There is no such run">
            <p>"The id may be cut off, or the run belongs to another store."</p>
            <p><a class="button" href="/">"Show all runs"</a></p>
        </Notice>
    }
    .into_any()
}

/// The page of a run that is there; it lives as long as the run is looked at, and all in it is patched.
#[component]
fn RunBody(id: RunId, read: Read, url: Memo<RunUrl>) -> impl IntoView {
    let sheet = read.sheet(&id);
    let run = Memo::new(move |_| sheet.with(|it| it.as_ref().map(|it| it.run.clone())));
    let step = read.step(&id);
    let timeline = read.timeline(&id);
    let selected = Memo::new(move |_| step.with(|it| it.as_ref().map(|it| it.detail.step.seq)));
    // The list shows at once what was picked; the step itself is read meanwhile.
    let picked = Memo::new(move |_| {
        let chosen = url.with(|it| it.step.filter(|_| !it.follow));
        chosen.or_else(|| selected.get())
    });
    let links = Links::new(id.clone(), url, selected);
    let offers = Offers::new(sheet, step);
    let gate = waiting_gate(step, offers);
    // A gate that only asks for yes or no can be decided by what is asked above the page.
    let question = Memo::new(move |_| {
        let (_, gate) = gate.get()?;
        gate.is_plain().then_some(gate.title)
    });
    let listed = RwSignal::new(None::<(i64, i64)>);
    let title = move || {
        let name = run.with(|run| run.as_ref().map(run_row::title));
        format!("{} · Step47", name.unwrap_or_default())
    };
    let asking = Signal::derive(move || {
        let waits = run.with(|run| run.as_ref().is_some_and(|it| it.status.runnable()));
        read.asked.get().flatten().filter(|_| waits)
    });
    let children = Signal::derive(move || {
        timeline
            .with(|it| it.as_ref().map(|it| it.children.clone()))
            .unwrap_or_default()
    });
    let children_more = Signal::derive(move || {
        timeline
            .with(|it| it.as_ref().map(|it| it.children_more))
            .unwrap_or_default()
    });
    let left = Signal::derive(move || {
        sheet
            .with(|it| it.as_ref().map(|it| it.after.not_undone.clone()))
            .unwrap_or_default()
    });
    let unchecked = Signal::derive(move || {
        sheet.with(|it| {
            let it = it.as_ref().filter(|it| it.run.unchecked())?;
            Some(it.after.unknown.clone())
        })
    });
    let acknowledge = Signal::derive(move || offers.acknowledge(links));
    let timeline_href = Callback::new(move |go| links.timeline(go));
    let on_go = Callback::new(move |go| links.go(go));
    let step_href = Callback::new(move |seq| links.step(seq));
    let row_href = Callback::new(move |row| links.row(row));
    let on_up = Callback::new(move |()| links.stop_following());
    view! {
        <PageTitle text=title/>
        {move || read.event().map(|event| view! { <Follow event/> })}
        <RunKeys url links offers selected beside=beside(read, run, picked)/>
        <RunHead sheet asking>
            <RunButtons url links offers run/>
        </RunHead>
        <NotUndone left run=id.clone() acknowledge/>
        <Unchecked effects=unchecked run=id.clone() acknowledge/>
        <Notes run read/>
        <RunContent sheet/>
        <ChildRuns runs=children more=children_more/>
        <Asked id=id.clone() url read sheet run selected question/>
        <TimelineView timeline run selected listed href=timeline_href on_go/>
        <div class="run-columns">
            <section class="steps-column" aria-label="Steps">
                <StepsColumn id read url sheet selected=picked listed step_href row_href on_up/>
            </section>
            <section class="inspector-column" aria-label="Selected step">
                <SelectedStep read url links offers sheet run step selected gate/>
            </section>
        </div>
    }
    .into_any()
}
