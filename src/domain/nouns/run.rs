//! One execution of an agent, with a stable id across restarts.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

use crate::domain::{
    nouns::{
        attempt::Usage,
        ids::{Epoch, RunId, StepKey},
        status::{RunStatus, StepStatus},
        step::{AgentError, Effect, Kind},
        time::Time,
    },
    rules::{
        decision::{Looking, Signal},
        doubt::unchecked,
    },
    tree::hash::Hash,
    views::strip::Strip,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Link {
    pub label: String,
    pub url: String,
}

impl Link {
    /// Leads to the web, and nowhere else.
    pub fn is_web(&self) -> bool {
        self.url.starts_with("https://") || self.url.starts_with("http://")
    }
}

/// The step of another run that this run works for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Parent {
    pub run: RunId,
    pub seq: i64,
}

/// What happens by itself when a lease ends with a step in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum OnCrash {
    #[default]
    Resume,
    Hold,
}

crate::domain::nouns::status::words!(OnCrash { Resume = "resume", Hold = "hold" });

/// A step that the agent expects; `seq` is there once it has begun.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct Announced {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<StepKey>,
    pub name: String,
    pub kind: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<i64>,
    /// `pending` until it begins; then the step's own status counts.
    pub status: StepStatus,
    /// The row of the step that it became does not match its seal: its status is not known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub damaged: bool,
}

/// A worker's right to advance a run, while it lives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct Lease {
    pub worker: String,
    pub epoch: Epoch,
    pub expires_at: Time,
    pub heartbeat_at: Time,
}

/// The step a run is at: its newest one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct At {
    pub seq: i64,
    pub name: String,
    pub status: StepStatus,
}

/// A run as lists show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct Run {
    pub id: RunId,
    pub agent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    pub status: RunStatus,
    /// Grows with each decision and each change of status; decisions are based on it.
    pub version: i64,
    /// The agent's code version, as its newest worker gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code_version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    pub labels: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// A fork of its parent from before that step: states up to this one are shared with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_at: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
    /// The worker that held it last, dead or alive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// When a worker that held it was last heard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heard_at: Option<Time>,
    pub epoch: Epoch,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<Signal>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runnable_at: Option<Time>,
    pub snapshot: i64,
    pub hash: Hash,
    /// How many steps have begun, and how many of them are committed.
    pub steps: i64,
    pub committed: i64,
    /// Announced steps that have not begun.
    pub announced: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<At>,
    /// The kind of the error where it is; none where a lease was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_kind: Option<String>,
    /// It stopped with an effect that may have happened, not happened, or still be under way.
    #[serde(default)]
    pub effects_unknown: bool,
    /// An operator has seen that it stopped: it is no longer among what needs a person.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub acknowledged: bool,
    /// Who said last that they are looking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looking: Option<Looking>,
    /// Its steps in short, for a picture in one line.
    #[serde(default)]
    #[cfg_attr(feature = "ssr", schema(value_type = String))]
    pub strip: Strip,
    pub usage: Usage,
    pub created_at: Time,
    pub updated_at: Time,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Time>,
    /// Microseconds between its leases, in which nobody held it: its elapsed time leaves them out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unheld_us: i64,
    /// What is stored of it does not match its seal: nothing here can be relied on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub damaged: bool,
}

/// A run with what only its own page needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
pub struct RunDetail {
    #[serde(flatten)]
    pub run: Run,
    #[serde(default)]
    pub input: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_schema: Option<Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    pub on_crash: OnCrash,
    pub max_recoveries: i64,
    pub recoveries: i64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plan: Vec<Announced>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<AgentError>,
}

impl Run {
    /// A person has to look, and nobody has acknowledged the run.
    pub fn needs_you(&self) -> bool {
        let at = self.at.as_ref().map(|at| at.status);
        needs_you(self.status, at, self.effects_unknown) && !self.acknowledged
    }

    /// It was cancelled while nobody knew whether an effect happened, and nobody acknowledged that since.
    pub fn unchecked(&self) -> bool {
        unchecked(self.status, self.effects_unknown, self.acknowledged)
    }

    /// Whether a list of this status shows it: one at an open gate waits, also while a worker holds it.
    pub fn counts_as(&self, status: RunStatus) -> bool {
        let at = self.at.as_ref().map(|at| at.status);
        status == self.status || status == RunStatus::Waiting && waits_held(self.status, at)
    }

    /// What its elapsed time is counted from, and to where: nothing while a worker has it. Only the time that workers had it
    /// counts. So the beginning moves on by what lay between leases, and one that nobody has stands still where its worker
    /// was last heard, whatever people decide about it since.
    pub fn worked(&self) -> Option<(Time, Option<Time>)> {
        let from = Time(self.started_at?.0 + self.unheld_us);
        let heard = self.heard_at.unwrap_or(self.updated_at);
        let to = match self.status {
            RunStatus::Running => None,
            RunStatus::Done | RunStatus::Failed => Some(self.finished_at.unwrap_or(heard)),
            _ => Some(heard),
        };
        Some((from, to))
    }

    /// What the counts say of a run that is older than strips: all committed, but for the step it is at.
    pub fn assumed_strip(&self) -> Strip {
        let mut strip = Strip::default();
        if self.committed > 0 {
            strip.set(self.committed, StepStatus::Committed, 1);
        }
        if let Some(at) = &self.at {
            strip.set(at.seq, at.status, 1);
        }
        strip
    }
}

fn is_zero(n: &i64) -> bool {
    *n == 0
}

/// It waits at a gate while a worker holds it.
fn waits_held(status: RunStatus, at: Option<StepStatus>) -> bool {
    status == RunStatus::Running && at == Some(StepStatus::Waiting)
}

/// A person has to look: it stopped, it waits at a gate even while a worker holds it, or it was paused with an effect that
/// nobody knows of.
pub fn needs_you(status: RunStatus, at: Option<StepStatus>, effects_unknown: bool) -> bool {
    match status {
        RunStatus::Running => waits_held(status, at),
        RunStatus::Paused => effects_unknown,
        status => status.needs_you(),
    }
}

impl Announced {
    /// It has neither begun nor been skipped.
    pub fn is_pending(&self) -> bool {
        self.seq.is_none() && self.status == StepStatus::Pending
    }
}

impl RunDetail {
    /// Announced steps that have not begun.
    pub fn pending(&self) -> impl Iterator<Item = &Announced> {
        self.plan.iter().filter(|step| step.is_pending())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::nouns::sample;

    fn run(status: RunStatus) -> Run {
        Run {
            status,
            started_at: Some(Time(1_000)),
            heard_at: Some(Time(5_000)),
            ..sample::run("a")
        }
    }

    /// How long it worked, as a reader at this moment sees it.
    fn elapsed(run: &Run, now: i64) -> i64 {
        let (from, to) = run.worked().unwrap();
        to.unwrap_or(Time(now)).0 - from.0
    }

    #[test]
    fn elapsed_goes_on_where_it_stood_when_a_worker_takes_the_run() {
        for stopped in [RunStatus::Crashed, RunStatus::Ready, RunStatus::Paused] {
            assert_eq!(elapsed(&run(stopped), 90_000), 4_000, "{stopped}");
        }
        let taken = Run {
            heard_at: Some(Time(90_000)),
            unheld_us: 85_000,
            ..run(RunStatus::Running)
        };
        assert_eq!(elapsed(&taken, 90_000), 4_000);
        assert_eq!(elapsed(&taken, 91_000), 5_000);
    }

    #[test]
    fn a_run_that_is_cancelled_later_worked_no_longer() {
        let cancelled = Run {
            finished_at: Some(Time(80_000)),
            ..run(RunStatus::Cancelled)
        };
        assert_eq!(elapsed(&cancelled, 90_000), 4_000);
        let done = Run {
            finished_at: Some(Time(6_000)),
            ..run(RunStatus::Done)
        };
        assert_eq!(elapsed(&done, 90_000), 5_000);
    }

    #[test]
    fn a_gate_under_a_live_lease_counts_as_running_and_as_waiting() {
        let at_gate = Run {
            at: Some(At {
                seq: 1,
                name: "approve".into(),
                status: StepStatus::Waiting,
            }),
            ..run(RunStatus::Running)
        };
        assert!(at_gate.counts_as(RunStatus::Waiting) && at_gate.counts_as(RunStatus::Running));
        assert!(!run(RunStatus::Running).counts_as(RunStatus::Waiting));
    }
}
