//! Whether anyone asks for a run that waits for a worker, in a sentence.

use leptos::prelude::*;

use super::time::{Clock, Zone};
use crate::domain::{nouns::worker::Asking, views::words};

#[component]
pub fn AskingWords(agent: String, asking: Asking) -> impl IntoView {
    let (now, zone) = (Clock::now(), Zone::of_reader());
    let words = Memo::new(move |_| {
        let offset = asking.last.map_or(0, |last| zone.offset(last));
        words::asking(&agent, asking, now.get(), offset)
    });
    view! { <bdi>{words}</bdi> }.into_any()
}
