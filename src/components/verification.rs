//! A button that has stored data verified, and what was found: it says what was read, and claims no more.

use leptos::prelude::*;

use super::{
    copy_hash::CopyHash,
    glyph::{Glyph, Shape},
};
use crate::{
    api::AppError,
    domain::{
        nouns::integrity::{Damage, Verified},
        views::words,
    },
};

/// Damages that are listed; the command line names all.
const LISTED: usize = 8;

#[component]
pub fn Verification(
    /// What the button says.
    label: &'static str,
    on_verify: Callback<()>,
    #[prop(into)] pending: Signal<bool>,
    #[prop(into)] answer: Signal<Option<Result<Verified, AppError>>>,
) -> impl IntoView {
    let said = move || match (pending.get(), answer.get()) {
        (true, _) => Some(view! { <span class="dim">"Verifying…"</span> }.into_any()),
        (false, None) => None,
        (false, Some(Err(error))) => {
            Some(view! { <span class="tone-failed">{error.0.detail}</span> }.into_any())
        }
        (false, Some(Ok(verified))) => Some(found(verified)),
    };
    view! {
        <div class="verification">
            <button type="button" class="button" data-command="" disabled=pending on:click=move |_| on_verify.run(())>{label}</button>
            <div role="status" class="verification-said">{said}</div>
        </div>
    }
    .into_any()
}

/// What a verification found.
pub fn found(verified: Verified) -> AnyView {
    let title = verified.head.to_string();
    let words = verified.in_words();
    if verified.good() {
        let looked = format!(
            "{} events, {} steps, {} states",
            words::number(verified.checked.events),
            words::number(verified.checked.steps),
            words::number(verified.checked.snapshots)
        );
        let hash = title.clone();
        return view! { <span title=title>{words}</span>" "<CopyHash hash/>" "<span class="dim">{looked}</span> }
            .into_any();
    }
    let rest = verified.damages.len().saturating_sub(LISTED);
    let places = verified.damages.into_iter().take(LISTED).map(place);
    view! {
        <p class="tone-failed verification-damaged"><Glyph shape=Shape::Damaged/><b>{words}</b></p>
        <ul class="verification-places">{places.collect_view()}</ul>
        {(rest > 0).then(|| view! { <p class="dim">"and "{rest}" more: step47 verify names them all"</p> })}
    }
    .into_any()
}

fn place(damage: Damage) -> impl IntoView {
    let run = damage.run.clone().map(|run| {
        let href = format!("/runs/{run}");
        view! { <a href=href><bdi>{run.to_string()}</bdi></a>", " }
    });
    let good = damage.last_good.map(|n| format!(" Last good: {n}."));
    view! { <li>{run}<b>{damage.place}</b>": "<bdi>{damage.why}</bdi>"."{good}</li> }
}
