//! What is asked above a run's page: the resume plan, rewind and fork with their plan, and plain decisions.

use leptos::prelude::*;
use leptos_router::{NavigateOptions, hooks::use_navigate};

use super::{Place, read::Read};
use crate::{
    api,
    components::{
        branch::BranchSheet,
        decide_sheet::{DecideSheet, said},
        dialog::Dialog,
        notice::Refused,
        toast::Toasts,
    },
    domain::{
        DecisionKind, Run, RunId,
        rules::plan::PlanQuery,
        wire::protocol::{Decide, DecideAnswer},
    },
    pages::{deciding::Deciding, resume::ResumeSheet},
};

#[component]
pub fn Asked(
    id: RunId,
    place: Memo<Place>,
    read: Read,
    run: Memo<Option<Run>>,
    selected: Memo<Option<i64>>,
) -> impl IntoView {
    let ask = Memo::new(move |_| place.with(|it| (it.ask, it.choose)));
    let agent = Memo::new(move |_| run.with(|run| run.as_ref().map(|run| run.agent.clone())));
    let id = StoredValue::new(id);
    let back = move || place.with_untracked(|it| it.plain().href(&id.get_value()));
    let navigate = use_navigate();
    let go = Callback::new(move |href: String| {
        let options = NavigateOptions {
            scroll: false,
            ..NavigateOptions::default()
        };
        navigate(&href, options);
    });
    let toasts = expect_context::<Toasts>();
    let done = move |answer: DecideAnswer| {
        read.run.refetch();
        read.decided.refetch();
        match answer.decision.new_run {
            Some(fork) => {
                toasts.say(format!("Forked: {}", fork.short()));
                go.run(format!("/runs/{fork}"));
            }
            None => {
                toasts.say(said(answer.decision.kind));
                go.run(back());
            }
        }
    };
    move || {
        let (ask, choose) = ask.get();
        let back = back();
        Some(match ask? {
            DecisionKind::Resume => {
                let agent = agent.get_untracked()?;
                view! {
                    <Dialog class="over-page" labelled="plan-title" back=back.clone()>
                        <ResumeSheet id=id.get_value() agent choose back/>
                    </Dialog>
                }
                .into_any()
            }
            kind @ (DecisionKind::Rewind | DecisionKind::Fork) => {
                let step = selected.get_untracked()?;
                view! {
                    <Dialog class="over-page" labelled="plan-title" back=back.clone()>
                        <Branch kind id=id.get_value() step back done=Callback::new(done)/>
                    </Dialog>
                }
                .into_any()
            }
            DecisionKind::Retry
            | DecisionKind::Commit
            | DecisionKind::Edit
            | DecisionKind::Approve
            | DecisionKind::Reject
            | DecisionKind::Answer => return None,
            kind => {
                let deciding = Deciding::new(done, move || read.run.refetch());
                let step = selected
                    .get_untracked()
                    .filter(|_| kind == DecisionKind::Skip);
                let on_decide = Callback::new(move |body: Decide| {
                    deciding.send(id.get_value(), Decide { step, ..body });
                });
                view! {
                    <DecideSheet kind run back busy=deciding.busy refused=deciding.refused on_decide/>
                }
                .into_any()
            }
        })
    }
}

/// A rewind or fork, with its plan.
#[component]
fn Branch(
    kind: DecisionKind,
    id: RunId,
    step: i64,
    back: String,
    done: Callback<DecideAnswer>,
) -> impl IntoView {
    let query = PlanQuery {
        rewind: (kind == DecisionKind::Rewind).then_some(step),
        fork: (kind == DecisionKind::Fork).then_some(step),
        ..PlanQuery::default()
    };
    let run = StoredValue::new(id);
    let plan = Resource::new_blocking(
        move || query.clone(),
        move |query| api::plan::read(run.get_value(), query),
    );
    let deciding = Deciding::new(move |answer| done.run(answer), move || plan.refetch());
    let on_decide = Callback::new(move |body| deciding.send(run.get_value(), body));
    let body = move || {
        Some(match plan.get()? {
            Err(error) => view! { <Refused error/> }.into_any(),
            Ok(answer) => view! {
                <BranchSheet kind step plan=answer.value back=back.clone() busy=deciding.busy refused=deciding.refused on_decide/>
            }
            .into_any(),
        })
    };
    view! {
        <Transition fallback=|| view! { <p class="loading" role="status">"Reading the plan…"</p> }>{body}</Transition>
    }
    .into_any()
}
