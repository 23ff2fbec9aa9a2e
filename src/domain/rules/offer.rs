//! What may be decided about a run, or one of its steps, and what a decision then needs. Pages, the command line, server
//! functions and the store ask the same function, so nothing is offered that would be refused.

use super::decision::{DecisionKind, allowed};
use crate::domain::nouns::{
    run::Run,
    status::{RunStatus, StepStatus},
};

/// One decision, as it may be offered now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    pub kind: DecisionKind,
    /// Why it would be refused, if it would be.
    pub refused: Option<String>,
    /// It would be accepted, and would change something: a run that stopped by itself need not be paused.
    pub helps: bool,
    /// A person must say why.
    pub needs_reason: bool,
    /// It must name the run version that it is based on.
    pub needs_version: bool,
    /// An effect may have happened: whoever decides must be told so first.
    pub effects_unknown: bool,
}

/// What is known of a run when a decision about it is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    pub status: RunStatus,
    /// A worker holds it.
    pub live: bool,
    pub effects_unknown: bool,
}

impl Standing {
    pub fn of(run: &Run) -> Self {
        Self {
            status: run.status,
            live: run.lease.is_some(),
            effects_unknown: run.effects_unknown,
        }
    }

    /// `step` is the one that the decision is about, where it is about one.
    pub fn offer(self, kind: DecisionKind, step: Option<StepStatus>) -> Offer {
        let refused = allowed(kind, self.status, self.live, step).err();
        Offer {
            kind,
            helps: refused.is_none() && self.moves(kind),
            refused,
            needs_reason: kind.needs_reason(),
            needs_version: kind.needs_version(),
            effects_unknown: self.effects_unknown,
        }
    }

    /// Whether it is worth a button.
    pub fn offers(self, kind: DecisionKind, step: Option<StepStatus>) -> bool {
        self.offer(kind, step).helps
    }

    fn moves(self, kind: DecisionKind) -> bool {
        match kind {
            DecisionKind::Pause => !matches!(
                self.status,
                RunStatus::Paused | RunStatus::Crashed | RunStatus::Failed
            ),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_of<T: Copy + std::fmt::Debug + 'static>(all: &'static [T]) -> impl Strategy<Value = T> {
        prop::sample::select(all)
    }

    proptest! {
        #[test]
        fn nothing_is_offered_that_would_be_refused(
            kind in any_of(DecisionKind::ALL),
            status in any_of(RunStatus::ALL),
            step in prop::option::of(any_of(StepStatus::ALL)),
            live: bool,
            effects_unknown: bool,
        ) {
            let offer = Standing { status, live, effects_unknown }.offer(kind, step);
            let answer = allowed(kind, status, live, step);
            prop_assert_eq!(offer.refused.clone(), answer.err());
            prop_assert!(!offer.helps || offer.refused.is_none());
            prop_assert_eq!(offer.needs_version, kind.needs_version());
            prop_assert_eq!(offer.effects_unknown, effects_unknown);
        }
    }

    #[test]
    fn a_run_that_stopped_by_itself_is_not_offered_a_pause() {
        let standing = |status| Standing {
            status,
            live: false,
            effects_unknown: false,
        };
        assert!(!standing(RunStatus::Crashed).offers(DecisionKind::Pause, None));
        assert!(standing(RunStatus::Waiting).offers(DecisionKind::Pause, None));
        assert!(!standing(RunStatus::Running).offers(DecisionKind::Rewind, None));
    }
}
