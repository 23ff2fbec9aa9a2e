//! What a live run's page shows stays where the reader found it: an address that names no step is read once for
//! where the run is, and from then on means that step.

use leptos::prelude::*;

#[derive(Clone, Copy)]
pub struct Pin(StoredValue<Option<(String, i64)>>);

impl Pin {
    pub fn new() -> Self {
        Self(StoredValue::new(None))
    }

    /// The step of this run that was shown.
    pub fn step(self, run: &str) -> Option<i64> {
        self.0
            .with_value(|it| it.as_ref().filter(|it| it.0 == run).map(|it| it.1))
    }

    pub fn hold_step(self, run: &str, step: i64) {
        self.0.set_value(Some((run.to_owned(), step)));
    }
}
