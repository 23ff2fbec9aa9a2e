//! What a live run's page shows stays where the reader found it: an address that names no step is read once for
//! where the run is, and from then on means that place.

use leptos::prelude::*;

#[derive(Debug, Clone, Default)]
struct Pinned {
    run: String,
    after: Option<i64>,
    step: Option<i64>,
}

#[derive(Clone, Copy)]
pub struct Pin(StoredValue<Pinned>);

impl Pin {
    pub fn new() -> Self {
        Self(StoredValue::new(Pinned::default()))
    }

    /// Where the page of steps began, if this run was shown.
    pub fn after(self, run: &str) -> Option<i64> {
        self.0.with_value(|it| it.after.filter(|_| it.run == run))
    }

    /// The step that was shown.
    pub fn step(self, run: &str) -> Option<i64> {
        self.0.with_value(|it| it.step.filter(|_| it.run == run))
    }

    pub fn hold_after(self, run: &str, after: i64) {
        self.hold(run, |it| it.after = Some(after));
    }

    pub fn hold_step(self, run: &str, step: i64) {
        self.hold(run, |it| it.step = Some(step));
    }

    fn hold(self, run: &str, place: impl FnOnce(&mut Pinned)) {
        self.0.update_value(|it| {
            if it.run != run {
                *it = Pinned {
                    run: run.to_owned(),
                    ..Pinned::default()
                };
            }
            place(it);
        });
    }
}
