//! What nobody knows of an attempt that ended mid-flight, said the same wherever its step is shown. A commit, or a retry
//! with a new key, says what became of it; a skip or a cancel says nothing about the world outside.

use super::plan::EffectAhead;
use crate::domain::nouns::{
    status::{RunStatus, StepStatus},
    step::{Step, StepDetail},
};

/// What is said of an effect once nobody will decide about it any more.
pub const UNCHECKED: &str = "may have happened; nobody checked";

/// An attempt whose effect may have happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Doubt {
    attempt: i64,
    effect: EffectAhead,
}

impl Doubt {
    pub fn of(attempt: i64, effect: &EffectAhead) -> Option<Self> {
        effect.unknown.then(|| Self {
            attempt,
            effect: effect.clone(),
        })
    }

    /// "attempt 1 may have happened: charge €1,249.00 to cus_R91 (stripe.charges), key r:47"
    pub fn in_words(&self) -> String {
        let effect = self.effect.in_full();
        format!("attempt {} may have happened: {effect}", self.attempt)
    }
}

impl Step {
    /// The attempt of which nobody knows whether it happened: the step crashed mid-flight, whether it was skipped since or not.
    pub fn doubt(&self) -> Option<Doubt> {
        let stands = matches!(self.stood(), StepStatus::Crashed | StepStatus::Skipped);
        let effect = self.effect.as_ref().filter(|_| stands && !self.damaged)?;
        let effect = EffectAhead {
            key: Some(self.idempotency_key.clone()),
            unknown: self.effect_unknown,
            ..EffectAhead::announced(effect)
        };
        Doubt::of(self.tries, &effect)
    }

    /// It was skipped, and whether its last attempt happened is still not known.
    pub fn skipped_in_doubt(&self) -> bool {
        self.stood() == StepStatus::Skipped && self.doubt().is_some()
    }
}

impl StepDetail {
    /// The same with the key that this attempt sent: the step's own may have been replaced since.
    pub fn doubt(&self) -> Option<Doubt> {
        let mut doubt = self.step.doubt()?;
        let sent = self.attempts.iter().find(|it| it.attempt == doubt.attempt);
        if let Some(key) = sent.and_then(|it| it.idempotency_key.clone()) {
            doubt.effect.key = Some(key);
        }
        Some(doubt)
    }
}

/// Whether a run was given up with an effect that nobody looked at: that stays said until someone acknowledges it.
pub fn unchecked(status: RunStatus, effects_unknown: bool, acknowledged: bool) -> bool {
    status == RunStatus::Cancelled && effects_unknown && !acknowledged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(words: &str, unknown: bool) -> EffectAhead {
        EffectAhead {
            words: words.into(),
            target: "stripe.charges".into(),
            key: Some("r:47".into()),
            dedupe_ms: None,
            window_ends: None,
            window_over: false,
            unknown,
        }
    }

    #[test]
    fn a_doubt_names_the_attempt_its_effect_and_the_key() {
        let said = |words| Doubt::of(2, &effect(words, true)).unwrap().in_words();
        assert_eq!(
            said("charge €1,249.00 to cus_R91"),
            "attempt 2 may have happened: charge €1,249.00 to cus_R91 (stripe.charges), key r:47"
        );
        assert_eq!(
            said("stripe.charges"),
            "attempt 2 may have happened: stripe.charges, key r:47"
        );
        assert_eq!(Doubt::of(1, &effect("charge", false)), None);
    }

    #[test]
    fn only_a_cancelled_run_leaves_its_effects_unchecked_until_they_are_acknowledged() {
        for &status in RunStatus::ALL {
            let left = unchecked(status, true, false);
            assert_eq!(left, status == RunStatus::Cancelled, "{status}");
            assert!(!unchecked(status, false, false) && !unchecked(status, true, true));
        }
    }
}
