//! Runs for the palette: read as someone types, when the typing pauses.

use std::time::Duration;

use leptos::{leptos_dom::helpers::set_timeout, prelude::*, task::spawn_local};

use crate::{
    api,
    domain::{Run, RunQuery},
};

/// Typing has paused when no key came for this long.
const PAUSE: Duration = Duration::from_millis(120);
const MOST: i64 = 8;

/// What to call with the text, and the runs that fit the last one.
pub fn finder() -> (Callback<String>, Signal<Vec<Run>>) {
    let found = RwSignal::new(Vec::new());
    let wanted = StoredValue::new(String::new());
    let look = Callback::new(move |text: String| {
        let text = text.trim().to_owned();
        wanted.set_value(text.clone());
        if text.is_empty() {
            return found.set(Vec::new());
        }
        let still = move |text: &str| wanted.try_with_value(|it| it == text) == Some(true);
        set_timeout(
            move || {
                if !still(&text) {
                    return;
                }
                spawn_local(async move {
                    let query = RunQuery {
                        limit: MOST,
                        ..RunQuery::default().search(&text)
                    };
                    // A failed read leaves the palette as it is: the next letter reads again.
                    let runs = api::runs::list(query).await.map(|page| page.value.runs);
                    if still(&text) {
                        found.try_set(runs.unwrap_or_default());
                    }
                });
            },
            PAUSE,
        );
    });
    (look, found.into())
}
