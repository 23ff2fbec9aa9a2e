//! The buttons in the head of a run's page: follow, verify, and what may be decided about the run.

use leptos::prelude::*;

use super::{links::Links, run_url::RunUrl, selected_step::Offers};
use crate::{
    api,
    components::{run_actions::RunActions, verification::Verification},
    domain::{Run, RunId},
};

#[component]
pub fn RunButtons(
    url: Memo<RunUrl>,
    links: Links,
    offers: Offers,
    run: Memo<Option<Run>>,
) -> impl IntoView {
    let Offers { may, standing, .. } = offers;
    let is_live =
        Memo::new(move |_| run.with(|run| run.as_ref().is_some_and(|run| !run.status.over())));
    let following = Memo::new(move |_| url.with(|it| it.follow));
    let ask = Callback::new(move |kind| links.ask(kind));
    let step = Signal::derive(move || offers.status());
    view! {
        {move || (is_live.get() || following.get()).then(|| view! {
            <a class="button" href=move || links.follow(!following.get()) aria-pressed=move || following.get().to_string() role="button">
                {move || if following.get() { "Following" } else { "Follow" }}<kbd>"F"</kbd>
            </a>
        })}
        <VerifyRun run=links.run()/>
        {move || may.get().then(|| view! { <RunActions standing step href=ask/> })}
    }
    .into_any()
}

#[component]
fn VerifyRun(run: RunId) -> impl IntoView {
    let verify = Action::new(move |(): &()| api::integrity::verify(run.clone()));
    let on_verify = Callback::new(move |()| {
        verify.dispatch(());
    });
    view! { <Verification label="Verify" on_verify pending=verify.pending() answer=verify.value()/> }
}
