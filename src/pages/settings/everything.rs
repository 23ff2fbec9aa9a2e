//! The button that has everything verified, how far that is, and what it found: also for who comes later.

use std::time::Duration;

use leptos::prelude::*;

use crate::{
    api::{self, AppError},
    components::{browser::every, time::Moment, verification::found},
    domain::{Action as Doing, nouns::integrity::Verifying, views::words},
    pages::shell::Shell,
};

/// While it goes on, it is looked at this often.
const LOOK_EVERY: Duration = Duration::from_millis(500);

type Answer = Result<Option<Verifying>, AppError>;

/// Stands below `Transition`, where resources may be read.
#[component]
pub fn VerifyEverything() -> impl IntoView {
    let shell = expect_context::<Shell>();
    let may = Memo::new(move |_| shell.may(Doing::Decide));
    let read = Resource::new_blocking(|| (), |()| api::integrity::verifying());
    let begin = Action::new(|(): &()| api::integrity::verify_everything());
    // The button's answer is shown until the next look at how far the verification is.
    let newest = RwSignal::new(None::<Answer>);
    Effect::new(move || newest.set(begin.value().get()));
    Effect::new(move || newest.set(read.get()));
    let under =
        Memo::new(move |_| newest.with(|it| matches!(it, Some(Ok(Some(Verifying::Under { .. }))))));
    Effect::new(move || {
        if !under.get() {
            return;
        }
        every(LOOK_EVERY, move || read.refetch());
    });
    let said = move || newest.get().or_else(|| read.get()).map(said);
    let disabled = move || under.get() || begin.pending().get();
    view! {
        <div class="verification">
            <Show when=move || may.get()>
                <button type="button" class="button" disabled=disabled on:click=move |_| { begin.dispatch(()); }>
                    "Verify everything"
                </button>
            </Show>
            <div role="status" class="verification-said">{said}</div>
        </div>
    }
    .into_any()
}

fn said(answer: Answer) -> AnyView {
    match answer {
        Ok(None) => ().into_any(),
        Ok(Some(Verifying::Under { done, of })) => view! {
            <progress max=of.max(1).to_string() value=done.to_string() aria-label="Verified so far"></progress>
            <span class="dim">{format!("{} of {}", words::number(done), words::number(of))}</span>
        }
        .into_any(),
        Ok(Some(Verifying::Over { at, found: it })) => {
            let at = at.map(|at| view! { <span class="dim"><Moment at/></span>" " });
            view! { {at}{found(it)} }.into_any()
        }
        Ok(Some(Verifying::Failed { why })) => {
            view! { <span class="tone-failed">{why}</span> }.into_any()
        }
        Err(error) => view! { <span class="tone-failed">{error.0.detail}</span> }.into_any(),
    }
}
