//! The button that has this run verified.

use leptos::prelude::*;

use crate::{api, components::verification::Verification, domain::RunId};

#[component]
pub fn VerifyRun(run: RunId) -> impl IntoView {
    let verify = Action::new(move |(): &()| api::integrity::verify(run.clone()));
    let on_verify = Callback::new(move |()| {
        verify.dispatch(());
    });
    view! { <Verification label="Verify" on_verify pending=verify.pending() answer=verify.value()/> }
}
