//! The inbox: every question that waits for a person, oldest first.

use serde::{Deserialize, Serialize};

use crate::domain::{
    nouns::{
        ids::{RunId, StepKey},
        status::RunStatus,
        step::Gate,
        time::Time,
    },
    rules::decision::{Decision, DecisionKind},
};

/// A gate without an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InboxItem {
    pub run: RunId,
    pub title: Option<String>,
    pub agent: String,
    pub status: RunStatus,
    /// The run version that an answer is based on.
    pub version: i64,
    pub seq: i64,
    pub key: StepKey,
    pub name: String,
    pub gate: Gate,
    /// Since when it waits.
    pub since: Time,
    /// The change of state that led here: between these two snapshots. None if the state is the initial one.
    pub change: Option<(i64, i64)>,
    /// Who asked.
    pub worker: String,
}

/// A page of the inbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InboxPage {
    pub items: Vec<InboxItem>,
    /// Questions that cannot be shown, by run and step: what they ask is damaged in the store.
    pub damaged: Vec<(RunId, i64)>,
    pub next: Option<String>,
    /// The store's clock when it was read.
    pub now: Time,
}

/// The decision after which a question at this step waited no longer, among those about its run, newest first.
pub fn settled_by(decisions: &[Decision], seq: i64, since: Time) -> Option<&Decision> {
    use DecisionKind::{Answer, Approve, Cancel, Reject, Rewind, Skip};
    let settles = |it: &&Decision| match it.kind {
        Approve | Reject | Answer | Skip => it.step == Some(seq),
        Rewind => it.step.is_some_and(|first| first <= seq),
        Cancel => true,
        _ => false,
    };
    decisions.iter().filter(|it| it.at >= since).find(settles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_answered_the_question_settled_it_and_nobody_before_it_was_asked() {
        let made = |id, kind, step, at| Decision {
            step,
            at: Time(at),
            ..Decision::bare(id, kind, "ana".into(), 1)
        };
        let all = [
            made(4, DecisionKind::Note, Some(13), 40),
            made(3, DecisionKind::Answer, Some(13), 30),
            made(2, DecisionKind::Answer, Some(12), 20),
            made(1, DecisionKind::Rewind, Some(9), 10),
        ];
        let by = |seq, since| settled_by(&all, seq, Time(since)).map(|it| it.id);
        assert_eq!(by(13, 25), Some(3));
        assert_eq!(by(13, 35), None, "before it was asked");
        assert_eq!(by(11, 5), Some(1), "the run went back to before it");
        assert_eq!(by(8, 5), None);
    }
}
