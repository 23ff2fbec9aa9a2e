//! A run and a step as their page shows them: what agents wrote, as text of bounded length.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::{
    nouns::{
        attempt::{Attempt, Outcome},
        run::{Announced, Link, OnCrash, Run, RunDetail},
        step::{AgentError, StepDetail},
        time::Time,
    },
    rules::{
        lease::LeaseEnd,
        plan::{LeftBehind, Plan, PlanAction, Saved},
    },
    views::words,
};

/// Text shown of one value at most; the API has the whole of it.
const EXCERPT_MAX: usize = 20_000;

/// Announced steps shown at most.
pub const ANNOUNCED_MAX: usize = 20;

/// The beginning of a text that may be long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excerpt {
    pub text: String,
    /// The length of the whole, in bytes.
    pub bytes: i64,
}

impl Excerpt {
    /// A value as indented JSON, a string as itself; `null` is nothing.
    pub fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Null => None,
            Value::String(text) => Some(Self::cut(text)),
            value => Some(Self::cut(
                &serde_json::to_string_pretty(value).unwrap_or_default(),
            )),
        }
    }

    pub fn cut(text: &str) -> Self {
        let end = text.floor_char_boundary(EXCERPT_MAX);
        Self {
            text: text[..end].to_owned(),
            bytes: text.len() as i64,
        }
    }

    /// Bytes that are not shown.
    pub fn left_out(&self) -> i64 {
        self.bytes - self.text.len() as i64
    }
}

/// What other rows than its own say of a run: what it goes on with, and what happened to it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Aftermath {
    /// What is not paid again, as the plan has it.
    pub saved: Option<Saved>,
    /// When its newest lease ended, and how.
    pub lease_ended: Option<(Time, LeaseEnd)>,
    /// Effects of steps that crashed: nobody knows whether they happened.
    #[serde(default)]
    pub unknown: Vec<LeftBehind>,
    /// Who cancelled it, and when.
    #[serde(default)]
    pub cancelled: Option<(String, Time)>,
    /// It was rewound to before this step, and nothing has moved it since.
    pub rewound_to: Option<i64>,
    /// Effects that were left behind, until the run ends or someone acknowledges them.
    pub not_undone: Vec<LeftBehind>,
    /// What the next worker does, while the run waits for one.
    #[serde(default)]
    pub ahead: Option<Ahead>,
}

/// How many steps of a plan go which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ahead {
    pub replayed: i64,
    pub executed: i64,
    pub checked: i64,
    pub given: i64,
}

impl Ahead {
    pub fn of(plan: &Plan) -> Self {
        Self {
            replayed: plan.count(PlanAction::Replay),
            executed: plan.count(PlanAction::Execute),
            checked: plan.count(PlanAction::Check),
            given: plan.count(PlanAction::Given),
        }
    }

    /// "46 replayed, 1 executed"
    pub fn in_words(self) -> String {
        let said = [
            (self.replayed, "replayed"),
            (self.executed, "executed"),
            (self.checked, "checked first"),
            (self.given, "given a result"),
        ];
        let said = said.into_iter().filter(|(n, _)| *n > 0);
        let said: Vec<_> = said
            .map(|(n, what)| format!("{} {what}", words::number(n)))
            .collect();
        said.join(", ")
    }
}

/// A run with its values as excerpts and the announced steps that come next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunSheet {
    pub run: Run,
    pub input: Option<Excerpt>,
    pub result: Option<Excerpt>,
    pub error: Option<AgentError>,
    pub links: Vec<Link>,
    pub on_crash: OnCrash,
    pub max_recoveries: i64,
    pub recoveries: i64,
    pub announced: Vec<Announced>,
    /// How long the step that is under way usually takes.
    pub usual: Option<Usual>,
    #[serde(default)]
    pub after: Aftermath,
}

/// How long a step took before, and what that is known from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usual {
    pub median_ms: i64,
    /// Earlier steps of the same name in the same run.
    pub of: i64,
}

impl Usual {
    /// Fewer than this many say nothing.
    const MIN: usize = 5;
    /// From this many times the usual on, it is slow; never within the first seconds.
    const SLOW: i64 = 3;
    const SLOW_MIN_MS: i64 = 5_000;

    pub fn of(mut durations: Vec<i64>) -> Option<Self> {
        durations.sort_unstable();
        let median = durations.get(durations.len() / 2).copied();
        let known = durations.len() >= Self::MIN;
        median.filter(|_| known).map(|median_ms| Self {
            median_ms,
            of: durations.len() as i64,
        })
    }

    pub fn is_slow(self, ms: i64) -> bool {
        ms > (self.median_ms * Self::SLOW).max(Self::SLOW_MIN_MS)
    }
}

impl RunSheet {
    pub fn of(detail: RunDetail, usual: Option<Usual>, after: Aftermath) -> Self {
        let announced: Vec<_> = detail.pending().take(ANNOUNCED_MAX).cloned().collect();
        Self {
            input: Excerpt::of(&detail.input),
            result: detail.result.as_ref().and_then(Excerpt::of),
            error: detail.error,
            links: detail.links,
            on_crash: detail.on_crash,
            max_recoveries: detail.max_recoveries,
            recoveries: detail.recoveries,
            announced,
            usual,
            after,
            run: detail.run,
        }
    }
}

/// A step with its values as excerpts; in `detail` they are taken out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepSheet {
    pub detail: StepDetail,
    pub input: Option<Excerpt>,
    pub result: Option<Excerpt>,
    /// The newest attempt's last progress.
    pub partial: Option<Excerpt>,
    /// What a worker sent after it had lost its lease.
    pub evidence: Option<Excerpt>,
    /// What a gate's question is about.
    pub context: Option<Excerpt>,
    /// The newest attempt's stack.
    pub stack: Option<Excerpt>,
    /// How the lease ended under which a worker tried last; unknown where nothing sound says it.
    #[serde(default)]
    pub lease_end: Option<LeaseEnd>,
}

impl StepSheet {
    pub fn of(mut detail: StepDetail) -> Self {
        let input = Excerpt::of(&detail.input.take());
        let result = Excerpt::of(&detail.result.take());
        let context = detail.gate.as_mut().and_then(|gate| gate.context.take());
        let (mut partial, mut evidence, mut stack) = (None, None, None);
        for attempt in &mut detail.attempts {
            attempt.input = None;
            partial = attempt.partial.take().or(partial);
            if let Some(late) = &mut attempt.evidence {
                evidence = Some(late.result.take());
            }
            stack = attempt
                .error
                .as_mut()
                .and_then(|error| error.stack.take())
                .or(stack);
        }
        if let Some(error) = &mut detail.error {
            stack = error.stack.take().or(stack);
        }
        Self {
            input,
            result,
            partial: partial.as_ref().and_then(Excerpt::of),
            evidence: evidence.as_ref().and_then(Excerpt::of),
            context: context.as_ref().and_then(Excerpt::of),
            stack: stack.as_deref().map(Excerpt::cut),
            lease_end: None,
            detail,
        }
    }

    /// The newest attempt of a worker: a result that an operator gave is an attempt too.
    pub fn by_worker(&self) -> Option<&Attempt> {
        let by_worker = |it: &&Attempt| it.outcome != Outcome::Given;
        self.detail.attempts.iter().rfind(by_worker)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_is_measured_against_what_is_usual_and_says_nothing_without_history() {
        assert_eq!(Usual::of(vec![2_000; 4]), None);
        let usual = Usual::of(vec![2_000, 1_900, 2_100, 9_000, 2_000]).unwrap();
        assert_eq!((usual.median_ms, usual.of), (2_000, 5));
        assert!(usual.is_slow(6_001) && !usual.is_slow(5_900));
        let quick = Usual::of(vec![10; 9]).unwrap();
        assert!(!quick.is_slow(4_000), "seconds are never slow");
    }

    #[test]
    fn a_long_text_is_cut_between_characters_and_says_how_much_is_left_out() {
        let long = "é".repeat(15_000);
        let excerpt = Excerpt::of(&Value::String(long)).unwrap();
        assert_eq!(excerpt.text.len(), EXCERPT_MAX);
        assert_eq!(excerpt.left_out(), 10_000);
    }

    #[test]
    fn what_is_ahead_is_counted_by_what_happens_to_a_step() {
        let ahead = Ahead {
            replayed: 1_046,
            executed: 1,
            checked: 0,
            given: 0,
        };
        assert_eq!(ahead.in_words(), "1,046 replayed, 1 executed");
    }

    #[test]
    fn nothing_is_shown_for_null() {
        assert_eq!(Excerpt::of(&Value::Null), None);
    }
}
