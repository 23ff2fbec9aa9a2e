//! `/runs/:id`: what happened in one sentence, the timeline, the steps, and one step in full.

mod ask;
mod extra;
mod held;
mod keys;
mod live;
mod notes;
mod pin;
mod place;
mod read;
mod steps;
mod verify;

use leptos::prelude::*;
use leptos_router::{
    NavigateOptions,
    hooks::{use_navigate, use_params_map, use_query_map},
};

use self::{
    ask::Asked, keys::RunKeys, notes::Notes, place::Place, read::Read, steps::StepsColumn,
    verify::VerifyRun,
};
use super::{
    deciding::Deciding,
    look::look,
    not_found::say_not_found,
    shell::{Page, Shell},
};
use crate::{
    api::AppError,
    components::{
        answer::Answer,
        frame::{Crumb, Here},
        inspector::{Inspector, Tab},
        not_undone::NotUndone,
        notice::{Notice, Refused},
        page_title::PageTitle,
        run_actions::{RunActions, StepActions},
        run_content::{ChildRuns, RunContent},
        run_head::RunHead,
        run_row,
        timeline::{Go, TimelineView},
    },
    domain::{Action, Code, DecisionKind, Problem, RunId, StepStatus, rules::offer::Standing},
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
    let place = Memo::new(move |_| query.with(Place::of));
    let read = Read::new(id, place);
    live::keep_current(id, place, read);
    let crumbs = Signal::derive(move || {
        let sheet = read.run.get().and_then(Result::ok);
        Crumb::to_run(sheet.map(|it| it.value.run.agent), &id.get(), None)
    });
    view! {
        <Page here=Here::BelowRuns crumbs>
            <main id="main" class="run-page" tabindex="-1">
                <Transition fallback=|| view! { <p class="loading" role="status">"Reading…"</p> }>
                    <Run id read place/>
                </Transition>
            </main>
        </Page>
    }
    .into_any()
}

/// The run, or why it cannot be shown; below `Transition`, where resources may be read.
#[component]
fn Run(id: Memo<String>, read: Read, place: Memo<Place>) -> impl IntoView {
    let found = Memo::new(move |_| {
        Some(match read.sheet_or_error(&id.get())? {
            Ok(sheet) => Found::Run(sheet.run.id),
            Err(error) => Found::Refused(error),
        })
    });
    move || {
        found.get().map(|found| match found {
            Found::Run(id) => view! { <RunBody id read place/> }.into_any(),
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
fn RunBody(id: RunId, read: Read, place: Memo<Place>) -> impl IntoView {
    let sheet = read.sheet(&id);
    let run = Memo::new(move |_| sheet.with(|it| it.as_ref().map(|it| it.run.clone())));
    let step = read.step(&id);
    let timeline = read.timeline(&id);
    let selected = Memo::new(move |_| step.with(|it| it.as_ref().map(|it| it.detail.step.seq)));
    // The list shows at once what was picked; the step itself is read meanwhile.
    let picked = Memo::new(move |_| {
        let chosen = place.with(|it| it.step.filter(|_| !it.follow));
        chosen.or_else(|| selected.get())
    });
    // The steps that were looked for, in order.
    let found = Memo::new(move |_| {
        let found = read.found.get().flatten()?.ok()?;
        let mut seqs: Vec<i64> = found.steps.iter().map(|it| it.seq).collect();
        seqs.sort_unstable();
        Some(seqs)
    });
    let beside = Callback::new(move |by: i64| {
        let at = picked.get()?;
        if let Some(seqs) = found.get() {
            return match by {
                1 => seqs.into_iter().find(|seq| *seq > at),
                _ => seqs.into_iter().rev().find(|seq| *seq < at),
            };
        }
        let last = run.with(|run| run.as_ref().map_or(0, |run| run.steps));
        Some(at + by).filter(|seq| (1..=last).contains(seq))
    });
    let listed = RwSignal::new(None::<(i64, i64)>);
    let title = move || {
        let name = run.with(|run| run.as_ref().map(run_row::title));
        format!("{} · Step47", name.unwrap_or_default())
    };
    let to = {
        let id = id.clone();
        move |place: &Place| place.href(&id)
    };
    let navigate = use_navigate();
    let go_to = Callback::new(move |(href, replace): (String, bool)| {
        let options = NavigateOptions {
            replace,
            scroll: false,
            ..NavigateOptions::default()
        };
        navigate(&href, options);
    });
    let gone = move |go: Go| place.with(|place| went(place, go));
    let href = {
        let to = to.clone();
        Callback::new(move |go: Go| to(&gone(go)))
    };
    // What is moved through by hand leaves one entry in the history, not hundreds.
    let on_go = Callback::new(move |go: Go| go_to.run((href.run(go), matches!(go, Go::Window(_)))));
    let step_href = Callback::new(move |seq: i64| href.run(Go::Step(seq)));
    let tab_href = {
        let to = to.clone();
        Callback::new(move |tab: Tab| {
            let step = selected.get();
            to(&place.with(|place| Place {
                tab,
                step: place.step.or(step),
                ..place.clone()
            }))
        })
    };
    let follow = {
        let to = to.clone();
        Callback::new(move |follow: bool| {
            to(&place.with(|it| Place {
                follow,
                step: None,
                row: None,
                ..it.clone()
            }))
        })
    };
    // Who scrolls up while following wants to read there.
    let stop_following = {
        let to = to.clone();
        Callback::new(move |()| {
            if place.with_untracked(|it| it.follow) {
                let stays = place.with_untracked(|it| Place {
                    follow: false,
                    step: selected.get_untracked(),
                    ..it.clone()
                });
                go_to.run((to(&stays), true));
            }
        })
    };
    let row_href = Callback::new(move |row: i64| {
        to(&place.with(|it| Place {
            row: Some(row),
            ..it.clone()
        }))
    });
    let shell = expect_context::<Shell>();
    let may = Memo::new(move |_| shell.may(Action::Decide));
    let asked_at = StoredValue::new(id.clone());
    let ask_href = Callback::new(move |kind: DecisionKind| {
        let step = selected.get();
        let place = place.with(|it| Place {
            step: it.step.or(step),
            ..it.plain()
        });
        asked_at.with_value(|id| match kind {
            DecisionKind::Edit => format!("/runs/{id}/edit"),
            // These two only choose in the plan.
            DecisionKind::Retry | DecisionKind::Commit => Place {
                choose: Some(kind),
                ..place.asking(Some(DecisionKind::Resume))
            }
            .href(id),
            kind => place.asking(Some(kind)).href(id),
        })
    });
    let skip_href = move || {
        let waits = step.with(|it| {
            it.as_ref()
                .is_some_and(|it| it.detail.step.status == StepStatus::Waiting)
        });
        match waits {
            true => ask_href.run(DecisionKind::Skip),
            false => asked_at.with_value(|id| {
                let step = selected.get();
                place.with(|it| {
                    Place {
                        step: it.step.or(step),
                        choose: Some(DecisionKind::Skip),
                        ..it.asking(Some(DecisionKind::Resume))
                    }
                    .href(id)
                })
            }),
        }
    };
    let standing = Memo::new(move |_| run.with(|run| run.as_ref().map(Standing::of)));
    let shown = Memo::new(move |_| {
        let it = step.with(|it| it.as_ref().map(|it| it.detail.step.clone()))?;
        Some((it.status, it.decided()))
    });
    let open = Memo::new(move |_| shown.get().filter(|(_, decided)| !decided).map(|it| it.0));
    let acts = move || {
        let (status, decided) = shown.get()?;
        let standing = standing.get()?;
        let helps = matches!(
            status,
            StepStatus::Crashed | StepStatus::Failed | StepStatus::Waiting
        );
        (helps && may.get()).then(|| {
            view! {
                <StepActions
                    standing
                    step=status
                    decided
                    edit=ask_href.run(DecisionKind::Edit)
                    retry=ask_href.run(DecisionKind::Retry)
                    skip=skip_href()
                />
            }
        })
    };
    let deciding = Deciding::new(move |_| read.one.refetch(), move || read.run.refetch());
    let gate = Memo::new(move |_| {
        let it = step.with(|it| it.as_ref().map(|it| it.detail.clone()))?;
        let waits = it.step.status == StepStatus::Waiting && may.get();
        it.gate.filter(|_| waits).map(|gate| (it.step.seq, gate))
    });
    let version = Signal::derive(move || run.with(|run| run.as_ref().map(|run| run.version)));
    let answer = move || {
        let (seq, gate) = gate.get()?;
        let on_decide = Callback::new(move |body| deciding.send(asked_at.get_value(), body));
        Some(view! {
            <section class="question" aria-label="Question">
                <Answer gate step=seq version id="step" busy=deciding.busy refused=deciding.refused on_decide/>
            </section>
        })
    };
    let tab = Signal::derive(move || place.with(|it| it.tab));
    let look = look(step_href);
    let is_live =
        Memo::new(move |_| run.with(|run| run.as_ref().is_some_and(|run| !run.status.over())));
    let following = Memo::new(move |_| place.with(|it| it.follow));
    let asking = Signal::derive(move || {
        let waits = run.with(|run| run.as_ref().is_some_and(|it| it.status.runnable()));
        read.asked.get().flatten().filter(|_| waits)
    });
    let nothing =
        Memo::new(move |_| run.with(|run| run.as_ref().is_some_and(|run| run.steps == 0)));
    let children = Signal::derive(move || {
        timeline
            .with(|it| it.as_ref().map(|it| it.children.clone()))
            .unwrap_or_default()
    });
    let verified = id.clone();
    let left = Signal::derive(move || {
        sheet
            .with(|it| it.as_ref().map(|it| it.after.not_undone.clone()))
            .unwrap_or_default()
    });
    let acknowledge = Signal::derive(move || {
        let kind = DecisionKind::Acknowledge;
        let fits = may.get() && standing.get().is_some_and(|it| it.offers(kind, None));
        fits.then(|| ask_href.run(kind))
    });
    view! {
        <PageTitle text=title/>
        {move || read.event().map(|event| view! { <Follow event/> })}
        <RunKeys id=id.clone() selected beside href=step_href tab=tab_href follow following ask=ask_href skip=Signal::derive(skip_href) standing open may/>
        <RunHead sheet asking>
            {move || (is_live.get() || following.get()).then(|| view! {
                <a class="button" href=move || follow.run(!following.get()) aria-pressed=move || following.get().to_string() role="button">
                    {move || if following.get() { "Following" } else { "Follow" }}<kbd>"F"</kbd>
                </a>
            })}
            <VerifyRun run=verified/>
            {move || may.get().then(|| view! { <RunActions standing selected href=ask_href/> })}
        </RunHead>
        <NotUndone left run=id.clone() acknowledge/>
        <Notes run read/>
        <RunContent sheet/>
        <ChildRuns runs=children/>
        <Asked id=id.clone() place read run selected/>
        <TimelineView timeline run selected listed href on_go/>
        <div class="run-columns">
            <section class="steps-column" aria-label="Steps">
                <StepsColumn id=id.clone() read place sheet selected=picked listed step_href row_href on_up=stop_following/>
            </section>
            <section class="inspector-column" aria-label="Selected step">
                {move || read.step_error().map(|error| view! { <Refused error/> })}
                {move || nothing.get().then(|| view! {
                    <Notice title="No step has begun"><p>"The first one appears here the moment the agent begins it."</p></Notice>
                })}
                {move || selected.get().is_some().then(|| view! {
                    <Inspector step run=sheet tab extra=read.extra() href=tab_href acts above=answer look/>
                })}
            </section>
        </div>
    }
    .into_any()
}

/// Where `go` leads from `place`.
fn went(place: &Place, go: Go) -> Place {
    match go {
        Go::Axis(axis) => Place {
            axis,
            window: None,
            ..place.clone()
        },
        Go::Window(window) => place.with_window(window),
        Go::Fold(fold) => Place {
            fold: Some(fold),
            ..place.clone()
        },
        Go::Step(seq) => place.at_step(seq),
    }
}
