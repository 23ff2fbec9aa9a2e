//! The causes that the list shows as one line each: they grow and shrink with the runs that stopped for them.

use leptos::prelude::*;

use crate::{
    api,
    domain::{
        AsOf, Run,
        rules::needs::{Alike, Cause},
    },
};

#[derive(Clone, Copy)]
pub struct Causes {
    lines: StoredValue<Vec<RwSignal<Cause>>>,
    /// The newest event that the lines surely contain.
    event: StoredValue<i64>,
}

impl Causes {
    pub fn new() -> Self {
        Self {
            lines: StoredValue::new(Vec::new()),
            event: StoredValue::new(0),
        }
    }

    /// A line for `cause` that follows it until the calling view is gone.
    pub fn line(self, cause: Cause) -> Signal<Cause> {
        let line = RwSignal::new(cause);
        self.lines.update_value(|lines| lines.push(line));
        on_cleanup(move || {
            self.lines
                .try_update_value(|lines| lines.retain(|it| *it != line));
        });
        line.into()
    }

    /// This run is one of those that a line stands for.
    pub fn hold(self, run: &Run) -> bool {
        Alike::of(run).is_some_and(|alike| self.shown().contains(&alike))
    }

    /// What the lines stand for; nothing once the page is gone.
    fn shown(self) -> Vec<Alike> {
        let lines = self.lines.try_get_value().unwrap_or_default();
        let alike = |line: RwSignal<Cause>| line.try_with_untracked(|it| it.alike.clone());
        lines.into_iter().filter_map(alike).collect()
    }

    pub fn is_empty(self) -> bool {
        self.lines.try_with_value(Vec::is_empty).unwrap_or(true)
    }

    /// No frame says how many runs stopped for one cause: it is read.
    pub async fn read_again(self) {
        let shown = self.shown();
        if shown.is_empty() {
            return;
        }
        let Ok(AsOf { event, value }) = api::runs::causes(shown).await else {
            return;
        };
        let newer = self.event.try_update_value(|it| {
            let newer = event >= *it;
            *it = event.max(*it);
            newer
        });
        if newer != Some(true) {
            return;
        }
        for line in self.lines.try_get_value().unwrap_or_default() {
            let now = value.iter().find(|now| {
                line.try_with_untracked(|it| it.alike == now.alike && it != *now) == Some(true)
            });
            if let Some(now) = now {
                line.try_set(now.clone());
            }
        }
    }
}
