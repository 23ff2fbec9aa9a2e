//! What operators decide. Append-only: a decision never overwrites anything.

use serde::{Deserialize, Serialize};

use crate::domain::{
    nouns::{
        ids::RunId,
        status::{RunStatus, StepStatus},
        time::Time,
    },
    tree::hash::Hash,
};

mod chosen;

pub use chosen::{Chosen, Gist};

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
    /// What was chosen, step by step: one for a decision about a step, any number for a resume.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chosen: Vec<Chosen>,
    /// What an edit changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Gist>,
    /// Effects left behind by a rewind or fork that may happen again, by their steps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub again: Vec<i64>,
    /// The same with their names, where a step is read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<NamedStep>,
    /// The plan that a resume was based on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Hash>,
}

/// A step as people call it: "47 charge_card".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct NamedStep {
    pub step: i64,
    pub name: String,
}

impl Decision {
    /// With nothing but who decided what; fill in the rest by struct update.
    pub fn bare(id: i64, kind: DecisionKind, author: String, version: i64) -> Self {
        Self {
            id,
            kind,
            author,
            reason: None,
            step: None,
            version,
            at: Time(0),
            snapshot: None,
            text: None,
            new_run: None,
            chosen: Vec::new(),
            change: None,
            again: Vec::new(),
            effects: Vec::new(),
            plan: None,
        }
    }

    /// What it chose for this step, if it did.
    pub fn chosen_for(&self, seq: i64) -> Option<&Chosen> {
        self.chosen.iter().find(|it| it.step == seq)
    }

    /// The step at which the state was changed: where the run was, or the last one that a resume chose for.
    pub fn edited_at(&self) -> Option<i64> {
        self.step.or(self.chosen.last().map(|it| it.step))
    }

    /// It says something about this step, which began at `begun_at`.
    pub fn is_about(&self, seq: i64, begun_at: Time) -> bool {
        match self.kind {
            DecisionKind::Rewind => {
                self.at >= begun_at && self.step.is_some_and(|first| first <= seq)
            }
            DecisionKind::Fork | DecisionKind::Note => false,
            _ => self.step == Some(seq) || self.chosen_for(seq).is_some(),
        }
    }

    /// The snapshot that a person made by hand.
    pub fn edit(&self) -> Option<EditMark> {
        Some(EditMark {
            decision: self.id,
            kind: self.kind,
            author: self.author.clone(),
            reason: self.reason.clone(),
            at: self.at,
            step: self.edited_at(),
            snapshot: self.snapshot?,
            changes: None,
        })
    }
}

/// The decisions about one run, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecisionPage {
    pub decisions: Vec<Decision>,
    /// Where to read on: older ones than this.
    pub next: Option<i64>,
}

/// An edit of the state, as marked on the step where the run was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    /// How many values it changed, where that was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<i64>,
}

/// Somebody is looking at a run: advisory, and over by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct Looking {
    pub by: String,
    pub until: Time,
}

/// How long "I'm on it" lasts.
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

    /// A person must give a reason, except for a note, a pin, a claim and an acknowledgement.
    pub fn needs_reason(self) -> bool {
        !matches!(
            self,
            Self::Note | Self::Pin | Self::Claim | Self::Acknowledge
        )
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
