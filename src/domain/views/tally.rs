//! What a run's steps are besides committed, counted for a line of text.

use crate::domain::{
    nouns::{run::Run, status::StepStatus},
    views::words,
};

/// "1 crashed", "4 superseded". `but` is the status of one step that the reader is told of elsewhere.
pub fn others(run: &Run, but: Option<StepStatus>) -> Vec<String> {
    let rest = run.steps - run.committed - i64::from(but.is_some());
    if rest <= 0 {
        return Vec::new();
    }
    let strip = match run.strip.is_empty() {
        true => run.assumed_strip(),
        false => run.strip.clone(),
    };
    let counted = StepStatus::WORST_FIRST.into_iter();
    let counted = counted.filter(|it| !matches!(it, StepStatus::Committed | StepStatus::Pending));
    let counts: Vec<_> = counted
        .map(|status| {
            let n = strip.count(status) - i64::from(but == Some(status));
            (n, status)
        })
        .collect();
    // Where several steps share a cell, not all of them can be told apart.
    if counts.iter().map(|(n, _)| n).sum::<i64>() != rest {
        return vec![format!(
            "{} superseded or not committed",
            words::number(rest)
        )];
    }
    let some = counts.into_iter().filter(|(n, _)| *n > 0);
    some.map(|(n, status)| format!("{} {status}", words::number(n)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::nouns::sample;
    use StepStatus::{Committed, Crashed, Failed, Running, Superseded};

    /// A run whose last steps are these; those before are committed.
    fn run(steps: i64, last: &[StepStatus]) -> Run {
        let mut run = sample::run("a");
        let first = steps - last.len() as i64;
        for seq in 1..=first {
            run.strip.set(seq, Committed, 1);
        }
        for (seq, status) in (first + 1..).zip(last) {
            run.strip.set(seq, *status, 1);
        }
        (run.steps, run.committed) = (steps, first);
        run
    }

    #[test]
    fn what_was_rewound_past_is_not_called_uncommitted() {
        assert_eq!(others(&run(5, &[Superseded; 4]), None), ["4 superseded"]);
        let went_on = run(4, &[Superseded, Superseded, Running]);
        assert_eq!(others(&went_on, None), ["1 running", "2 superseded"]);
        assert_eq!(others(&went_on, Some(Running)), ["2 superseded"]);
    }

    #[test]
    fn each_status_is_counted_by_itself() {
        let mixed = run(3, &[Failed, Running]);
        assert_eq!(others(&mixed, None), ["1 failed", "1 running"]);
        assert!(others(&run(3, &[]), None).is_empty());
        assert_eq!(others(&run(47, &[Crashed]), None), ["1 crashed"]);
        assert!(others(&run(47, &[Crashed]), Some(Crashed)).is_empty());
    }

    #[test]
    fn of_a_long_run_nothing_is_claimed_that_its_strip_cannot_tell() {
        let long = run(200, &[Superseded; 4]);
        assert_eq!(others(&long, None), ["4 superseded or not committed"]);
        assert_eq!(others(&run(200, &[Crashed]), None), ["1 crashed"]);
    }
}
