//! Selects every run that the list's query finds, also those that are not on the screen.

use leptos::{prelude::*, task::spawn_local};

use crate::{
    api,
    components::{
        selection::{PICKED_MAX, Selection},
        toast::Toasts,
    },
    domain::{RunQuery, views::words},
};

/// Runs that are read at once.
const PAGE: i64 = 200;

#[component]
pub fn SelectMatching(
    query: RunQuery,
    /// How many there are, if that is known.
    size: Option<i64>,
    selection: Selection,
) -> impl IntoView {
    let toasts = expect_context::<Toasts>();
    let reading = RwSignal::new(false);
    let name = match size {
        Some(n) => format!("Select all {}", words::count(n)),
        None => "Select all that match".to_owned(),
    };
    let query = StoredValue::new(query);
    let select = move |_| {
        reading.set(true);
        spawn_local(async move {
            let read = select_all(query.get_value(), selection).await;
            // The list may be gone by now.
            if reading.try_set(false).is_none() {
                match read {
                    Err(why) => toasts.say(format!("Not all runs could be read: {why}")),
                    Ok(true) => {}
                    Ok(false) => toasts.say(format!(
                        "{PICKED_MAX} are selected, which is the most at once"
                    )),
                }
            }
        });
    };
    view! {
        <button type="button" class="button" disabled=move || reading.get() on:click=select>{name}</button>
    }
    .into_any()
}

/// Whether all fitted.
async fn select_all(query: RunQuery, selection: Selection) -> Result<bool, String> {
    let mut cursor = None;
    loop {
        let asked = RunQuery {
            limit: PAGE,
            cursor,
            ..query.clone()
        };
        let page = api::runs::list(asked).await.map_err(|it| it.0.detail)?;
        if !selection.pick_all(&page.value.runs) {
            return Ok(false);
        }
        cursor = page.value.next;
        if cursor.is_none() {
            return Ok(true);
        }
    }
}
