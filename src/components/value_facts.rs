//! One value of a state: where it stands, how large it is, who wrote it, and buttons that copy it.

use leptos::prelude::*;

use super::{
    clipboard,
    look::{Answer, Look, Stand},
    time::Moment,
    toast::Toasts,
};
use crate::domain::views::{
    blame::{Blame, Write},
    words,
};

/// Copies if the browser lets this page, and says what came of it.
fn copy(toasts: Toasts, what: &'static str, text: &str) {
    let copied = move || toasts.say(format!("Copied {what}"));
    clipboard::copy(toasts, what, text, copied);
}

/// `stand` is the state that holds it, `path` where it stands there.
pub fn value_facts(stand: Stand, path: String, bytes: i64, look: Look) -> AnyView {
    let toasts = expect_context::<Toasts>();
    let value: Answer<String> = RwSignal::new(None);
    let history: Answer<Blame> = RwSignal::new(None);
    Effect::new(move || match value.get() {
        Some(Ok(text)) => copy(toasts, "the value", &text),
        Some(Err(error)) => toasts.say(error.0.detail),
        None => {}
    });
    // Who wrote it is what most people open this for.
    look.blame.run((stand.clone(), path.clone(), history));
    let shown = if path.is_empty() {
        "the whole state".to_owned()
    } else {
        path.clone()
    };
    let copy_path = {
        let path = path.clone();
        move |_| copy(toasts, "the path", &path)
    };
    let copy_value = move |_| look.value.run((stand.clone(), path.clone(), value));
    let writes = move || {
        history.get().map(|answer| match answer {
            Ok(blame) => writes(blame, look),
            Err(error) => view! { <p class="dim">{error.0.detail}</p> }.into_any(),
        })
    };
    let reading = move || history.get().is_none();
    view! {
        <div class="value-facts" role="group" aria-label="This value">
            <p class="value-place">
                <code><bdi>{shown}</bdi></code>" "<span class="dim">{words::size(bytes)}</span>
                <button type="button" class="button" on:click=copy_path>"Copy path"</button>
                <button type="button" class="button" on:click=copy_value>"Copy value"</button>
            </p>
            <div aria-live="polite">
                {move || reading().then(|| view! { <p class="dim">"Finding who wrote it…"</p> })}
                {writes}
            </div>
        </div>
    }
    .into_any()
}

fn writes(blame: Blame, look: Look) -> AnyView {
    let line = move |(i, write): (usize, Write)| {
        let initial = write.seq.is_none() && write.snapshot == 0;
        let by = match (write.seq, write.name) {
            (Some(seq), name) => {
                let name = name.unwrap_or_default();
                let text = format!("step {} · {name}", words::number(seq));
                view! { <a href=look.step.run(seq)><bdi>{text}</bdi></a> }.into_any()
            }
            (None, _) if initial => view! { <span>"the initial state"</span> }.into_any(),
            (None, _) if write.by_hand => view! { <span>"an edit by hand"</span> }.into_any(),
            (None, _) => view! { <span>"a checkpoint between steps"</span> }.into_any(),
        };
        let said = match (i, initial) {
            (0, true) => "Part of ",
            (0, false) => "Written by ",
            (_, true) => "before that, part of ",
            (_, false) => "before that, by ",
        };
        view! {
            <li>
                {said}{by}", "<Moment at=write.at/>", snapshot "{words::number(write.snapshot)}": "
                <code class="blame-value"><bdi>{write.value.text}</bdi></code>
            </li>
        }
    };
    let unread = blame.unread.map(|n| {
        let text = format!(
            "Values before snapshot {} were not searched.",
            words::number(n)
        );
        view! { <p class="dim">{text}</p> }
    });
    view! {
        <ol class="blame">{blame.writes.into_iter().enumerate().map(line).collect_view()}</ol>
        {unread}
    }
    .into_any()
}
