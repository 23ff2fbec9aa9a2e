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
    /// A rewind or a fork left effects behind, and nobody acknowledged them.
    pub not_undone: bool,
}

impl Standing {
    pub fn of(run: &Run) -> Self {
        Self {
            status: run.status,
            live: run.lease.is_some(),
            effects_unknown: run.effects_unknown,
            not_undone: false,
        }
    }

    /// `step` is the one that the decision is about, where it is about one.
    pub fn offer(self, kind: DecisionKind, step: Option<StepStatus>) -> Offer {
        let refused = match kind {
            // What was left behind may be acknowledged whatever the run does by now.
            DecisionKind::Acknowledge if self.not_undone => None,
            _ => allowed(kind, self.status, self.live, step).err(),
        };
        Offer {
            kind,
            helps: refused.is_none() && self.moves(kind),
            refused,
            needs_reason: kind.needs_reason(),
            needs_version: kind.needs_version(),
            effects_unknown: self.effects_unknown,
        }
    }

    /// Whether a gate that waits may be answered: nobody waits for an answer in a run that is over.
    pub fn answers(self, step: StepStatus) -> bool {
        self.offers(DecisionKind::Answer, Some(step))
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
            let standing = Standing { status, live, effects_unknown, not_undone: false };
            let offer = standing.offer(kind, step);
            use DecisionKind::*;
            let may = offer.refused.is_none();
            prop_assert!(!offer.helps || may);
            prop_assert_eq!(offer.effects_unknown, effects_unknown);
            prop_assert!(!offer.needs_version || kind.moves_version());
            // What a reader of the page would call a lie, whatever the table says.
            let marks = matches!(kind, Note | Pin | Claim | Fork | Acknowledge);
            prop_assert!(marks || status != RunStatus::Cancelled || !may, "over for good");
            prop_assert!(marks || kind == Rewind || status != RunStatus::Done || !may, "over");
            prop_assert!(!live || !matches!(kind, Edit | Rewind) || !may, "a worker holds it");
            let gone = step == Some(StepStatus::Superseded);
            let about = matches!(kind, Retry | Commit | Skip | Approve | Reject | Answer | Rewind | Fork);
            prop_assert!(!gone || !about || !may, "the step was rewound past");
        }
    }

    #[test]
    fn a_gate_is_answered_while_its_run_goes_on() {
        for &status in RunStatus::ALL {
            let standing = Standing {
                status,
                live: false,
                effects_unknown: false,
                not_undone: false,
            };
            assert_eq!(
                standing.answers(StepStatus::Waiting),
                !status.over(),
                "{status}"
            );
            assert!(!standing.answers(StepStatus::Superseded));
        }
    }

    #[test]
    fn a_run_that_stopped_by_itself_is_not_offered_a_pause() {
        let standing = |status| Standing {
            status,
            live: false,
            effects_unknown: false,
            not_undone: false,
        };
        assert!(!standing(RunStatus::Crashed).offers(DecisionKind::Pause, None));
        assert!(standing(RunStatus::Waiting).offers(DecisionKind::Pause, None));
        assert!(!standing(RunStatus::Running).offers(DecisionKind::Rewind, None));
    }
}
