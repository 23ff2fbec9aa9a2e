//! What is asked above a run's page: the resume plan, rewind and fork with their plan, and plain decisions.

use leptos::prelude::*;
use leptos_router::{NavigateOptions, hooks::use_navigate};

use super::{RunUrl, read::Read};
use crate::{
    components::{
        decide_sheet::{DecideSheet, said},
        dialog::Dialog,
        renewed::LivePlan,
        rewind_fork::RewindForkSheet,
        toast::Toasts,
    },
    domain::{
        DecisionKind, Run, RunId,
        views::sheet::RunSheet,
        wire::protocol::{Decide, DecideAnswer},
    },
    pages::{
        deciding::Deciding,
        open_plan::{OpenPlan, WithPlan},
        resume::ResumeSheet,
    },
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
                let path = format!("/runs/{fork}");
                toasts.say_at(&path, format!("Forked: {}", fork.short()));
                go.run(path);
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
                        <ResumeSheet id=id.get_value() plan=read.plan agent choose back/>
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
                        <Branch kind id=id.get_value() agent plan=read.plan back done=Callback::new(done)/>
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
    plan: OpenPlan,
    back: String,
    done: Callback<DecideAnswer>,
) -> impl IntoView {
    let run = StoredValue::new(id);
    let deciding = Deciding::new(move |answer| done.run(answer), move || plan.refetch());
    let on_decide = Callback::new(move |body| deciding.send(run.get_value(), body));
    // From before this step, or from the end of a run that has none.
    let show = Callback::new(move |(step, plan): (Option<i64>, LivePlan)| {
        view! {
            <RewindForkSheet kind step agent=agent.clone() plan back=back.clone() busy=deciding.busy refused=deciding.refused on_decide/>
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
