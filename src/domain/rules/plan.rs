//! The resume plan: what will happen to every recorded step when a worker takes the run, said before it does.
//!
//! [`plan`] is a pure function of recorded facts. What an agent is then told comes from [`begin`](super::begin::begin),
//! and so does each action here: the plan cannot say one thing and the store do another.

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::domain::{
    nouns::{
        ids::{Epoch, RunId, StepKey},
        run::Announced,
        status::{RunStatus, StepStatus},
        step::{AgentError, Kind, Recovery},
        time::Time,
    },
    rules::{
        begin::{self, Asked, BeginOutcome, Known},
        decision::{DecisionKind, EditMark},
    },
    tree::hash::Hash,
};

mod again;
mod effect;
mod facts;
mod gap;
mod why;

pub use effect::{EffectAhead, LeftBehind, NAMED_MAX, left_behind};
pub use facts::{Facts, StepFacts};
pub use gap::{Changed, RefFacts, Taker, gap};

/// What happens to one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum PlanAction {
    /// Its record answers: a result, or a failure that the agent takes the same branch for.
    Replay,
    Execute,
    /// The agent looks first whether it happened.
    Check,
    /// An operator's result is handed to the agent.
    Given,
    /// A gate without an answer.
    Wait,
    /// Nothing, until an operator decides.
    Decide,
    /// Announced, not begun: the agent may choose others.
    Expected,
}

crate::domain::nouns::status::words!(PlanAction {
    Replay = "replay", Execute = "execute", Check = "check", Given = "given", Wait = "wait",
    Decide = "decide", Expected = "expected",
});

/// Steps from `from` to `to`, both counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct Span {
    pub from: i64,
    pub to: i64,
}

/// One line of the plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct PlanStep {
    /// Absent until it begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<StepKey>,
    pub name: String,
    pub kind: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    pub status: StepStatus,
    pub action: PlanAction,
    /// In words, for people.
    pub why: String,
    pub recovery: Recovery,
    /// What it does to the world outside, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<EffectAhead>,
    /// A commit that came too late: offered as the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<crate::domain::nouns::attempt::Evidence>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<AgentError>,
    /// What an operator decided about it already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<DecisionKind>,
    /// Edits of the state that were made while the run was here, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<EditMark>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begun_at: Option<Time>,
    /// Who tried it last, and when that worker was last heard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heartbeat_at: Option<Time>,
    pub tries: i64,
}

/// What is not paid again.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct Saved {
    pub steps: i64,
    pub seconds: f64,
    /// Absent where no step said what it cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// Results that will be replayed, checked against their hashes: the newest 500 of them, or 8 MiB.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct Checked {
    pub good: i64,
    pub of: i64,
    /// Steps whose record is damaged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<i64>,
}

/// The resume plan. Plain replays are spans; every other step is a line of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct Plan {
    pub run: RunId,
    /// The run version it is based on, for `if_version`.
    pub version: i64,
    pub status: RunStatus,
    /// What a `resume` names as the plan it is based on; choices do not change it.
    pub hash: Hash,
    /// The first step that is not replayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<i64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replays: Vec<Span>,
    pub steps: Vec<PlanStep>,
    pub gap: Vec<Changed>,
    pub saved: Saved,
    pub integrity: Checked,
    pub taker: Taker,
    /// `rewind`, `fork`: effects that are not undone. Running one again must be chosen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<LeftBehind>,
    /// Effects that an earlier rewind, or the fork that this run is, did not undo: they may happen again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_undone: Vec<LeftBehind>,
    /// Why `resume` is not possible now, other than for decisions that are missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// What a plan is asked for: as the run is, or as it would be after these choices, a rewind or a fork.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PlanQuery {
    #[serde(default)]
    pub choices: Vec<crate::domain::wire::protocol::Choice>,
    /// As if rewound to before this step.
    #[serde(default)]
    pub rewind: Option<i64>,
    /// The plan of a fork from before this step.
    #[serde(default)]
    pub fork: Option<i64>,
}

impl PlanStep {
    /// It asks the same question as this one of an older plan: an answer to that one is an answer to this one.
    pub fn asks_like(&self, before: &Self) -> bool {
        fn effect(step: &PlanStep) -> Option<(&str, Option<&str>, bool)> {
            let effect = step.effect.as_ref()?;
            Some((
                effect.target.as_str(),
                effect.key.as_deref(),
                effect.unknown,
            ))
        }
        let question = |step: &Self| (step.seq, step.status, step.tries, step.decision);
        question(self) == question(before)
            && effect(self) == effect(before)
            && self.evidence == before.evidence
    }
}

impl Plan {
    /// It says the same, but for who asks for runs just now: that changes without the run.
    pub fn reads_like(&self, other: &Self) -> bool {
        let taker = other.taker.clone();
        Self {
            taker,
            ..self.clone()
        } == *other
    }

    /// Steps that wait for an operator.
    pub fn missing(&self) -> impl Iterator<Item = &PlanStep> {
        self.steps
            .iter()
            .filter(|step| step.action == PlanAction::Decide)
    }

    /// One more effect that is not undone, unless it is named already.
    pub fn leave_behind(&mut self, effect: LeftBehind) {
        let at = self.left_behind.partition_point(|it| it.seq < effect.seq);
        if self
            .left_behind
            .get(at)
            .is_none_or(|it| it.seq != effect.seq)
        {
            self.left_behind.insert(at, effect);
        }
    }

    /// Nobody acts on what is damaged: it is named, and the run cannot be resumed over it.
    pub fn mark_damaged(&mut self, seqs: impl IntoIterator<Item = i64>) {
        let damaged = &mut self.integrity.damaged;
        damaged.extend(seqs);
        damaged.sort_unstable();
        damaged.dedup();
        if let (Some(first), None) = (damaged.first(), &self.refused) {
            self.refused = Some(format!(
                "step {first} is damaged in the store; a fork from before it goes on without it"
            ));
        }
    }

    pub fn count(&self, action: PlanAction) -> i64 {
        let lines = self.steps.iter().filter(|step| step.action == action);
        let spans: i64 = match action {
            PlanAction::Replay => self
                .replays
                .iter()
                .map(|span| span.to - span.from + 1)
                .sum(),
            _ => 0,
        };
        lines.count() as i64 + spans
    }
}

/// What begin will tell an agent that comes back to this step.
pub fn action(step: &StepFacts, failed_run: bool, last_failed: bool) -> PlanAction {
    if step.status == StepStatus::Running {
        // Its worker is at it; what a crash would make of it is another plan.
        return PlanAction::Execute;
    }
    let known = Known {
        name: &step.name,
        status: step.status,
        recovery: step.recovery,
        input: Hash::default(),
        refs: &[],
        retries: step.retry_at.is_some(),
        unknown: step.unknown,
        given: step.given,
        ordered: step.decision == Some(DecisionKind::Retry),
        told: BeginOutcome::Execute,
        // No worker that comes later has this epoch.
        epoch: Epoch(-1),
    };
    let asked = Asked {
        name: &step.name,
        kind: step.kind,
        input: Hash::default(),
        refs: &[],
        epoch: Epoch(0),
        signal: None,
    };
    use begin::Begin::{Again, Attempt, Conflict, Recorded};
    match begin::begin(&asked, Some(&known)) {
        Recorded(BeginOutcome::Failed) if failed_run && last_failed => PlanAction::Decide,
        Attempt(BeginOutcome::Check) => PlanAction::Check,
        Attempt(_) | Again(_) => PlanAction::Execute,
        Recorded(BeginOutcome::Replay | BeginOutcome::Failed) => PlanAction::Replay,
        Recorded(BeginOutcome::Given) => PlanAction::Given,
        Recorded(BeginOutcome::Waiting) => PlanAction::Wait,
        Recorded(_) | Conflict => PlanAction::Decide,
    }
}

/// The plan of a run, from what is recorded of it.
pub fn plan(facts: &Facts<'_>) -> Plan {
    let failed_run = facts.run.status == RunStatus::Failed;
    let last_failed = facts
        .steps
        .iter()
        .filter(|step| step.status == StepStatus::Failed && step.retry_at.is_none())
        .map(|step| step.seq)
        .max();
    let live = facts.steps.iter().filter(|step| facts.counts(step.seq));
    let mut steps: Vec<PlanStep> = live
        .filter(|step| step.status != StepStatus::Superseded)
        .map(|step| {
            let action = action(step, failed_run, last_failed == Some(step.seq));
            facts.line(step, action)
        })
        .collect();
    let ahead = steps
        .iter()
        .filter(|step| step.action != PlanAction::Replay);
    let from = ahead.filter_map(|step| step.seq).min();
    steps.extend(facts.announced.iter().map(expected));
    let replays = facts.spans();
    let mut plan = Plan {
        run: facts.run.id.clone(),
        version: facts.run.version,
        status: facts.run.status,
        hash: Hash::default(),
        from,
        saved: facts.saved(&steps, &replays),
        replays,
        steps,
        gap: gap(facts.run, &facts.taker, &facts.refs),
        integrity: facts.integrity.clone(),
        taker: facts.taker.clone(),
        left_behind: Vec::new(),
        not_undone: Vec::new(),
        refused: resumable(facts.run.status).err(),
    };
    plan.hash = hash(facts, &plan);
    let beyond = |seq: &i64| !facts.counts(*seq);
    plan.integrity.damaged.retain(|seq| !beyond(seq));
    plan.mark_damaged([]);
    plan
}

/// Whether a run of this status can be resumed at all.
pub fn resumable(status: RunStatus) -> Result<(), String> {
    match status {
        RunStatus::Crashed | RunStatus::Failed | RunStatus::Paused => Ok(()),
        RunStatus::Ready => Err("it is queued already: waiting for a worker".into()),
        other => Err(format!(
            "it is {other}; a run that is crashed, failed or paused can be resumed"
        )),
    }
}

/// Covers all that is shown, but for what only the clock changes.
fn hash(facts: &Facts<'_>, plan: &Plan) -> Hash {
    let lines = plan.steps.iter().map(|step| {
        let key = step.effect.as_ref().map(|effect| &effect.key);
        json!([
            step.seq,
            step.key,
            step.name,
            step.status,
            step.action,
            step.decision,
            key,
            step.evidence,
        ])
    });
    let lines: Vec<_> = lines.collect();
    Hash::of(&json!([plan.run, facts.run.snapshot, plan.replays, lines,]))
}

fn expected(step: &Announced) -> PlanStep {
    PlanStep {
        seq: None,
        key: step.key.clone(),
        name: step.name.clone(),
        kind: step.kind,
        tool: step.tool.clone(),
        status: step.status,
        action: match step.status {
            StepStatus::Skipped => PlanAction::Given,
            _ => PlanAction::Expected,
        },
        why: match step.status {
            StepStatus::Skipped => {
                "skipped before it began: the agent gets the given result".into()
            }
            _ => "announced; the agent may choose other steps".into(),
        },
        recovery: Recovery::default_for(step.effect.as_ref()),
        effect: step.effect.as_ref().map(EffectAhead::announced),
        evidence: None,
        error: None,
        decision: (step.status == StepStatus::Skipped).then_some(DecisionKind::Skip),
        edits: Vec::new(),
        begun_at: None,
        worker: None,
        heartbeat_at: None,
        tries: 0,
    }
}

#[cfg(test)]
mod tests;
