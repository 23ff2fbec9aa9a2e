//! What a plan is made from: everything recorded that it needs, and nothing else.

use std::collections::BTreeSet;

use super::{Checked, EffectAhead, PlanAction, PlanStep, RefFacts, Saved, Span, Taker, why};
use crate::domain::{
    nouns::{
        attempt::Evidence,
        ids::{RunId, StepKey, provider_key},
        run::{Announced, Run},
        status::StepStatus,
        step::{AgentError, Effect, Kind, Recovery},
        time::Time,
    },
    rules::decision::{DecisionKind, EditMark},
    wire::protocol::Choice,
};

/// A step that is more than a plain commit.
#[derive(Debug, Clone, PartialEq)]
pub struct StepFacts {
    pub seq: i64,
    pub key: StepKey,
    pub name: String,
    pub kind: Kind,
    pub tool: Option<String>,
    pub status: StepStatus,
    pub recovery: Recovery,
    pub effect: Option<Effect>,
    pub idempotency_key: String,
    pub generation: i64,
    /// Since when the provider may know the key.
    pub keyed_at: Time,
    pub unknown: bool,
    pub given: bool,
    pub retry_at: Option<Time>,
    pub decision: Option<DecisionKind>,
    pub error: Option<AgentError>,
    pub cost_usd: Option<f64>,
    pub tries: i64,
    pub begun_at: Time,
    pub worker: Option<String>,
    pub heartbeat_at: Option<Time>,
    pub evidence: Option<Evidence>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Facts<'a> {
    pub run: &'a Run,
    /// Time spent in committed steps, in microseconds.
    pub busy_us: i64,
    /// All steps but plain commits, in order.
    pub steps: &'a [StepFacts],
    /// Only steps before this one count: a rewind or fork is looked at.
    pub until: Option<i64>,
    /// What committed steps from there on took and cost.
    pub beyond: Saved,
    /// Announced steps that have not begun.
    pub announced: &'a [Announced],
    pub edits: &'a [EditMark],
    pub refs: Vec<RefFacts>,
    pub taker: Taker,
    pub integrity: Checked,
    pub now: Time,
}

impl Facts<'_> {
    pub(super) fn counts(&self, seq: i64) -> bool {
        self.until.is_none_or(|until| seq < until)
    }

    /// Stretches of plain commits: between the steps that were read one by one and those that are damaged.
    pub(super) fn spans(&self) -> Vec<Span> {
        let end = self
            .until
            .map_or(self.run.steps, |until| (until - 1).min(self.run.steps));
        let mut spans = Vec::new();
        let mut from = 1;
        let own = self.steps.iter().map(|step| step.seq);
        let edges: BTreeSet<i64> = own.chain(self.integrity.damaged.iter().copied()).collect();
        let edges = edges.into_iter().filter(|seq| *seq <= end);
        for seq in edges.chain([end + 1]) {
            if seq > from {
                spans.push(Span { from, to: seq - 1 });
            }
            from = seq + 1;
        }
        spans
    }

    pub(super) fn line(&self, step: &StepFacts, action: PlanAction) -> PlanStep {
        let edits = self.edits.iter().filter(|edit| edit.step == Some(step.seq));
        PlanStep {
            edits: edits.cloned().collect(),
            ..line(step, action, self.now)
        }
    }

    /// What the replayed steps took: the run's sums without the steps that are not replayed.
    pub(super) fn saved(&self, steps: &[PlanStep], replays: &[Span]) -> Saved {
        let spans: i64 = replays.iter().map(|span| span.to - span.from + 1).sum();
        let replayed = |seq: i64| {
            steps
                .iter()
                .any(|line| line.seq == Some(seq) && line.action == PlanAction::Replay)
        };
        let lines = steps
            .iter()
            .filter(|line| line.action == PlanAction::Replay);
        let beyond =
            |step: &StepFacts| !self.counts(step.seq) && step.status == StepStatus::Committed;
        let unpaid: f64 = self
            .steps
            .iter()
            .filter(|step| !replayed(step.seq) && !beyond(step))
            .filter_map(|step| step.cost_usd)
            .chain(self.beyond.cost_usd)
            .sum();
        let cost = self.run.usage.cost_usd.map(|cost| (cost - unpaid).max(0.0));
        Saved {
            steps: spans + lines.count() as i64,
            seconds: (self.busy_us as f64 / 1e6 - self.beyond.seconds).max(0.0),
            cost_usd: cost,
        }
    }
}

/// A step as a line of its own.
pub(super) fn line(step: &StepFacts, action: PlanAction, now: Time) -> PlanStep {
    let effect = EffectAhead::of(step, now);
    PlanStep {
        seq: Some(step.seq),
        key: Some(step.key.clone()),
        name: step.name.clone(),
        kind: step.kind,
        tool: step.tool.clone(),
        status: step.status,
        action,
        why: why::why(step, action, effect.as_ref()),
        recovery: step.recovery,
        effect,
        evidence: step.evidence.clone(),
        error: step.error.clone(),
        decision: step.decision,
        edits: Vec::new(),
        begun_at: Some(step.begun_at),
        worker: step.worker.clone(),
        heartbeat_at: step.heartbeat_at,
        tries: step.tries,
    }
}

impl StepFacts {
    /// A plain commit among lines: its result is replayed.
    pub fn replayed(&self, now: Time) -> PlanStep {
        line(self, PlanAction::Replay, now)
    }

    /// As it would be after this choice; for a look ahead.
    pub fn chosen(&mut self, run: &RunId, choice: &Choice) {
        self.decision = Some(choice.kind);
        match choice.kind {
            DecisionKind::Commit => {
                (self.status, self.given, self.unknown) = (StepStatus::Committed, true, false);
            }
            DecisionKind::Skip => (self.status, self.given) = (StepStatus::Skipped, true),
            _ if choice.new_key => {
                self.unknown = false;
                self.generation += 1;
                self.idempotency_key = provider_key(run, self.seq, self.generation);
            }
            _ => {}
        }
    }
}
