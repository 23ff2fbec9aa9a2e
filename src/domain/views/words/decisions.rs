//! What people decide in words: what a button says, what was done, and what somebody did.

use super::number;
use crate::domain::rules::decision::{Decision, DecisionKind};

/// What an operator did, in the past.
pub fn decided(kind: DecisionKind) -> &'static str {
    match kind {
        DecisionKind::Retry => "retried by hand",
        DecisionKind::Commit => "committed by hand",
        DecisionKind::Skip => "skipped",
        DecisionKind::Approve => "approved",
        DecisionKind::Reject => "rejected",
        DecisionKind::Answer => "answered",
        DecisionKind::Edit => "state edited",
        DecisionKind::Rewind => "rewound",
        DecisionKind::Fork => "forked",
        DecisionKind::Resume => "resumed",
        DecisionKind::Pause => "pause requested",
        DecisionKind::Cancel => "cancelled",
        DecisionKind::Note => "note",
        DecisionKind::Pin => "pinned",
        DecisionKind::Claim => "is on it",
        DecisionKind::Acknowledge => "acknowledged",
    }
}

/// What the reader did a moment ago, with what they answered: "You answered “Refund €120.00”."
pub fn you_decided(decision: &Decision) -> String {
    let did = decided(decision.kind);
    match answer(decision) {
        Some(answer) => format!("You {did} “{answer}”."),
        None => format!("You {did}."),
    }
}

/// What was answered, as it was offered: "Refund €120.00".
pub fn answer(decision: &Decision) -> Option<String> {
    let chosen = decision.chosen.first()?;
    let answers = decision.kind == DecisionKind::Answer;
    let result = chosen.result.as_ref().filter(|_| answers)?;
    Some(result.as_answer())
}

/// What a button says that approves: "Send €120.00 back?" without its question mark.
pub fn approve(question: &str) -> String {
    format!("Approve: {}", question.trim_end().trim_end_matches('?'))
}

/// What somebody did about a run, as it follows their name: "paused the run".
pub fn did(kind: DecisionKind, decision: &Decision) -> String {
    let at = |what: &str| match decision.step {
        Some(step) => format!("{what} step {}", number(step)),
        None => what.to_owned(),
    };
    match kind {
        DecisionKind::Retry => at("ordered a retry of"),
        DecisionKind::Commit => at("committed a result for"),
        DecisionKind::Skip => at("skipped"),
        DecisionKind::Approve => at("approved"),
        DecisionKind::Reject => at("rejected"),
        DecisionKind::Answer => at("answered"),
        DecisionKind::Edit => "edited the state".into(),
        DecisionKind::Rewind => rewound(decision),
        DecisionKind::Fork => at("forked the run from before"),
        DecisionKind::Resume => "resumed the run".into(),
        DecisionKind::Pause => "paused the run".into(),
        DecisionKind::Cancel => "cancelled the run".into(),
        DecisionKind::Note => "noted".into(),
        DecisionKind::Pin => "pinned the run".into(),
        DecisionKind::Claim => "is on it".into(),
        DecisionKind::Acknowledge => "acknowledged it".into(),
    }
}

/// "rewound the run to before step 43"
pub fn rewound(decision: &Decision) -> String {
    match decision.step {
        Some(step) => format!("rewound the run to before step {}", number(step)),
        None => "rewound the run".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_becomes_what_is_approved() {
        let said = approve("Send €120.00 back to the customer?");
        assert_eq!(said, "Approve: Send €120.00 back to the customer");
        assert_eq!(approve("Deploy"), "Approve: Deploy");
    }
}
