//! The list goes on where it ended: older runs come below what is read, when the reader gets there or asks.

use leptos::{ev, html, prelude::*, task::spawn_local};

use super::{
    filter::Filter,
    spot::{self, Spot, Spots},
};
use crate::{
    api,
    components::browser::OrSay as _,
    domain::{Run, RunQuery},
};

/// Older runs are fetched when the end of the list is this near, in pixels.
const NEAR: f64 = 600.0;
/// Pages that come by themselves; then the reader asks, so that the end of the page can be reached.
const BY_ITSELF: usize = 20;

#[derive(Clone, Copy)]
pub struct Older {
    query: StoredValue<RunQuery>,
    next: RwSignal<Option<String>>,
    runs: RwSignal<Vec<Run>>,
    pages: RwSignal<usize>,
    reading: RwSignal<bool>,
    failed: RwSignal<bool>,
    /// Where "back" leads to in this list.
    spot: StoredValue<Option<Spot>>,
}

impl Older {
    pub fn new(query: RunQuery, next: Option<String>) -> Self {
        Self {
            query: StoredValue::new(query),
            next: RwSignal::new(next),
            runs: RwSignal::new(Vec::new()),
            pages: RwSignal::new(0),
            reading: RwSignal::new(false),
            failed: RwSignal::new(false),
            spot: StoredValue::new(None),
        }
    }

    pub fn runs(self) -> Signal<Vec<Run>> {
        self.runs.into()
    }

    fn read(self) {
        let Some(next) = self.next.get_untracked() else {
            return;
        };
        if self.reading.get_untracked() {
            return;
        }
        self.reading.set(true);
        let query = RunQuery {
            cursor: Some(next),
            ..self.query.get_value()
        };
        spawn_local(async move {
            let answer = api::runs::list(query).await;
            if self.reading.try_set(false).is_some() {
                return; // the list is gone
            }
            self.failed.set(answer.is_err());
            let Ok(page) = answer else { return };
            let page = page.value;
            let plain = self.query.with_value(RunQuery::is_plain);
            let more = page
                .runs
                .into_iter()
                .filter(|run| !(plain && run.needs_you()));
            self.runs.update(|runs| {
                // A run is shown once, also when a search meets it twice.
                let more: Vec<_> = more
                    .filter(|run| !runs.iter().any(|it| it.id == run.id))
                    .collect();
                runs.extend(more);
            });
            self.pages.update(|pages| *pages += 1);
            self.next.set(page.next);
        });
    }
}

/// A plain link to the next page, which a live page follows by itself.
#[component]
pub fn OlderLink(older: Older, filter: Filter) -> impl IntoView {
    let link = NodeRef::<html::A>::new();
    let near = move || {
        let end = link.get_untracked().map(|link| {
            let height = window()
                .inner_height()
                .or_say("ask how high the window is")
                .and_then(|it| it.as_f64());
            link.get_bounding_client_rect().top() - height.unwrap_or(0.0)
        });
        end.is_some_and(|distance| distance < NEAR)
    };
    let look = move || {
        let by_itself = older.pages.get_untracked() < BY_ITSELF && !older.failed.get_untracked();
        if by_itself && near() {
            older.read();
        }
    };
    Effect::new(move || {
        let scrolled = window_event_listener(ev::scroll, move |_| look());
        on_cleanup(move || scrolled.remove());
    });
    let spots = expect_context::<Spots>();
    spots.note(older.pages.into());
    // A page with few runs is followed by the next. A reader who came "back" gets as many pages as before, and the same scroll.
    Effect::new(move |first: Option<()>| {
        let pages = older.pages.get();
        if first.is_none() {
            older.spot.set_value(spots.returned());
        }
        match older.spot.get_value() {
            Some(spot) if pages < spot.pages && older.next.with_untracked(Option::is_some) => {
                older.read();
            }
            Some(spot) => {
                older.spot.set_value(None);
                spot::go(spot);
            }
            None if pages > 0 => request_animation_frame(look),
            None => {}
        }
    });
    let href = move || {
        older.next.get().map(|next| {
            Filter {
                cursor: Some(next),
                ..filter.clone()
            }
            .href()
        })
    };
    let click = move |event: ev::MouseEvent| {
        event.prevent_default();
        older.read();
    };
    let text = move || match (older.reading.get(), older.failed.get()) {
        (true, _) => "Loading…",
        (false, true) => "Older runs could not be read: try again",
        (false, false) => "Older runs",
    };
    move || {
        let href = href()?;
        Some(
            view! { <a node_ref=link class="button" href=href rel="next" on:click=click>{text}</a> },
        )
    }
}
