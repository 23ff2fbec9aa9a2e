//! What operators decide. Append-only: a decision never overwrites anything.

use serde::{Deserialize, Serialize};

use crate::domain::nouns::{
    ids::RunId,
    status::{RunStatus, StepStatus},
    time::Time,
};

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

/// What an operator asked a live worker to do at its next step boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Signal {
    Pause,
    Cancel,
}

crate::domain::nouns::status::words!(Signal { Pause = "pause", Cancel = "cancel" });

/// One decision as it was recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct Decision {
    pub id: i64,
    pub kind: DecisionKind,
    pub author: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<i64>,
    /// The run version it was based on.
    pub version: i64,
    pub at: Time,
    /// The snapshot that it made: its change is the difference to the one before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<i64>,
    /// What a note says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The run that a fork made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_run: Option<RunId>,
}

/// The decisions about one run, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecisionPage {
    pub decisions: Vec<Decision>,
    /// Where to read on: older ones than this.
    pub next: Option<i64>,
}

/// An edit of the state, as marked on the step where the run was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct EditMark {
    pub decision: i64,
    pub kind: DecisionKind,
    pub author: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub at: Time,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<i64>,
    pub snapshot: i64,
}

/// Somebody is looking at a run: advisory, and over by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct Looking {
    pub by: String,
    pub until: Time,
}

/// How long "I am looking" lasts.
pub const LOOKING_MS: i64 = 15 * 60_000;

impl DecisionKind {
    /// It makes a new version of the run.
    pub fn moves_version(self) -> bool {
        !matches!(self, Self::Note | Self::Pin | Self::Fork | Self::Claim)
    }

    /// It must name the run version it is based on.
    pub fn needs_version(self) -> bool {
        self.moves_version() && !matches!(self, Self::Pause | Self::Cancel)
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
        Retry | Commit => &[S::Crashed, S::Failed],
        Skip => &[S::Crashed, S::Failed, S::Pending, S::Waiting],
        Approve | Reject | Answer => &[S::Waiting],
        _ => &[],
    };
    let runs: Option<&[R]> = match kind {
        Retry | Commit | Resume => Some(&[R::Crashed, R::Failed, R::Paused]),
        Edit | Rewind => Some(&[R::Crashed, R::Failed, R::Paused, R::Waiting, R::Ready]),
        Acknowledge => Some(&[R::Failed, R::Crashed, R::Cancelled]),
        Skip | Approve | Reject | Answer | Pause | Cancel if run.over() => {
            return Err(format!("the run is {run} already"));
        }
        _ => None,
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
            assert_eq!(may(Rewind, None), still, "{run}");
            assert_eq!(
                (may(Pause, None), may(Cancel, None)),
                (!run.over(), !run.over())
            );
            assert!(may(Fork, None) && may(Note, None) && may(Pin, None) && may(Claim, None));
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
