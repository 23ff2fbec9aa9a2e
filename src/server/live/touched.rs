//! Which runs and steps events touched.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{Event, EventKind, RunId};

const REWOUND_MAX: i64 = 1_000;

fn rewound(event: &Event) -> Option<(i64, i64)> {
    let span = event
        .data
        .get("rewound")
        .filter(|_| event.kind == EventKind::Decision)?;
    Some((span.get(0)?.as_i64()?, span.get(1)?.as_i64()?))
}

#[derive(Debug, Default)]
pub struct Touched {
    runs: BTreeMap<RunId, BTreeSet<i64>>,
    moved: bool,
}

impl Touched {
    pub fn add(&mut self, event: &Event) {
        self.moved |= event.kind.moves_run();
        let steps = self.runs.entry(event.run.clone()).or_default();
        steps.extend(event.seq);
        // A rewind touches many steps by one event; past what a frame holds, pages read again.
        if let Some((from, to)) = rewound(event) {
            steps.extend(from..=to.min(from.saturating_add(REWOUND_MAX)));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// What is counted may have changed.
    pub fn moved(&self) -> bool {
        self.moved
    }

    pub fn runs(&self) -> impl ExactSizeIterator<Item = &RunId> {
        self.runs.keys()
    }

    /// The steps of a run that was touched.
    pub fn steps(&self, run: &RunId) -> Option<&BTreeSet<i64>> {
        self.runs.get(run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Time;
    use serde_json::json;

    fn moves(kind: EventKind) -> bool {
        let mut touched = Touched::default();
        touched.add(&Event {
            id: 1,
            run: "r".parse().unwrap(),
            seq: None,
            kind,
            at: Time(0),
            data: json!({"kind": "acknowledge"}),
        });
        touched.moved()
    }

    #[test]
    fn runs_are_counted_again_when_one_is_acknowledged() {
        assert!(moves(EventKind::Decision));
        assert!(!moves(EventKind::StepProgress));
    }
}
