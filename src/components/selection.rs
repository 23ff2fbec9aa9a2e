//! Which rows are picked: by their boxes, a range with Shift, or `x` on the focused row.

use std::collections::BTreeMap;

use leptos::{ev, html, prelude::*, wasm_bindgen::JsCast as _, web_sys};

use super::{browser::OrSay as _, focus, keyboard::Keys, run_row::title};
use crate::domain::{Run, RunId, RunStatus, views::words};

/// As many as may be decided about at once.
pub const PICKED_MAX: usize = 1_000;

/// What a decision has to know about a picked run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picked {
    pub version: i64,
    pub status: RunStatus,
    /// A worker holds it and hears of a request at its next step.
    pub live: bool,
    /// Nobody knows whether one of its effects happened.
    pub unknown: bool,
}

impl Picked {
    fn of(run: &Run) -> Self {
        Self {
            version: run.version,
            status: run.status,
            live: run.lease.is_some(),
            unknown: run.effects_unknown,
        }
    }
}

#[derive(Clone, Copy)]
pub struct Selection {
    picked: RwSignal<BTreeMap<RunId, Picked>>,
    /// The rows on the screen that can be picked.
    shown: RwSignal<BTreeMap<RunId, Signal<Run>>>,
    /// Where a range begins.
    anchor: StoredValue<Option<RunId>>,
    /// Boxes do nothing before the page is alive.
    alive: RwSignal<bool>,
}

impl Selection {
    /// Begins with nothing picked, and listens for `x`.
    pub fn start() -> Self {
        let selection = Self {
            picked: RwSignal::new(BTreeMap::new()),
            shown: RwSignal::new(BTreeMap::new()),
            anchor: StoredValue::new(None),
            alive: RwSignal::new(false),
        };
        Effect::new(move || {
            selection.alive.set(true);
            let keys = expect_context::<Keys>();
            let pressed = window_event_listener(ev::keydown, move |event| {
                if keys.single(&event).as_deref() == Some("x") {
                    selection.toggle_focused();
                }
            });
            on_cleanup(move || pressed.remove());
        });
        selection
    }

    pub fn picked(self) -> Signal<BTreeMap<RunId, Picked>> {
        self.picked.into()
    }

    pub fn clear(self) {
        self.picked.update(BTreeMap::clear);
        self.anchor.set_value(None);
    }

    /// Picks these runs, on the screen or not; no if they are too many.
    pub fn pick_all(self, runs: &[Run]) -> bool {
        let fits = self.picked.try_update(|picked| {
            for run in runs {
                if picked.len() < PICKED_MAX {
                    picked.insert(run.id.clone(), Picked::of(run));
                }
            }
            runs.iter().all(|run| picked.contains_key(&run.id))
        });
        fits.unwrap_or(false)
    }

    /// Picks all rows that are shown, as many as may be decided about at once.
    pub fn pick_shown(self) {
        let shown = self
            .shown
            .with_untracked(|shown| shown.keys().cloned().collect::<Vec<_>>());
        shown.iter().for_each(|id| self.pick(id, true));
    }

    /// How much of what is shown is picked; nothing once the list is gone, whose rows leave one by one after it.
    fn extent(self) -> Extent {
        if self.alive.try_get() != Some(true) {
            return Extent::default();
        }
        let extent = self.picked.try_with(|picked| {
            self.shown.try_with(|shown| {
                let is_shown = |id: &&RunId| shown.contains_key(*id);
                let here = picked.keys().filter(is_shown).count();
                Extent {
                    shown: shown.len(),
                    here,
                    elsewhere: picked.len() - here,
                }
            })
        });
        extent.flatten().unwrap_or_default()
    }

    fn has(self, id: &RunId) -> bool {
        self.picked.with(|picked| picked.contains_key(id))
    }

    fn pick(self, id: &RunId, on: bool) {
        let run = self.shown.with_untracked(|shown| shown.get(id).copied());
        let known = run.and_then(|run| run.try_with_untracked(Picked::of));
        self.picked.update(|picked| match (on, known) {
            (true, Some(known)) if picked.len() < PICKED_MAX => {
                picked.insert(id.clone(), known);
            }
            _ => {
                picked.remove(id);
            }
        });
    }

    /// A box was clicked; with Shift, all rows from the last one clicked become the same.
    fn clicked(self, id: &RunId, on: bool, range: bool) {
        let ids = match self.anchor.get_value().filter(|_| range) {
            Some(anchor) => between(&anchor, id),
            None => vec![id.clone()],
        };
        ids.iter().for_each(|id| self.pick(id, on));
        self.anchor.set_value(Some(id.clone()));
    }

    fn toggle_focused(self) {
        let row = document().active_element().and_then(|it| {
            it.closest("tr[data-run]")
                .or_say("look for a row")
                .flatten()
        });
        if let Some(id) = row.as_ref().and_then(run_of) {
            let on = !self
                .picked
                .with_untracked(|picked| picked.contains_key(&id));
            self.clicked(&id, on, false);
        }
    }

    /// Follows a row as long as it is shown. On the server nothing can be picked: it keeps no account of its rows.
    fn show(self, run: Signal<Run>) {
        if cfg!(feature = "ssr") {
            return;
        }
        let id = run.with_untracked(|run| run.id.clone());
        self.shown.try_update(|shown| {
            shown.insert(id.clone(), run);
        });
        let moved = id.clone();
        Effect::new(move || {
            let now = run.with(Picked::of);
            let stale = |picked: &BTreeMap<RunId, Picked>| {
                picked.get(&moved).is_some_and(|known| *known != now)
            };
            if self.picked.with_untracked(stale) {
                self.picked.update(|picked| {
                    picked.insert(moved.clone(), now.clone());
                });
            }
        });
        on_cleanup(move || {
            self.shown.try_update(|shown| match shown.get(&id) {
                Some(it) if *it == run => shown.remove(&id),
                _ => None,
            });
        });
    }
}

/// The runs of the rows from one to another, as they stand on the screen.
fn between(one: &RunId, other: &RunId) -> Vec<RunId> {
    let rows = focus::all::<web_sys::Element>("tr[data-run]");
    let ids: Vec<RunId> = rows.iter().filter_map(run_of).collect();
    let place = |id: &RunId| ids.iter().position(|it| it == id);
    match (place(one), place(other)) {
        (Some(a), Some(b)) => ids[a.min(b)..=a.max(b)].to_vec(),
        _ => vec![other.clone()],
    }
}

fn run_of(row: &web_sys::Element) -> Option<RunId> {
    row.get_attribute("data-run")?.parse().ok()
}

#[component]
pub fn SelectBox(run: Signal<Run>, selection: Selection) -> impl IntoView {
    selection.show(run);
    let id = run.with_untracked(|run| run.id.clone());
    let label = move || run.with(|run| format!("Select {}", title(run)));
    let is_on = {
        let id = id.clone();
        move || selection.has(&id)
    };
    let click = move |event: ev::MouseEvent| {
        let on = event
            .target()
            .and_then(|it| it.dyn_into::<web_sys::HtmlInputElement>().ok())
            .is_some_and(|it| it.checked());
        selection.clicked(&id, on, event.shift_key());
    };
    view! {
        <label class="pick">
            <input
                type="checkbox"
                aria-label=label
                disabled=move || !selection.alive.get()
                prop:checked=is_on
                on:click=click
            />
        </label>
    }
    .into_any()
}

/// How many rows are shown, how many of them are picked, and how many are picked that are not shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Extent {
    shown: usize,
    here: usize,
    elsewhere: usize,
}

impl Extent {
    fn all(self) -> bool {
        self.here > 0 && self.here == self.shown
    }

    /// Some, but not all of what is shown.
    fn some(self) -> bool {
        !self.all() && self.here + self.elsewhere > 0
    }

    fn label(self) -> String {
        let number = |n: usize| words::number(n as i64);
        let here = format!("{} of {} selected", number(self.here), number(self.shown));
        match (self.here + self.elsewhere, self.elsewhere) {
            (0, _) => "Select all runs shown".to_owned(),
            (_, 0) => here,
            (_, more) => format!("{here}, and {} not shown", number(more)),
        }
    }
}

/// Picks all rows that are shown, or none.
#[component]
pub fn SelectAll(selection: Selection) -> impl IntoView {
    let input = NodeRef::<html::Input>::new();
    // A click changes the box by itself: what is true is put there again, also where nothing came of the click.
    let draw = move |extent: Extent| {
        if let Some(input) = input.get() {
            input.set_checked(extent.all());
            input.set_indeterminate(extent.some());
        }
    };
    Effect::new(move || draw(selection.extent()));
    let click = move |_| {
        if selection.picked.with_untracked(|picked| !picked.is_empty()) {
            selection.clear();
        } else {
            selection.pick_shown();
        }
        untrack(|| draw(selection.extent()));
    };
    view! {
        <label class="pick">
            <input
                node_ref=input
                type="checkbox"
                aria-label=move || selection.extent().label()
                aria-checked=move || selection.extent().some().then_some("mixed")
                disabled=move || !selection.alive.get()
                on:click=click
            />
        </label>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::Extent;

    #[test]
    fn the_box_of_all_rows_says_how_many_are_picked() {
        let of = |here, elsewhere| Extent {
            shown: 7,
            here,
            elsewhere,
        };
        assert_eq!(of(0, 0).label(), "Select all runs shown");
        assert_eq!(of(2, 0).label(), "2 of 7 selected");
        assert_eq!(of(7, 3).label(), "7 of 7 selected, and 3 not shown");
        let drawn = |it: Extent| (it.all(), it.some());
        assert_eq!(drawn(of(0, 0)), (false, false));
        assert_eq!(drawn(of(2, 0)), (false, true));
        assert_eq!(drawn(of(0, 1)), (false, true));
        assert_eq!(drawn(of(7, 0)), (true, false));
    }
}
