//! What is asked above a run's page: the resume plan, rewind and fork with their plan, and plain decisions.

use leptos::prelude::*;
use leptos_router::{NavigateOptions, hooks::use_navigate};

use super::{RunUrl, read::Read};
use crate::{
    api,
    components::{
        decide_sheet::{DecideSheet, said},
        dialog::Dialog,
        notice::Refused,
        rewind_fork::RewindForkSheet,
        toast::Toasts,
    },
    domain::{
        DecisionKind, Run, RunId,
        rules::plan::PlanQuery,
        views::sheet::RunSheet,
        wire::protocol::{Decide, DecideAnswer},
    },
    pages::{deciding::Deciding, resume::ResumeSheet},
};

#[component]
pub fn Asked(
    id: RunId,
    url: Memo<RunUrl>,
    read: Read,
    sheet: Memo<Option<RunSheet>>,
    run: Memo<Option<Run>>,
    selected: Memo<Option<i64>>,
    /// What the selected step asks, where yes or no is an answer.
    question: Memo<Option<String>>,
) -> impl IntoView {
    let ask = Memo::new(move |_| url.with(|it| (it.ask, it.choose)));
    // The question stays while its answer is under way: by then the step no longer waits.
    let asks = Memo::new(move |before: Option<&(Option<i64>, Option<String>)>| {
        let at = selected.get();
        let known = before.filter(|it| it.0 == at).and_then(|it| it.1.clone());
        (at, question.get().or(known))
    });
    let agent = Memo::new(move |_| run.with(|run| run.as_ref().map(|run| run.agent.clone())));
    let id = StoredValue::new(id);
    let back = move || url.with_untracked(|it| it.plain().href(&id.get_value()));
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
        match &answer.decision.new_run {
            Some(fork) => {
                toasts.say(format!("Forked: {}", fork.short()));
                go.run(format!("/runs/{fork}"));
            }
            None => {
                toasts.say(said(&answer));
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
                // A run without a step is forked from its end, which is its beginning.
                let begun = run.with_untracked(|run| run.as_ref().is_none_or(|it| it.steps > 0));
                let step = selected.get_untracked();
                if step.is_none() && (begun || kind == DecisionKind::Rewind) {
                    return Some(
                        view! {
                            <Dialog title="No step is selected" back=back.clone()>
                                <p class="sheet-text">"Select a step first: the run goes back to before it."</p>
                                <div class="sheet-foot"><a class="button" href=back>"Back"</a></div>
                            </Dialog>
                        }
                        .into_any(),
                    );
                }
                let agent = agent.get_untracked()?;
                view! {
                    <Dialog class="over-page" labelled="plan-title" back=back.clone()>
                        <Branch kind id=id.get_value() agent step back done=Callback::new(done)/>
                    </Dialog>
                }
                .into_any()
            }
            DecisionKind::Retry
            | DecisionKind::Commit
            | DecisionKind::Edit
            | DecisionKind::Answer => return None,
            kind => {
                let answers = matches!(kind, DecisionKind::Approve | DecisionKind::Reject);
                let asks = match answers {
                    true => Some(asks.get().1?),
                    false => None,
                };
                let effects = Signal::derive(move || {
                    sheet
                        .with(|it| it.as_ref().map(|it| it.after.unknown.clone()))
                        .unwrap_or_default()
                });
                let deciding = Deciding::new(done, move || read.run.refetch());
                let step = selected
                    .get_untracked()
                    .filter(|_| answers || kind == DecisionKind::Skip);
                let on_decide = Callback::new(move |body: Decide| {
                    deciding.send(id.get_value(), Decide { step, ..body });
                });
                view! {
                    <DecideSheet kind run effects asks back busy=deciding.busy refused=deciding.refused on_decide/>
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
    agent: String,
    /// From before this step, or from the end of a run that has none.
    step: Option<i64>,
    back: String,
    done: Callback<DecideAnswer>,
) -> impl IntoView {
    let query = PlanQuery {
        rewind: step.filter(|_| kind == DecisionKind::Rewind),
        fork: (kind == DecisionKind::Fork).then_some(step.unwrap_or(1)),
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
                <RewindForkSheet kind step agent=agent.clone() plan=answer.value back=back.clone() busy=deciding.busy refused=deciding.refused on_decide/>
            }
            .into_any(),
        })
    };
    view! {
        <Transition fallback=|| view! { <p class="loading" role="status">"Loading the plan…"</p> }>{body}</Transition>
    }
    .into_any()
}
