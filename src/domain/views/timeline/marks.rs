//! The few steps of a run that an operator looks for, with a word for each.

use serde::{Deserialize, Serialize};

use super::Look;
use crate::domain::{Time, nouns::status::StepStatus, rules::decision::DecisionKind, views::words};

/// Marks that are drawn at most.
const MARKS_MAX: usize = 24;

/// A step that is more than committed at the first try.
#[derive(Debug, Clone, PartialEq)]
pub struct Notable {
    pub seq: i64,
    pub status: StepStatus,
    /// What it is, or was before someone rewound past it.
    pub was: StepStatus,
    /// It asks a person.
    pub gate: bool,
    pub tries: i64,
    pub decision: Option<DecisionKind>,
    pub begun_at: Time,
    pub ended_at: Option<Time>,
    pub damaged: bool,
}

impl Notable {
    pub fn look(&self) -> Look {
        match self.damaged {
            true => Look::Damaged,
            false => Look::of(self.status, self.decision),
        }
    }

    /// How it looked before someone rewound past it.
    pub fn looked(&self) -> Option<(i64, Look)> {
        let superseded = self.status == StepStatus::Superseded && !self.damaged;
        superseded.then(|| (self.seq, Look::of(self.was, self.decision)))
    }

    /// Worth a word above the timeline.
    fn is_marked(&self) -> bool {
        let decided = self.decision.is_some_and(DecisionKind::answers_gate);
        self.damaged || self.status != StepStatus::Superseded && !(decided && self.tries <= 1)
    }

    fn word(&self) -> String {
        let seq = words::number(self.seq);
        let failures = self.tries - 1;
        match self.status {
            _ if self.damaged => format!("{seq} {}", words::DAMAGED),
            status if status.is_problem() => format!("{seq} {}", words::step_status(status)),
            _ if failures == 1 => format!("{seq} tried twice"),
            _ if failures > 1 => format!("{seq} tried {} times", self.tries),
            _ => format!("{seq} set by hand"),
        }
    }
}

/// A word at a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    pub seq: i64,
    pub at: Time,
    pub look: Look,
    pub text: String,
}

impl Mark {
    /// The worst first, then the newest; as many as can be read.
    pub fn of(notables: &[Notable]) -> Vec<Self> {
        let mut worst: Vec<_> = notables.iter().filter(|it| it.is_marked()).collect();
        worst.sort_by_key(|it| (std::cmp::Reverse(it.look()), -it.seq));
        let mark = |it: &Notable| Self {
            seq: it.seq,
            at: it.begun_at,
            look: match it.look() {
                Look::Committed => Look::Failed,
                look => look,
            },
            text: it.word(),
        };
        worst.into_iter().take(MARKS_MAX).map(mark).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notable(seq: i64, status: StepStatus, tries: i64) -> Notable {
        Notable {
            seq,
            status,
            was: status,
            gate: false,
            tries,
            decision: None,
            begun_at: Time(seq),
            ended_at: None,
            damaged: false,
        }
    }

    #[test]
    fn the_crash_comes_first_and_each_has_its_word() {
        let marks = Mark::of(&[
            notable(17, StepStatus::Committed, 2),
            notable(47, StepStatus::Crashed, 1),
            notable(9, StepStatus::Superseded, 1),
        ]);
        let texts: Vec<_> = marks.iter().map(|mark| mark.text.as_str()).collect();
        assert_eq!(texts, ["47 crashed mid-flight", "17 tried twice"]);
    }

    #[test]
    fn marks_are_bounded() {
        let many: Vec<_> = (0..5_000)
            .map(|n| notable(n, StepStatus::Failed, 1))
            .collect();
        assert_eq!(Mark::of(&many).len(), MARKS_MAX);
    }
}
