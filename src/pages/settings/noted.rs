//! A head of the events or of the audit trail that was noted down elsewhere, compared with its chain as it is now.

use leptos::{ev, prelude::*};

use crate::{
    api::{self, AppError},
    domain::nouns::noted::{Chain, Compared, Noted},
};

#[component]
pub fn CompareHead(chain: Chain) -> impl IntoView {
    let (label, verb, compared) = match chain {
        Chain::Events => (
            "Event head you saved earlier",
            "Compare event head",
            "compared-event",
        ),
        Chain::Audit => (
            "Audit head you saved earlier",
            "Compare audit head",
            "compared-audit",
        ),
    };
    let text = RwSignal::new(String::new());
    let wrong = RwSignal::new(None::<&'static str>);
    let compare =
        Action::new(move |noted: &String| api::integrity::compare_head(chain, noted.clone()));
    let submit = move |event: ev::SubmitEvent| {
        event.prevent_default();
        let noted = text.get_untracked();
        match noted.parse::<Noted>() {
            Err(why) => wrong.set(Some(why)),
            Ok(_) => {
                wrong.set(None);
                compare.dispatch(noted);
            }
        }
    };
    let answer = move || match (wrong.get(), compare.pending().get()) {
        (Some(why), _) => Some(view! { <p class="tone-crashed">{why}</p> }.into_any()),
        (None, true) => Some(view! { <p class="dim">"Comparing…"</p> }.into_any()),
        (None, false) => compare.value().get().map(|it| said(chain, it)),
    };
    view! {
        <form class="compare-head" on:submit=submit>
            <label class="field">
                {label}
                <input type="text" class="input mono" name="head" autocomplete="off" spellcheck="false" placeholder="NUMBER:HASH or HASH"
                    aria-describedby=compared prop:value=move || text.get() on:input=move |event| text.set(event_target_value(&event))/>
            </label>
            <button type="submit" class="button">{verb}</button>
            <div id=compared role="status">{answer}</div>
        </form>
    }
    .into_any()
}

fn said(chain: Chain, answer: Result<Compared, AppError>) -> AnyView {
    match answer {
        Ok(compared) => {
            let tone = match compared.good() {
                true => "tone-committed",
                false => "tone-crashed",
            };
            view! { <p class=tone>{compared.in_words(chain)}</p> }.into_any()
        }
        Err(error) => view! { <p class="tone-crashed">{error.0.detail}</p> }.into_any(),
    }
}
