//! What the head of a run says beside its status: where it comes from, what is not undone, what was decided last. The same
//! on its page and in the command line.

use crate::domain::{
    nouns::{ids::RunId, run::Run},
    rules::{
        decision::{Decision, DecisionKind, Gist},
        plan::LeftBehind,
    },
    views::words,
};

/// Above the effects that a rewind or a fork left behind.
pub const NOT_UNDONE: &str = "Not undone";

/// Decisions that stand open; the older ones are folded.
pub const DECISIONS_SHOWN: usize = 3;

/// Steps of one resume whose choices stand in its line.
const CHOSEN_MAX: usize = 5;

/// How a run came from its parent.
pub fn origin(run: &Run) -> &'static str {
    match run.forked_at {
        Some(_) => "forked from",
        None => "child of",
    }
}

/// A step of another run: "0198c1d2e3 step 47".
pub fn place(run: &str, seq: i64) -> String {
    format!("{run} step {}", words::number(seq))
}

/// An effect that is not undone: "43 refund in run 0198… · refund 12 € · stripe.refunds · happened".
pub fn left_behind(it: &LeftBehind) -> String {
    let origin = it.run.as_ref();
    let origin = origin.map_or(String::new(), |run| format!(" in run {run}"));
    let (seq, effect) = (words::number(it.seq), &it.effect);
    format!(
        "{seq} {}{origin} · {} · {} · {}",
        it.name,
        effect.words,
        effect.target,
        it.known()
    )
}

/// What follows a fork: it is `ready` as soon as it is made.
pub fn after_fork(agent: &str, step: i64) -> String {
    format!(
        "The new run needs no further decision: it is queued at once, and any worker of {agent} may take it from step {} on.",
        words::number(step)
    )
}

/// What a decision did, as it follows its author's name: "answered “Refund €120.00”", "resumed the run, step 47: it happened".
pub fn decided_what(it: &Decision) -> String {
    match words::answer(it) {
        Some(answer) => format!("answered “{answer}”"),
        None => words::did(it.kind, it) + &chosen(it),
    }
}

/// Whether a decision has a line of its own: a claim ("I'm on it") ends by itself and is said elsewhere while it lasts.
pub fn has_line(decision: &Decision) -> bool {
    decision.kind != DecisionKind::Claim
}

/// One decision about a run, as it follows who made it and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionLine {
    /// Between the time and what was done: a note follows a colon.
    pub lead: &'static str,
    pub what: String,
    /// The run that a fork made.
    pub fork: Option<RunId>,
    /// What an edit changed.
    pub change: Option<String>,
    pub why: Option<String>,
}

impl DecisionLine {
    pub fn of(it: &Decision) -> Self {
        let (lead, what) = match (&it.text, &it.new_run) {
            (Some(text), _) => (": ", text.clone()),
            (_, Some(_)) => (" ", forked(it.step)),
            _ => (" ", words::did(it.kind, it) + &chosen(it)),
        };
        Self {
            lead,
            what,
            fork: it.new_run.clone().filter(|_| it.text.is_none()),
            change: it.change.as_ref().map(Gist::said),
            why: it.reason.clone().filter(|_| it.text.is_none()),
        }
    }

    /// In one line, after the author's name.
    pub fn in_words(&self) -> String {
        let mut line = format!("{}{}", self.lead, self.what);
        let fork = self.fork.as_ref().map(RunId::as_str);
        for part in [fork, self.change.as_deref()].into_iter().flatten() {
            line.push_str(&format!(": {part}"));
        }
        if let Some(why) = &self.why {
            line.push_str(&format!(" “{why}”"));
        }
        line
    }
}

fn forked(step: Option<i64>) -> String {
    match step {
        Some(step) => format!("forked it from before step {}", words::number(step)),
        None => "forked it".into(),
    }
}

/// What a resume chose: ", step 47: it happened, result {"id":"ch_3Qk"}".
fn chosen(it: &Decision) -> String {
    let resumed = it.kind == DecisionKind::Resume;
    let chosen = it.chosen.iter().filter(|_| resumed).take(CHOSEN_MAX);
    let words = chosen.map(|it| {
        let result = it.result.as_ref();
        let result = result.map_or(String::new(), |it| format!(", result {}", it.said()));
        format!(
            ", step {}: {}{result}",
            words::number(it.step),
            it.in_words()
        )
    });
    words.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bare(kind: DecisionKind) -> Decision {
        Decision {
            reason: Some("they asked".into()),
            step: Some(1_043),
            ..Decision::bare(1, kind, "ana".into(), 7)
        }
    }

    #[test]
    fn a_decision_says_what_was_done_and_why_in_one_line() {
        let said = |it: &Decision| DecisionLine::of(it).in_words();
        assert_eq!(
            said(&bare(DecisionKind::Rewind)),
            " rewound the run to before step 1,043 “they asked”"
        );
        let fork = Decision {
            new_run: RunId::try_from("other".to_owned()).ok(),
            ..bare(DecisionKind::Fork)
        };
        assert_eq!(
            said(&fork),
            " forked it from before step 1,043: other “they asked”"
        );
        let note = Decision {
            text: Some("called the bank".into()),
            reason: None,
            ..bare(DecisionKind::Note)
        };
        assert_eq!(said(&note), ": called the bank");
    }
}
