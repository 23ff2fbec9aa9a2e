//! Times in which a run waited for a person: at a gate, or between a lease's end and the last decision before the next one.

use super::{Flag, Gap, Notable, Stretch};
use crate::domain::{Time, nouns::status::StepStatus, rules::decision::DecisionKind};

/// One such time, and the gates that were open in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    pub on: Stretch,
    /// It has not ended.
    pub open: bool,
    pub gates: Vec<i64>,
}

/// All waits for a person, in order and not overlapping. `end` is where the timeline ends; with `held` the run waits for a
/// person there. The time from the last decision to the next lease is a worker's time, not a person's.
pub fn waits(
    notables: &[Notable],
    gaps: &[Gap],
    flags: &[Flag],
    end: Time,
    held: bool,
) -> Vec<Wait> {
    let gates = notables.iter().filter_map(|it| at_gate(it, flags, end));
    let stops = gaps.iter().filter_map(|gap| stopped(gap, flags, held));
    let mut all: Vec<Wait> = gates.chain(stops).collect();
    all.sort_by_key(|wait| wait.on.from);
    let mut apart: Vec<Wait> = Vec::new();
    for wait in all {
        match apart.last_mut().filter(|last| wait.on.from <= last.on.to) {
            Some(last) => {
                last.on.to = last.on.to.max(wait.on.to);
                last.open |= wait.open;
                last.gates.extend(wait.gates);
            }
            None => apart.push(wait),
        }
    }
    apart
}

fn at_gate(step: &Notable, flags: &[Flag], end: Time) -> Option<Wait> {
    if !step.gate || step.damaged {
        return None;
    }
    let after = |flag: &&Flag| flag.at >= step.begun_at;
    let answered = || {
        let answers = flags.iter().filter(after);
        let own = answers.filter(|it| it.step == Some(step.seq) && it.kind.ends_gate());
        own.map(|it| it.at).next().or(step.ended_at)
    };
    let rewound = || {
        let back = flags.iter().filter(after);
        back.filter(|it| it.kind == DecisionKind::Rewind)
            .map(|it| it.at)
            .next()
    };
    let open = step.status == StepStatus::Waiting;
    let to = match step.was {
        StepStatus::Waiting if open => Some(end),
        StepStatus::Waiting => step.ended_at.or_else(rewound),
        _ if step.decision.is_some_and(DecisionKind::ends_gate) => answered(),
        _ => None,
    };
    to.filter(|to| *to > step.begun_at).map(|to| Wait {
        on: Stretch::new(step.begun_at.0, to.0),
        open,
        gates: vec![step.seq],
    })
}

fn stopped(gap: &Gap, flags: &[Flag], held: bool) -> Option<Wait> {
    let open = gap.open && held;
    let within = |flag: &&Flag| (gap.from..=gap.to).contains(&flag.at);
    let moved = flags
        .iter()
        .filter(within)
        .filter(|flag| flag.kind.moves_run())
        .map(|flag| flag.at)
        .next_back();
    let to = if open { Some(gap.to) } else { moved };
    to.filter(|to| *to > gap.from).map(|to| Wait {
        on: Stretch::new(gap.from.0, to.0),
        open,
        gates: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(seq: i64, from: i64, to: Option<i64>, decision: Option<DecisionKind>) -> Notable {
        let status = match decision {
            Some(_) => StepStatus::Committed,
            None => StepStatus::Waiting,
        };
        Notable {
            seq,
            status,
            was: status,
            gate: true,
            tries: 1,
            decision,
            begun_at: Time(from),
            ended_at: to.map(Time),
            damaged: false,
        }
    }

    fn flag(kind: DecisionKind, at: i64, step: Option<i64>) -> Flag {
        Flag {
            kind,
            author: "ana".into(),
            at: Time(at),
            step,
        }
    }

    fn gap(from: i64, to: i64, open: bool) -> Gap {
        Gap {
            from: Time(from),
            to: Time(to),
            open,
        }
    }

    #[test]
    fn a_gate_waits_until_its_answer_and_not_until_the_agent_folds_it_in() {
        let answered = gate(3, 100, Some(900), Some(DecisionKind::Approve));
        let flags = [flag(DecisionKind::Approve, 700, Some(3))];
        let found = waits(&[answered], &[], &flags, Time(1_000), false);
        let wait = Wait {
            on: Stretch::new(100, 700),
            open: false,
            gates: vec![3],
        };
        assert_eq!(found, [wait]);
    }

    #[test]
    fn an_open_gate_and_the_gap_around_it_are_one_wait_until_now() {
        let found = waits(
            &[gate(3, 100, None, None)],
            &[gap(150, 1_000, true)],
            &[],
            Time(1_000),
            true,
        );
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].on, found[0].open),
            (Stretch::new(100, 1_000), true)
        );
    }

    #[test]
    fn a_stop_waits_for_its_last_decision_and_then_for_a_worker() {
        let flags = [
            flag(DecisionKind::Edit, 300, None),
            flag(DecisionKind::Resume, 400, None),
            flag(DecisionKind::Note, 450, None),
        ];
        let gaps = [gap(100, 500, false), gap(600, 800, false)];
        let found = waits(&[], &gaps, &flags, Time(1_000), false);
        assert_eq!(found.len(), 1, "nobody decided in the second gap");
        assert_eq!(found[0].on, Stretch::new(100, 400));
    }
}
