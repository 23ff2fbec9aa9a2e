//! Why a step is replayed, executed, checked, given, or waits: in words, for people.

use super::{EffectAhead, PlanAction, StepFacts};
use crate::domain::{
    nouns::status::StepStatus,
    rules::{decision::DecisionKind, doubt::Doubt},
};

pub(super) fn why(step: &StepFacts, action: PlanAction, effect: Option<&EffectAhead>) -> String {
    let said = said(step, action, effect);
    // A skip says what the agent gets, not whether the attempt before it happened.
    let skipped = effect.filter(|_| step.status == StepStatus::Skipped);
    match skipped.and_then(|effect| Doubt::of(step.tries, effect)) {
        Some(doubt) => format!("{said}; {}", doubt.in_words()),
        None => said,
    }
}

fn said(step: &StepFacts, action: PlanAction, effect: Option<&EffectAhead>) -> String {
    match action {
        PlanAction::Replay if step.status == StepStatus::Failed => {
            "it failed: the agent gets the same error again and continues as before".into()
        }
        PlanAction::Replay => "its result is read from the store, not executed again".into(),
        PlanAction::Execute => executed(step, effect),
        PlanAction::Check => {
            "the agent first checks whether it happened, and does it only if not".into()
        }
        PlanAction::Given => {
            let by = step.decision.map_or("an operator settled it", settled);
            format!("{by}: the agent gets that result and adds it to the state once")
        }
        PlanAction::Wait => "a gate that nobody has answered".into(),
        PlanAction::Decide => undecided(step, effect),
        PlanAction::Expected => "announced; the agent may choose other steps".into(),
    }
}

fn settled(decision: DecisionKind) -> &'static str {
    match decision {
        DecisionKind::Commit => "an operator found that it happened",
        DecisionKind::Skip => "an operator skipped it",
        DecisionKind::Approve => "an operator approved it",
        DecisionKind::Reject => "an operator rejected it",
        DecisionKind::Answer => "an operator answered it",
        _ => "an operator settled it",
    }
}

fn executed(step: &StepFacts, effect: Option<&EffectAhead>) -> String {
    let ordered = step.decision == Some(DecisionKind::Retry);
    let base = match step.status {
        StepStatus::Running => "it is under way",
        _ if ordered => "an operator decided to run it again",
        StepStatus::Failed => "it failed and has attempts left",
        StepStatus::Crashed => "it crashed mid-flight and is safe to run again",
        StepStatus::Pending
        | StepStatus::Committed
        | StepStatus::Waiting
        | StepStatus::Skipped
        | StepStatus::Superseded => "it has not been executed",
    };
    match effect {
        Some(effect) if effect.unknown => {
            format!(
                "{base} with the key {}; {}",
                step.idempotency_key,
                effect.same_key()
            )
        }
        Some(_) if ordered => format!("{base} with the key {}", step.idempotency_key),
        _ => base.into(),
    }
}

fn undecided(step: &StepFacts, effect: Option<&EffectAhead>) -> String {
    match (effect, step.status) {
        (Some(_), _) if step.evidence.is_some() => {
            "effect unknown, but its worker sent the result too late: look at that evidence, then choose"
                .into()
        }
        (Some(effect), StepStatus::Crashed) => {
            format!("effect unknown: look at {}, then choose", effect.target)
        }
        (_, StepStatus::Crashed) => "it crashed mid-flight; a person must decide".into(),
        (Some(effect), _) if effect.unknown => format!(
            "the run failed here, and its effect may have happened: look at {}, then run it again, commit its result, or skip it",
            effect.target
        ),
        _ => "the run failed here: run it again, commit its result, or skip it".into(),
    }
}
