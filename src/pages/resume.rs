//! `/runs/:id/resume`: the resume plan as a page; the run's own page shows the same above itself.

use leptos::{prelude::*, task::spawn_local};
use leptos_router::{
    NavigateOptions,
    hooks::{use_navigate, use_params_map, use_query_map},
};

use super::{
    deciding::Deciding,
    open_plan::{Asks, OpenPlan, WithPlan},
    run::{missing, run_id},
    shell::{Page, Shell},
};
use crate::{
    api,
    components::{
        page_title::PageTitle,
        plan::{Elsewhere, PlanView, Said, StandsThere},
        renewed::LivePlan,
        run_row,
        toast::Toasts,
        top_bar::{Crumb, Here},
    },
    domain::{Action, DecisionKind, RunId},
    live::{Follow, Live},
};

#[component]
pub fn ResumePage() -> impl IntoView {
    let params = use_params_map();
    let query = use_query_map();
    let id = Memo::new(move |_| params.with(|it| it.get("id").unwrap_or_default()));
    let live = expect_context::<Live>();
    Effect::new(move || live.watch(id.with(|id| id.parse().ok())));
    let asks = Memo::new(move |_| {
        Some(Asks {
            run: id.get(),
            kind: DecisionKind::Resume,
            step: None,
        })
    });
    let plan = OpenPlan::new(asks, |_| None);
    let run = Resource::new_blocking(
        move || id.get(),
        |id| async move { api::runs::one(run_id(&id)?).await },
    );
    let choose = move || query.with(|it| it.get_str("choose").and_then(|it| it.parse().ok()));
    let crumbs = Signal::derive(move || {
        let sheet = run.get().and_then(Result::ok);
        Crumb::to_run(
            sheet.map(|it| it.value.run.agent),
            &id.get(),
            Some("Resume"),
        )
    });
    let body = move || {
        plan.wait_for();
        Some(match run.get()? {
            Err(error) => missing(error).into_any(),
            Ok(answer) => {
                let it = answer.value.run;
                let title = format!("Resume {} · Step47", run_row::title(&it));
                let back = format!("/runs/{}", it.id);
                view! {
                    <PageTitle text=title/>
                    <Follow event=answer.event/>
                    <h1 class="hidden">"Resume "<bdi>{run_row::title(&it)}</bdi></h1>
                    <ResumeSheet id=it.id plan agent=it.agent choose=choose() back/>
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

/// The plan of one run, and what carries it out.
#[component]
pub fn ResumeSheet(
    id: RunId,
    plan: OpenPlan,
    agent: String,
    #[prop(optional_no_strip)] choose: Option<DecisionKind>,
    back: String,
) -> impl IntoView {
    let shell = expect_context::<Shell>();
    let toasts = expect_context::<Toasts>();
    let navigate = use_navigate();
    let home = format!("/runs/{id}");
    let (leave, after) = (back.clone(), home.clone());
    let deciding = Deciding::new(
        move |_| {
            toasts.say_at(&after, "Resumed. Queued: waiting for a worker");
            let options = NavigateOptions {
                scroll: false,
                ..NavigateOptions::default()
            };
            navigate(&leave, options);
        },
        move || plan.refetch(),
    );
    let elsewhere = Elsewhere {
        back,
        edit: format!("{home}/edit"),
        rewind: format!("{home}?ask=rewind"),
        fork: format!("{home}?ask=fork"),
    };
    let reason = RwSignal::new(String::new());
    let run = StoredValue::new(id);
    let stands = stands_there(run);
    let on_resume = Callback::new(move |body| deciding.send(run.get_value(), body));
    let show = Callback::new(move |(_, plan): (Option<i64>, LivePlan)| {
        let may = shell.may(Action::Decide);
        view! {
            <PlanView plan agent=agent.clone() choose elsewhere=elsewhere.clone() stands may reason
                busy=deciding.busy refused=deciding.refused on_resume/>
        }
        .into_any()
    });
    view! {
        <Transition fallback=|| view! { <p class="loading" role="status">"Loading the plan…"</p> }>
            <WithPlan plan sent=deciding.sent() show/>
        </Transition>
    }
    .into_any()
}

/// Reads one value of the current state for the plan.
fn stands_there(run: StoredValue<RunId>) -> StandsThere {
    let said = RwSignal::new(None);
    let ask = Callback::new(move |path: String| {
        let run = run.get_value();
        spawn_local(async move {
            let read = api::snapshots::to_edit(run, path.clone()).await;
            let value = read.map(|sheet| sheet.value.text);
            // The plan may be closed by now.
            said.try_set(Some(Said { path, value }));
        });
    });
    StandsThere { ask, said }
}
