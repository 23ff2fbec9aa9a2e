//! What follows when an agent says that an attempt failed.

use serde::{Deserialize, Serialize};

use crate::domain::nouns::step::{Effect, Recovery, RetryRule};

/// The longest pause between two attempts.
const BACKOFF_MAX_MS: i64 = 3_600_000;

/// Whether the failed attempt's effect may have happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum EffectKnown {
    None,
    Unknown,
}

/// What becomes of the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterFailure {
    /// Failed for now; `check` if the next attempt must look first.
    Retry { after_ms: i64, check: bool },
    /// Failed for good.
    Stop,
    /// An operator decides: it counts as crashed.
    Hold,
}

impl AfterFailure {
    /// Someone looks whether it happened before anything else: the next attempt, or an operator.
    pub fn must_look(self) -> bool {
        matches!(self, Self::Retry { check: true, .. } | Self::Hold)
    }
}

pub struct Failure<'a> {
    pub effect: Option<&'a Effect>,
    pub said: Option<EffectKnown>,
    pub recovery: Recovery,
    pub rule: RetryRule,
    pub retryable: bool,
    /// Failed attempts up to and with this one; crashed ones don't count.
    pub failures: i64,
}

impl Failure<'_> {
    fn effect_known(&self) -> EffectKnown {
        self.said.unwrap_or(match self.effect {
            Some(_) => EffectKnown::Unknown,
            None => EffectKnown::None,
        })
    }

    /// What the attempt did outside may have happened, whatever becomes of the step: a rewind or a fork must name it.
    pub fn leaves_unknown(&self) -> bool {
        self.effect.is_some() && self.effect_known() == EffectKnown::Unknown
    }
}

pub fn after(failure: &Failure<'_>) -> AfterFailure {
    let after_ms = backoff(failure.rule.backoff_ms, failure.failures);
    match (failure.effect_known(), failure.recovery) {
        (EffectKnown::Unknown, Recovery::Ask) => AfterFailure::Hold,
        (EffectKnown::Unknown, Recovery::Check) => AfterFailure::Retry {
            after_ms,
            check: true,
        },
        (EffectKnown::Unknown, Recovery::Retry) if failure.retryable => AfterFailure::Retry {
            after_ms,
            check: false,
        },
        (EffectKnown::None, _)
            if failure.retryable && failure.failures < failure.rule.max_attempts =>
        {
            AfterFailure::Retry {
                after_ms,
                check: false,
            }
        }
        _ => AfterFailure::Stop,
    }
}

/// backoff_ms · 2^(n−1), bounded.
fn backoff(first_ms: i64, n: i64) -> i64 {
    let doublings = u32::try_from(n - 1).unwrap_or(0).min(32);
    first_ms
        .saturating_mul(1 << doublings)
        .min(BACKOFF_MAX_MS.max(first_ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(said: Option<EffectKnown>, recovery: Recovery, failures: i64) -> AfterFailure {
        let rule = RetryRule {
            max_attempts: 3,
            backoff_ms: 100,
        };
        after(&Failure {
            effect: None,
            said,
            recovery,
            rule,
            retryable: true,
            failures,
        })
    }

    #[test]
    fn failures_back_off_and_stop_when_attempts_are_used_up() {
        let at = |n| failure(None, Recovery::Retry, n);
        assert_eq!(
            at(1),
            AfterFailure::Retry {
                after_ms: 100,
                check: false
            }
        );
        assert_eq!(
            at(2),
            AfterFailure::Retry {
                after_ms: 200,
                check: false
            }
        );
        assert_eq!(at(3), AfterFailure::Stop);
    }

    #[test]
    fn an_unknown_effect_is_never_a_plain_failure() {
        let at = |rule| failure(Some(EffectKnown::Unknown), rule, 9);
        assert_eq!(at(Recovery::Ask), AfterFailure::Hold);
        assert!(matches!(
            at(Recovery::Check),
            AfterFailure::Retry { check: true, .. }
        ));
        assert!(matches!(
            at(Recovery::Retry),
            AfterFailure::Retry { check: false, .. }
        ));
    }
}
