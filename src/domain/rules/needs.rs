//! What waits for a person: single runs, and groups of runs that stopped for one cause.

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::domain::{
    nouns::{
        ids::RunId,
        run::{At, Run},
        status::{RunStatus, StepStatus},
        time::Time,
    },
    rules::lease::LeaseEnd,
    tree::hash::Hash,
    wire::query::RunQuery,
};

/// Single runs at the top of the list.
pub const ROWS_ON_TOP: usize = 5;
/// From this many runs on, one cause is one line.
pub const GROUP_MIN: i64 = 3;

/// What the top of the list shows.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct NeedsYou {
    pub runs: Vec<Run>,
    pub causes: Vec<Cause>,
    /// What the single runs are about, as far as that is known.
    #[serde(default)]
    pub about: Vec<(RunId, About)>,
    /// More single runs than there was place for.
    pub more: bool,
}

/// The step that a run needs a person for, in the agent's words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct About {
    pub seq: i64,
    pub what: Matter,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Matter {
    /// This may have happened; the attempt ended then, and in this way.
    Effect {
        may: String,
        ended: Option<Time>,
        #[serde(default, skip_serializing_if = "EndedBy::is_unknown")]
        by: EndedBy,
    },
    /// A question; a plain one is answered by yes or no.
    Question { title: String, plain: bool },
    /// It failed after so many attempts, with these words where the agent gave any.
    Failure { tries: i64, error: Option<String> },
}

/// What ended the attempt that nobody knows the effect of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum EndedBy {
    /// Nothing sound says it.
    #[default]
    Unknown,
    /// The agent said that it failed, and does not know whether the effect happened.
    Agent,
    Lease(LeaseEnd),
}

impl EndedBy {
    fn is_unknown(&self) -> bool {
        *self == Self::Unknown
    }
}

impl About {
    /// Whether the run is still where this was read.
    pub fn holds(&self, run: &Run) -> bool {
        let stands = |at: &At| {
            at.seq == self.seq
                && match self.what {
                    Matter::Effect { .. } => run.effects_unknown,
                    Matter::Question { .. } => at.status == StepStatus::Waiting,
                    Matter::Failure { .. } => run.status == RunStatus::Failed,
                }
        };
        run.at.as_ref().is_some_and(stands)
    }
}

/// Several runs that stopped at the same step of the same code, in the same way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    pub alike: Alike,
    /// Counted no further than anyone reads.
    pub runs: i64,
    /// The newest activity among them.
    pub newest: Time,
    /// What they cost together; absent if unknown for any of them.
    pub cost_usd: Option<f64>,
    /// How the leases of runs that crashed ended, where all ended alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_end: Option<LeaseEnd>,
}

impl Cause {
    /// "lease lost", "released by the worker", or the error by its kind.
    pub fn how(&self) -> &str {
        match (&self.alike.error, self.alike.status) {
            (Some(kind), _) => kind,
            (None, RunStatus::Crashed) => match self.lease_end {
                Some(end) if end.lost() => "lease lost",
                Some(LeaseEnd::Release) => "released by the worker",
                _ => "crashed mid-flight",
            },
            (None, _) => "failed",
        }
    }
}

/// How soon a line of "Needs you" wants to be looked at, the most urgent first: an effect that may have happened before all else,
/// several of them before one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    SeveralUnknown,
    OneUnknown,
    OneKnown,
    SeveralKnown,
}

impl Urgency {
    pub fn of_run(run: &Run) -> Self {
        match run.effects_unknown {
            true => Self::OneUnknown,
            false => Self::OneKnown,
        }
    }

    pub fn of_cause(cause: &Cause) -> Self {
        match cause.alike.effects_unknown {
            true => Self::SeveralUnknown,
            false => Self::SeveralKnown,
        }
    }
}

/// What makes runs alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alike {
    pub agent: String,
    pub code_version: Option<String>,
    pub status: RunStatus,
    pub step: String,
    /// None: a lease ended with the step in flight.
    pub error: Option<String>,
    pub effects_unknown: bool,
}

impl Alike {
    /// Waiting runs make no group: a person answers one question at a time.
    pub fn of(run: &Run) -> Option<Self> {
        let at = run.at.as_ref()?;
        matches!(run.status, RunStatus::Crashed | RunStatus::Failed).then(|| Self {
            agent: run.agent.clone(),
            code_version: run.code_version.clone(),
            status: run.status,
            step: at.name.clone(),
            error: run.error_kind.clone(),
            effects_unknown: run.effects_unknown,
        })
    }

    /// The cause that a query asks for, if it names one in full.
    pub fn asked(query: &RunQuery) -> Option<Self> {
        let given = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        Some(Self {
            agent: query.agent.clone()?,
            code_version: given(query.version.as_ref()?),
            status: query.status?,
            step: query.step.clone()?,
            error: given(query.error.as_ref()?),
            effects_unknown: query.effects_unknown?,
        })
    }

    /// The query that lists exactly these runs.
    pub fn query(&self) -> RunQuery {
        RunQuery {
            agent: Some(self.agent.clone()),
            version: Some(self.code_version.clone().unwrap_or_default()),
            status: Some(self.status),
            step: Some(self.step.clone()),
            error: Some(self.error.clone().unwrap_or_default()),
            effects_unknown: Some(self.effects_unknown),
            ..RunQuery::default()
        }
    }

    /// Short, and the same for the same cause.
    pub fn id(&self) -> String {
        let version = self.code_version.as_deref().unwrap_or_default();
        let error = self.error.as_deref().unwrap_or_default();
        let parts = json!([
            self.agent,
            version,
            self.status,
            self.step,
            error,
            self.effects_unknown
        ]);
        Hash::of(&parts).to_string()[..32].to_owned()
    }

    /// What may be done about all of them, as far as effects go.
    pub fn effects(&self) -> &'static str {
        match (self.effects_unknown, self.status) {
            (true, _) => "effects unknown: look at each",
            (false, RunStatus::Crashed) => "No unknown effects. You can resume them together.",
            (false, _) => "no effects unknown",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::nouns::sample;

    fn stopped(status: RunStatus) -> Run {
        Run {
            status,
            at: Some(At {
                seq: 4,
                name: "embed_query".into(),
                status: StepStatus::Crashed,
            }),
            ..sample::run("a")
        }
    }

    #[test]
    fn a_cause_lists_the_runs_that_it_stands_for_and_no_others() {
        let run = stopped(RunStatus::Crashed);
        let alike = Alike::of(&run).unwrap();
        assert_eq!(Alike::asked(&alike.query()), Some(alike.clone()));
        assert!(alike.query().fits(&run));
        let others = [
            Run {
                effects_unknown: true,
                ..run.clone()
            },
            Run {
                error_kind: Some("Timeout".into()),
                ..run.clone()
            },
            Run {
                code_version: Some("2".into()),
                ..run.clone()
            },
        ];
        for other in others {
            assert!(!alike.query().fits(&other), "{other:?}");
            assert_ne!(Alike::of(&other).unwrap().id(), alike.id());
        }
    }

    #[test]
    fn what_a_card_says_holds_only_where_the_run_still_is() {
        let question = About {
            seq: 4,
            what: Matter::Question {
                title: "Go on?".into(),
                plain: true,
            },
        };
        let mut run = stopped(RunStatus::Waiting);
        assert!(!question.holds(&run), "a crashed step asks nothing");
        run.at.as_mut().unwrap().status = StepStatus::Waiting;
        assert!(question.holds(&run));
        run.at.as_mut().unwrap().seq = 5;
        assert!(!question.holds(&run), "another step");
        let failure = About {
            seq: 5,
            what: Matter::Failure {
                tries: 3,
                error: None,
            },
        };
        assert!(!failure.holds(&run), "it waits");
        run.status = RunStatus::Failed;
        assert!(failure.holds(&run));
    }

    #[test]
    fn unknown_effects_come_first_and_several_before_one() {
        let run = |effects_unknown| Run {
            effects_unknown,
            ..stopped(RunStatus::Crashed)
        };
        let cause = |effects_unknown| Cause {
            alike: Alike::of(&run(effects_unknown)).unwrap(),
            runs: 3,
            newest: Time(0),
            cost_usd: None,
            lease_end: None,
        };
        let mut lines = [
            Urgency::of_cause(&cause(false)),
            Urgency::of_run(&run(false)),
            Urgency::of_run(&run(true)),
            Urgency::of_cause(&cause(true)),
        ];
        lines.sort();
        let wanted = [
            Urgency::SeveralUnknown,
            Urgency::OneUnknown,
            Urgency::OneKnown,
            Urgency::SeveralKnown,
        ];
        assert_eq!(lines, wanted);
    }

    #[test]
    fn each_question_is_its_own() {
        assert_eq!(Alike::of(&stopped(RunStatus::Waiting)), None);
    }

    #[test]
    fn a_cause_says_that_a_lease_was_lost_only_where_it_was() {
        let how = |lease_end| {
            let cause = Cause {
                alike: Alike::of(&stopped(RunStatus::Crashed)).unwrap(),
                runs: 3,
                newest: Time(0),
                cost_usd: None,
                lease_end,
            };
            cause.how().to_owned()
        };
        assert_eq!(how(Some(LeaseEnd::Expiry)), "lease lost");
        assert_eq!(how(Some(LeaseEnd::Takeover)), "lease lost");
        assert_eq!(how(Some(LeaseEnd::Release)), "released by the worker");
        assert_eq!(how(None), "crashed mid-flight");
    }

    #[test]
    fn a_cause_says_what_is_known_about_effects() {
        let alike = Alike::of(&stopped(RunStatus::Crashed)).unwrap();
        assert_eq!(
            alike.effects(),
            "No unknown effects. You can resume them together."
        );
        let unknown = Alike {
            effects_unknown: true,
            ..alike
        };
        assert_eq!(unknown.effects(), "effects unknown: look at each");
    }
}
