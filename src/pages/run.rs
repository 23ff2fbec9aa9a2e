//! `/runs/:id`: what happened, the steps around it, and one step in full.

mod pin;
mod place;

use std::time::Duration;

use leptos::{leptos_dom::helpers::set_timeout, prelude::*};
use leptos_meta::Title;
use leptos_router::hooks::{use_params_map, use_query_map};

use self::{pin::Pin, place::Place};
use super::{kept::Kept, not_found::say_not_found, shell::Page};
use crate::{
    api::{self, AppError},
    components::{
        frame::{Crumb, Here},
        inspector::{Inspector, Tab},
        notice::{Notice, Refused},
        run_head::RunHead,
        run_row,
        step_list::StepList,
    },
    domain::{
        AsOf, Code, Event, Problem, RunId,
        protocol::StepPage,
        sheet::{RunSheet, StepSheet},
    },
    live::{Follow, Live, Message},
};

/// Events within this time are read together.
const GATHER: Duration = Duration::from_millis(200);

type Answer<T> = Result<AsOf<T>, AppError>;

/// All that the page shows, and what it showed before.
#[derive(Clone, Copy)]
struct Read {
    run: Resource<Answer<RunSheet>>,
    steps: Resource<Answer<StepPage>>,
    step: Resource<Answer<Option<StepSheet>>>,
    last_run: Kept<AsOf<RunSheet>>,
    last_steps: Kept<AsOf<StepPage>>,
    last_step: Kept<AsOf<Option<StepSheet>>>,
    pin: Pin,
}

impl Read {
    fn new(id: Memo<String>, place: Memo<Place>) -> Self {
        let pin = Pin::new();
        let after = Memo::new(move |_| place.with(Place::after));
        let selected = Memo::new(move |_| place.with(|it| it.step));
        Self {
            run: Resource::new_blocking(
                move || id.get(),
                |id| async move { api::runs::one(run_id(&id)?).await },
            ),
            steps: Resource::new_blocking(
                move || (id.get(), after.get()),
                move |(id, after)| async move {
                    let after = after.or_else(|| pin.after(&id));
                    api::steps::page(run_id(&id)?, after).await
                },
            ),
            step: Resource::new_blocking(
                move || (id.get(), selected.get()),
                move |(id, seq)| async move {
                    let seq = seq.or_else(|| pin.step(&id));
                    api::steps::one(run_id(&id)?, seq).await
                },
            ),
            last_run: Kept::default(),
            last_steps: Kept::default(),
            last_step: Kept::default(),
            pin,
        }
    }
}

fn run_id(text: &str) -> Result<RunId, AppError> {
    text.parse().map_err(|_| Problem::not_found("run").into())
}

#[component]
pub fn RunPage() -> impl IntoView {
    let params = use_params_map();
    let query = use_query_map();
    let id = Memo::new(move |_| params.with(|it| it.get("id").unwrap_or_default()));
    let place = Memo::new(move |_| query.with(Place::of));
    let read = Read::new(id, place);
    keep_current(id, read);
    let crumbs = Signal::derive(move || {
        let id = id.get();
        let short = run_id(&id).map_or_else(|_| "?".into(), |id| id.short().to_owned());
        let agent = read
            .run
            .get()
            .and_then(Result::ok)
            .map(|sheet| sheet.value.run.agent);
        let agent = agent.map(Crumb::of_agent);
        let here = Crumb {
            text: short,
            href: None,
        };
        agent.into_iter().chain([here]).collect()
    });
    view! {
        <Page here=Here::BelowRuns crumbs>
            <main id="main" class="run-page" tabindex="-1">
                <Transition fallback=|| view! { <p class="loading" role="status">"Reading…"</p> }>
                    {move || Some(match read.last_run.or_last(&id.get(), read.run.get()?) {
                        Ok(run) => found(run, read, place).into_any(),
                        Err(error) => missing(error).into_any(),
                    })}
                </Transition>
            </main>
        </Page>
    }
    .into_any()
}

/// Reads again what an event of this run touched, a few events at a time.
fn keep_current(id: Memo<String>, read: Read) {
    let due = StoredValue::new(false);
    let touches = move |event: &Event| id.with_untracked(|id| event.run.as_str() == id);
    expect_context::<Live>().listen(move |message| {
        let ours = match &message {
            Message::Event(event) => touches(event),
            Message::ReadAgain => true,
        };
        if ours && !due.get_value() {
            due.set_value(true);
            let again = move || {
                if due.try_set_value(false).is_none() {
                    read.run.refetch();
                    read.steps.refetch();
                    read.step.refetch();
                }
            };
            set_timeout(again, GATHER);
        }
    });
}

fn missing(error: AppError) -> impl IntoView {
    if !error.is(Code::NotFound) {
        return view! { <Title text="Run · Step47"/><Refused error/> }.into_any();
    }
    say_not_found();
    view! {
        <Title text="No such run · Step47"/>
        <h1 class="hidden">"No such run"</h1>
        <Notice title="There is no such run">
            <p>"The id may be cut off, or the run belongs to another store."</p>
            <p><a class="button" href="/">"Show all runs"</a></p>
        </Notice>
    }
    .into_any()
}

fn found(run: AsOf<RunSheet>, read: Read, place: Memo<Place>) -> impl IntoView {
    let AsOf {
        event,
        value: sheet,
    } = run;
    let title = format!("{} · Step47", run_row::title(&sheet.run));
    let id = sheet.run.id.clone();
    let announced = sheet.announced.clone();
    let head = sheet.clone();
    let steps = move || {
        let step = read.last_step.or_last(id.as_str(), read.step.get()?);
        let chosen = step
            .ok()
            .and_then(|it| it.value)
            .map(|it| it.detail.step.seq);
        Some(
            match read.last_steps.or_last(id.as_str(), read.steps.get()?) {
                Ok(page) => {
                    if let Some(first) = page.value.steps.first() {
                        read.pin.hold_after(id.as_str(), first.seq - 1);
                    }
                    steps_view(page.value, &id, announced.clone(), &place.get(), chosen).into_any()
                }
                Err(error) => view! { <Refused error/> }.into_any(),
            },
        )
    };
    let id = sheet.run.id.clone();
    let inspector = move || {
        Some(match read.last_step.or_last(id.as_str(), read.step.get()?) {
            Ok(AsOf { value: Some(step), .. }) => {
                read.pin.hold_step(id.as_str(), step.detail.step.seq);
                let place = place.get();
                let tabs = Tab::ALL.map(|tab| Place { tab, ..place.clone() }.href(&id));
                view! { <Inspector step run=sheet.clone() tab=place.tab tabs/> }.into_any()
            }
            Ok(_) => view! {
                <Notice title="No step has begun"><p>"The first one appears here the moment the agent begins it."</p></Notice>
            }
            .into_any(),
            Err(error) => view! { <Refused error/> }.into_any(),
        })
    };
    view! {
        <Title text=title/>
        <Follow event/>
        <RunHead sheet=head/>
        <div class="run-columns">
            <section class="steps-column" aria-label="Steps">{steps}</section>
            <section class="inspector-column" aria-label="Selected step">{inspector}</section>
        </div>
    }
    .into_any()
}

fn steps_view(
    page: StepPage,
    id: &RunId,
    announced: Vec<crate::domain::run::Announced>,
    place: &Place,
    selected: Option<i64>,
) -> impl IntoView {
    let first = page.steps.first().map_or(1, |step| step.seq);
    let here = Place {
        after: Some(first - 1),
        ..place.clone()
    };
    let earlier = (first > 1).then(|| here.earlier().href(id));
    let later = page.next.map(|next| {
        Place {
            after: Some(next),
            ..here.clone()
        }
        .href(id)
    });
    let expected = if later.is_none() {
        announced
    } else {
        Vec::new()
    };
    let steps = page.steps.into_iter().map(|step| {
        let href = Place {
            step: Some(step.seq),
            ..here.clone()
        }
        .href(id);
        (step, href)
    });
    view! {
        {earlier.map(|href| view! { <a class="more-steps" href=href rel="prev">"↑ Earlier steps"</a> })}
        <StepList steps=steps.collect() announced=expected selected/>
        {later.map(|href| view! { <a class="more-steps" href=href rel="next">"↓ Later steps"</a> })}
    }
    .into_any()
}
