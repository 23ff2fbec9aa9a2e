//! What an agent that begins a step is told: do it, look first, or take what is already known.

use serde::{Deserialize, Serialize};

use crate::domain::{
    nouns::{
        ids::Epoch,
        status::StepStatus,
        step::{Kind, Recovery, Reference},
    },
    rules::decision::Signal,
    tree::hash::Hash,
};

/// Begin's `outcome` on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum BeginOutcome {
    Execute,
    Check,
    Replay,
    Given,
    Failed,
    Waiting,
    Stop,
}

crate::domain::nouns::status::words!(BeginOutcome {
    Execute = "execute", Check = "check", Replay = "replay", Given = "given", Failed = "failed",
    Waiting = "waiting", Stop = "stop",
});

/// What the store knows of the step that a key names.
#[derive(Debug, Clone, PartialEq)]
pub struct Known<'a> {
    pub name: &'a str,
    pub status: StepStatus,
    pub recovery: Recovery,
    pub input: Hash,
    pub refs: &'a [Reference],
    /// Failed with attempts left.
    pub retries: bool,
    /// The last attempt left an effect of which nobody knows whether it happened.
    pub unknown: bool,
    /// An operator settled it, and the result was not folded in yet.
    pub given: bool,
    /// An operator ordered to try it again.
    pub ordered: bool,
    /// What the newest attempt was told, and under which epoch.
    pub told: BeginOutcome,
    pub epoch: Epoch,
}

/// What the agent asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked<'a> {
    pub name: &'a str,
    pub kind: Kind,
    pub input: Hash,
    pub refs: &'a [Reference],
    pub epoch: Epoch,
    pub signal: Option<Signal>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// A new step, or a new attempt at a known one.
    Attempt(BeginOutcome),
    /// The same answer as before.
    Again(BeginOutcome),
    /// Nothing begins; what is recorded is the answer.
    Recorded(BeginOutcome),
    /// The key names a step of another name.
    Conflict,
}

pub fn begin(asked: &Asked<'_>, known: Option<&Known<'_>>) -> Begin {
    use BeginOutcome::*;
    let fresh = |outcome| match asked.signal {
        Some(_) => Begin::Recorded(Stop),
        None => Begin::Attempt(outcome),
    };
    let Some(known) = known else {
        return fresh(if asked.kind == Kind::Gate {
            Waiting
        } else {
            Execute
        });
    };
    if known.name != asked.name {
        return Begin::Conflict;
    }
    match known.status {
        StepStatus::Committed | StepStatus::Skipped if known.given => Begin::Recorded(Given),
        StepStatus::Committed | StepStatus::Skipped => Begin::Recorded(Replay),
        StepStatus::Waiting => Begin::Recorded(Waiting),
        StepStatus::Running if known.epoch == asked.epoch => Begin::Again(known.told),
        // A step that can be checked: the agent looks first whether it happened, also where an operator ordered a retry.
        StepStatus::Failed if known.retries => fresh(look_first(known)),
        StepStatus::Crashed | StepStatus::Failed if known.ordered => fresh(look_first(known)),
        StepStatus::Failed => Begin::Recorded(Failed),
        // The step crashed, or runs under an earlier lease: its recovery rule decides.
        StepStatus::Crashed | StepStatus::Running => match known.recovery {
            Recovery::Retry => fresh(Execute),
            Recovery::Check => fresh(Check),
            Recovery::Ask => Begin::Recorded(Stop),
        },
        StepStatus::Pending | StepStatus::Superseded => fresh(Execute),
    }
}

fn look_first(known: &Known<'_>) -> BeginOutcome {
    match known.recovery == Recovery::Check && known.unknown {
        true => BeginOutcome::Check,
        false => BeginOutcome::Execute,
    }
}

/// The agent came back with another input, or a reference changed in the gap.
pub fn drifted(asked: &Asked<'_>, known: &Known<'_>) -> bool {
    asked.input != known.input
        || asked.refs.iter().any(|now| {
            known
                .refs
                .iter()
                .any(|then| then.uri == now.uri && then.hash != now.hash)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn known(status: StepStatus, recovery: Recovery) -> Known<'static> {
        Known {
            name: "charge",
            status,
            recovery,
            input: Hash::default(),
            refs: &[],
            retries: false,
            unknown: false,
            given: false,
            ordered: false,
            told: BeginOutcome::Execute,
            epoch: Epoch(1),
        }
    }

    fn asked(signal: Option<Signal>, epoch: i64) -> Asked<'static> {
        Asked {
            name: "charge",
            kind: Kind::Tool,
            input: Hash::default(),
            refs: &[],
            epoch: Epoch(epoch),
            signal,
        }
    }

    proptest! {
        #[test]
        fn nothing_begins_once_it_is_settled_or_a_stop_was_asked(
            status in prop::sample::select(StepStatus::ALL),
            recovery in prop::sample::select(Recovery::ALL),
            signal in prop::option::of(prop::sample::select(Signal::ALL)),
            epoch in 1..3i64,
        ) {
            let begun = begin(&asked(signal, epoch), Some(&known(status, recovery)));
            let attempt = matches!(begun, Begin::Attempt(_));
            if matches!(status, StepStatus::Committed | StepStatus::Skipped | StepStatus::Waiting) || signal.is_some() {
                prop_assert!(!attempt);
            }
            if status == StepStatus::Crashed && recovery == Recovery::Ask {
                prop_assert!(!attempt, "an operator decides");
            }
            if status == StepStatus::Committed {
                prop_assert_eq!(begun, Begin::Recorded(BeginOutcome::Replay));
            }
        }
    }

    #[test]
    fn another_input_or_a_changed_reference_is_drift() {
        let then = [Reference {
            uri: "file:po.csv".into(),
            hash: "a".into(),
        }];
        let now = [Reference {
            uri: "file:po.csv".into(),
            hash: "b".into(),
        }];
        let step = Known {
            refs: &then,
            ..known(StepStatus::Committed, Recovery::Retry)
        };
        assert!(!drifted(&asked(None, 1), &step));
        assert!(drifted(
            &Asked {
                refs: &now,
                ..asked(None, 1)
            },
            &step
        ));
        assert!(drifted(
            &Asked {
                input: Hash::of_bytes(b"x"),
                ..asked(None, 1)
            },
            &step
        ));
    }
}
