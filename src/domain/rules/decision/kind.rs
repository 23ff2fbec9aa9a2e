//! The kinds of decisions, what is true of each, and when each is allowed. A question is answered for each kind by
//! name: a new kind does not compile before it has its answers.

use serde::{Deserialize, Serialize};

use crate::domain::nouns::status::{RunStatus, StepStatus};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum DecisionKind {
    Retry,
    Commit,
    Skip,
    Approve,
    Reject,
    Answer,
    Edit,
    Rewind,
    Fork,
    Resume,
    Pause,
    Cancel,
    Note,
    Pin,
    Claim,
    Acknowledge,
}

crate::domain::nouns::status::words!(DecisionKind {
    Retry = "retry", Commit = "commit", Skip = "skip", Approve = "approve", Reject = "reject",
    Answer = "answer", Edit = "edit", Rewind = "rewind", Fork = "fork", Resume = "resume",
    Pause = "pause", Cancel = "cancel", Note = "note", Pin = "pin", Claim = "claim",
    Acknowledge = "acknowledge",
});

impl DecisionKind {
    /// It makes a new version of the run.
    pub fn moves_version(self) -> bool {
        match self {
            Self::Retry | Self::Commit | Self::Skip => true,
            Self::Approve | Self::Reject | Self::Answer => true,
            Self::Edit | Self::Rewind | Self::Resume => true,
            Self::Pause | Self::Cancel | Self::Acknowledge => true,
            Self::Note | Self::Pin | Self::Fork | Self::Claim => false,
        }
    }

    /// It must name the run version it is based on.
    pub fn needs_version(self) -> bool {
        self.moves_version() && !matches!(self, Self::Pause | Self::Cancel)
    }

    /// A person must give a reason, except for a note, a pin, a claim and an acknowledgement.
    pub fn needs_reason(self) -> bool {
        match self {
            Self::Retry | Self::Commit | Self::Skip => true,
            Self::Approve | Self::Reject | Self::Answer => true,
            Self::Edit | Self::Rewind | Self::Fork | Self::Resume => true,
            Self::Pause | Self::Cancel => true,
            Self::Note | Self::Pin | Self::Claim | Self::Acknowledge => false,
        }
    }

    /// A run stands differently after it; what is only said or kept moves none.
    pub fn moves_run(self) -> bool {
        match self {
            Self::Retry | Self::Commit | Self::Skip => true,
            Self::Approve | Self::Reject | Self::Answer => true,
            Self::Edit | Self::Rewind | Self::Resume => true,
            Self::Pause | Self::Cancel => true,
            Self::Fork | Self::Note | Self::Pin | Self::Claim | Self::Acknowledge => false,
        }
    }

    /// The status of the run alone says whether it is allowed: it is asked before all else.
    pub fn stands_on_run(self) -> bool {
        match self {
            Self::Edit | Self::Rewind | Self::Resume | Self::Pause | Self::Cancel => true,
            Self::Retry | Self::Commit | Self::Skip => false,
            Self::Approve | Self::Reject | Self::Answer => false,
            Self::Fork | Self::Note | Self::Pin | Self::Claim | Self::Acknowledge => false,
        }
    }

    /// It decides what becomes of one step.
    pub fn settles_step(self) -> bool {
        match self {
            Self::Retry | Self::Commit | Self::Skip => true,
            Self::Approve | Self::Reject | Self::Answer => true,
            Self::Edit | Self::Rewind | Self::Fork | Self::Resume => false,
            Self::Pause | Self::Cancel => false,
            Self::Note | Self::Pin | Self::Claim | Self::Acknowledge => false,
        }
    }

    /// It answers the question of a gate.
    pub fn answers_gate(self) -> bool {
        match self {
            Self::Approve | Self::Reject | Self::Answer => true,
            Self::Retry | Self::Commit | Self::Skip => false,
            Self::Edit | Self::Rewind | Self::Fork | Self::Resume => false,
            Self::Pause | Self::Cancel => false,
            Self::Note | Self::Pin | Self::Claim | Self::Acknowledge => false,
        }
    }

    /// It answers a gate, or takes the place of an answer.
    pub fn ends_gate(self) -> bool {
        self.answers_gate() || matches!(self, Self::Skip | Self::Commit)
    }

    /// It says something of steps that its record does not name first.
    pub fn reaches_other_steps(self) -> bool {
        match self {
            Self::Resume | Self::Rewind => true,
            Self::Retry | Self::Commit | Self::Skip => false,
            Self::Approve | Self::Reject | Self::Answer => false,
            Self::Edit | Self::Fork | Self::Pause | Self::Cancel => false,
            Self::Note | Self::Pin | Self::Claim | Self::Acknowledge => false,
        }
    }

    /// Effects of which nobody knows whether they happened stay unknown by it, so they are named with it.
    pub fn leaves_unknown(self) -> bool {
        match self {
            Self::Cancel | Self::Acknowledge => true,
            Self::Retry | Self::Commit | Self::Skip => false,
            Self::Approve | Self::Reject | Self::Answer => false,
            Self::Edit | Self::Rewind | Self::Fork | Self::Resume | Self::Pause => false,
            Self::Note | Self::Pin | Self::Claim => false,
        }
    }
}

/// Whether the table of decisions allows it; the refusal says what stands in the way. `step` is the one that the
/// decision is about, where it is about one.
pub fn allowed(
    kind: DecisionKind,
    run: RunStatus,
    live_lease: bool,
    step: Option<StepStatus>,
) -> Result<(), String> {
    use DecisionKind::*;
    use RunStatus as R;
    use StepStatus as S;
    let steps: &[S] = match kind {
        Retry | Commit => S::BROKEN,
        Skip => S::SKIPPABLE,
        Approve | Reject | Answer => &[S::Waiting],
        Edit | Rewind | Fork | Resume | Pause | Cancel => &[],
        Note | Pin | Claim | Acknowledge => &[],
    };
    let runs: Option<&[R]> = match kind {
        Retry | Commit | Resume => Some(&[R::Crashed, R::Failed, R::Paused]),
        Edit => Some(&[R::Crashed, R::Failed, R::Paused, R::Waiting, R::Ready]),
        Rewind => Some(&[
            R::Crashed,
            R::Failed,
            R::Paused,
            R::Waiting,
            R::Ready,
            R::Done,
        ]),
        Acknowledge => Some(&[R::Failed, R::Crashed, R::Cancelled]),
        Skip | Approve | Reject | Answer | Pause | Cancel if run.over() => {
            return Err(format!("the run is {run} already"));
        }
        Skip | Approve | Reject | Answer | Pause | Cancel => None,
        Fork | Note | Pin | Claim => None,
    };
    if let Some(fits) = runs.filter(|fits| !fits.contains(&run)) {
        return Err(match live_lease && matches!(kind, Edit | Rewind) {
            true => "a worker holds the run: pause it first".into(),
            false => format!(
                "the run is {run}; {kind} is for a run that is {}",
                one_of(fits)
            ),
        });
    }
    if live_lease && matches!(kind, Edit | Rewind) {
        return Err("a worker holds the run: pause it first".into());
    }
    if step == Some(S::Superseded) && matches!(kind, Rewind | Fork) {
        return Err("the step was rewound past: choose a step that counts".into());
    }
    match step.filter(|step| !steps.is_empty() && !steps.contains(step)) {
        Some(step) => Err(format!(
            "the step is {step}; {kind} is for a step that is {}",
            one_of(steps)
        )),
        None => Ok(()),
    }
}

fn one_of<T: std::fmt::Display>(words: &[T]) -> String {
    let words: Vec<_> = words.iter().map(T::to_string).collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => words.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_the_protocol_holds_for_every_status() {
        use DecisionKind::*;
        for &run in RunStatus::ALL {
            let may = |kind, step| allowed(kind, run, run == RunStatus::Running, step).is_ok();
            let held = matches!(
                run,
                RunStatus::Crashed | RunStatus::Failed | RunStatus::Paused
            );
            let still = held || matches!(run, RunStatus::Waiting | RunStatus::Ready);
            for &step in StepStatus::ALL {
                let broke = matches!(step, StepStatus::Crashed | StepStatus::Failed);
                let waits = step == StepStatus::Waiting;
                let skips = broke || waits || step == StepStatus::Pending;
                assert_eq!(may(Retry, Some(step)), held && broke, "{run} {step}");
                assert_eq!(may(Commit, Some(step)), held && broke, "{run} {step}");
                assert_eq!(may(Skip, Some(step)), !run.over() && skips, "{run} {step}");
                assert_eq!(
                    may(Approve, Some(step)),
                    !run.over() && waits,
                    "{run} {step}"
                );
            }
            assert_eq!(may(Resume, None), held, "{run}");
            assert_eq!(may(Edit, None), still, "{run}");
            let back = still || run == RunStatus::Done;
            assert_eq!(may(Rewind, None), back, "{run}");
            assert_eq!(
                (may(Pause, None), may(Cancel, None)),
                (!run.over(), !run.over())
            );
            assert!(may(Fork, None) && may(Note, None) && may(Pin, None) && may(Claim, None));
            let (gone, counts) = (Some(StepStatus::Superseded), Some(StepStatus::Committed));
            assert!(!may(Fork, gone) && may(Fork, counts), "{run}");
            assert!(!may(Rewind, gone) && may(Rewind, counts) == back, "{run}");
        }
    }

    #[test]
    fn a_refusal_says_what_stands_in_the_way() {
        let why = allowed(DecisionKind::Edit, RunStatus::Running, true, None);
        assert_eq!(why.unwrap_err(), "a worker holds the run: pause it first");
        let why = allowed(
            DecisionKind::Retry,
            RunStatus::Crashed,
            false,
            Some(StepStatus::Committed),
        );
        assert_eq!(
            why.unwrap_err(),
            "the step is committed; retry is for a step that is crashed or failed"
        );
    }
}
