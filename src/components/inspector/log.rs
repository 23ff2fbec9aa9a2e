//! A step's log, line by line as it comes; the newest stays in view while its end is looked at.

use leptos::{html, prelude::*};

use crate::{
    components::time::At,
    domain::{LogLine, views::sheet::StepSheet},
};

/// Closer to the end than this is at the end.
const NEAR: i32 = 40;

#[component]
pub fn Log(step: Signal<Option<StepSheet>>) -> impl IntoView {
    let lines = Memo::new(move |_| {
        step.with(|step| step.as_ref().map_or(Vec::new(), |it| it.detail.log.clone()))
    });
    let place = NodeRef::<html::Ol>::new();
    let at_end = StoredValue::new(true);
    let scrolled = move |_| {
        if let Some(list) = place.get_untracked() {
            let left = list.scroll_height() - list.scroll_top() - list.client_height();
            at_end.set_value(left < NEAR);
        }
    };
    Effect::new(move || {
        lines.track();
        if let Some(list) = place.get()
            && at_end.get_value()
        {
            list.set_scroll_top(list.scroll_height());
        }
    });
    let line = |(_, line): (usize, LogLine)| {
        view! {
            <li><At at=line.at/><b><bdi>{line.level}</bdi></b><bdi>{line.message}</bdi></li>
        }
    };
    let key = |(index, line): &(usize, LogLine)| (line.attempt, line.at, *index);
    let empty = move || lines.with(Vec::is_empty);
    view! {
        {move || empty().then(|| view! { <p class="dim">"No log lines."</p> })}
        <ol class="log" node_ref=place on:scroll=scrolled tabindex="0" aria-label="Log, oldest first">
            <For each=move || lines.get().into_iter().enumerate() key children=line/>
        </ol>
    }
    .into_any()
}
