//! The steps that the list has at hand: a few pages around what is looked at, read as it scrolls and kept current.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use leptos::{leptos_dom::helpers::set_timeout, prelude::*, task::spawn_local};

use crate::{
    api,
    domain::{
        Run, RunId, Step,
        views::outline::{Outline, PAGE, Row, StepWindow},
    },
    live::{Live, Throttle},
};

/// The list reads its rows when it has not scrolled for this long.
const STILL: Duration = Duration::from_millis(60);
/// Steps kept at most; the rest is read again when it comes into view.
const KEPT_MAX: usize = 2_000;
/// The outline is read again at most this often.
const OUTLINE: Duration = Duration::from_millis(100);

/// One reading of the outline at a time: an older answer never comes after a newer one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    Not,
    UnderWay,
    /// The run went on since it was asked for.
    Outdated,
}

#[derive(Clone, Copy)]
pub struct LoadedSteps {
    run: StoredValue<RunId>,
    pub outline: RwSignal<Outline>,
    pub steps: RwSignal<HashMap<i64, Step>>,
    /// Pages that are being read.
    asked: StoredValue<HashSet<i64>>,
    /// The first row that is in view.
    at: StoredValue<i64>,
    /// How many announced steps were open, at which version of the run, when the outline was read last.
    known: StoredValue<Option<(i64, i64)>>,
    reading: StoredValue<Reading>,
}

impl LoadedSteps {
    pub fn new(run: RunId, window: StepWindow) -> Self {
        let steps = window.steps.into_iter().map(|step| (step.seq, step));
        Self {
            run: StoredValue::new(run),
            outline: RwSignal::new(window.outline),
            steps: RwSignal::new(steps.collect()),
            asked: StoredValue::new(HashSet::new()),
            at: StoredValue::new(window.base),
            known: StoredValue::new(None),
            reading: StoredValue::new(Reading::Not),
        }
    }

    /// These rows came into view. Rows far from the last ones are read only when the list stands still, so that a fast scroll
    /// reads nothing on its way.
    pub fn came(self, base: i64, many: i64) {
        let far = self.at.try_update_value(|at| {
            let before = std::mem::replace(at, base);
            (base - before).abs() > many
        });
        match far {
            Some(true) => set_timeout(
                move || {
                    if self.at.try_get_value() == Some(base) {
                        self.want(base, many);
                    }
                },
                STILL,
            ),
            _ => self.want(base, many),
        }
    }

    /// Reads what the rows from `base` on still lack.
    fn want(self, base: i64, many: i64) {
        let lacking = self.outline.with_untracked(|outline| {
            let has = |seq: i64| self.steps.with_untracked(|steps| steps.contains_key(&seq));
            let page = |row| match row {
                Row::Step(seq) if !has(seq) => Some((seq - 1) / PAGE),
                _ => None,
            };
            outline
                .rows(base, many)
                .filter_map(page)
                .collect::<HashSet<_>>()
        });
        for page in lacking {
            self.read(page);
        }
    }

    fn read(self, page: i64) {
        let fresh = self.asked.try_update_value(|asked| asked.insert(page));
        let (Some(true), Some(run)) = (fresh, self.run.try_get_value()) else {
            return;
        };
        spawn_local(async move {
            let answer = api::steps::page(run, page * PAGE).await;
            self.asked.try_update_value(|asked| asked.remove(&page));
            if let Ok(answer) = answer {
                self.patch(answer.steps);
            }
        });
    }

    /// Puts in steps as they are now.
    pub fn patch(self, newer: Vec<Step>) {
        let middle = newer.first().map_or(0, |step| step.seq);
        let same = self.steps.try_with_untracked(|steps| {
            newer
                .iter()
                .all(|step| steps.get(&step.seq).is_some_and(|it| it == step))
        });
        if same != Some(false) {
            return;
        }
        self.steps.try_update(|steps| {
            if steps.len() > KEPT_MAX {
                steps.retain(|seq, _| (seq - middle).abs() < KEPT_MAX as i64 / 2);
            }
            steps.extend(newer.into_iter().map(|step| (step.seq, step)));
        });
    }

    /// What reads the outline again, once for all that changed within a moment.
    pub fn outline_again(self, live: Live) -> Throttle {
        Throttle::after(live, OUTLINE, move || self.read_outline())
    }

    /// The run is as a frame has it; answers whether the outline must be read again. Which announced steps were met, skipped or
    /// opened again is not known from their number: only the store knows.
    pub fn grow_to(self, run: &Run) -> bool {
        let now = (run.announced, run.version);
        let known = self
            .known
            .try_update_value(|known| known.replace(now))
            .flatten();
        let grows = |it: &Outline| it.steps < run.steps;
        if self.outline.try_with_untracked(grows) == Some(true) {
            self.outline.update(|outline| outline.extend(run.steps));
        }
        let expects = |it: &Outline| run.announced > 0 || !it.announced.is_empty();
        known != Some(now) && self.outline.try_with_untracked(expects) == Some(true)
            || self.outline.try_with_untracked(Outline::lacks_steps) == Some(true)
    }

    /// Reads the phases and what is announced again.
    fn read_outline(self) {
        let before = self.reading.try_update_value(|it| {
            let now = match it {
                Reading::Not => Reading::UnderWay,
                _ => Reading::Outdated,
            };
            std::mem::replace(it, now)
        });
        let (Some(Reading::Not), Some(run)) = (before, self.run.try_get_value()) else {
            return;
        };
        spawn_local(async move {
            loop {
                match api::steps::window(run.clone(), None, None).await {
                    Ok(newer) => self.grow(newer.value),
                    // The next frame asks again.
                    Err(_) => {
                        self.known.try_set_value(None);
                    }
                }
                let outdated = self.reading.try_update_value(|it| {
                    let outdated = *it == Reading::Outdated;
                    *it = match outdated {
                        true => Reading::UnderWay,
                        false => Reading::Not,
                    };
                    outdated
                });
                if outdated != Some(true) {
                    return;
                }
            }
        });
    }

    /// The run went on: takes over the newer outline and what its window holds.
    fn grow(self, newer: StepWindow) {
        let grown = self
            .outline
            .try_with_untracked(|outline| outline.grown(&newer.outline));
        if let Some(grown) = grown
            && self.outline.with_untracked(|outline| *outline != grown)
        {
            self.outline.set(grown);
        }
        self.patch(newer.steps);
    }
}
