//! Times that are too long to be drawn to scale: what people took, and long idle times.

use serde::{Deserialize, Serialize};

use super::{Bar, Stretch, Wait, between};
use crate::domain::views::words;

/// An idle time is long from this share of the rest on.
const IDLE_SHARE: f64 = 0.05;
/// Idle times are left out by themselves once they are this share of what people left of the window.
const MOSTLY_IDLE: f64 = 0.5;
/// What people took is left out from this share of the rest on: a fold takes about as much room.
const PERSON_SHARE: f64 = 0.02;
/// The longest ones fold.
const FOLDS_MAX: usize = 24;

/// A time that takes no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fold {
    pub from: i64,
    pub to: i64,
    /// The run waited for a person; said once for each wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<Waited>,
}

/// For how long in all, and whether it still does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waited {
    pub ms: i64,
    pub open: bool,
}

impl Waited {
    /// "waited 1h 03m for a person"
    pub fn words(self) -> String {
        let verb = if self.open { "waiting" } else { "waited" };
        format!("{verb} {} for a person", words::span(self.ms))
    }
}

impl Fold {
    pub fn on(self) -> Stretch {
        Stretch::new(self.from, self.to)
    }

    /// How long it is, and what for if that is known.
    pub fn words(self) -> String {
        self.person.map_or_else(|| self.short(), Waited::words)
    }

    /// "⋯ 3d 04h"
    pub fn short(self) -> String {
        let ms = self
            .person
            .map_or((self.to - self.from) / 1_000, |it| it.ms);
        format!("⋯ {}", words::span(ms))
    }
}

/// What is left out of `window`, and how much of it could be. `asked` is the reader's choice: nothing, or everything that is
/// long. Without one, what people took is left out, and idle times where they are most of the rest.
pub fn folds(
    window: Stretch,
    bars: &[Bar],
    waits: &[Wait],
    asked: Option<bool>,
) -> (Vec<Fold>, i64) {
    let free = between(window, &covered(window, bars, waits));
    let mut people: Vec<(Stretch, &Wait)> = Vec::new();
    let mut idle: Vec<Stretch> = Vec::new();
    for stretch in free {
        let mut at = stretch.from;
        for wait in waits {
            let (from, to) = (wait.on.from.max(at), wait.on.to.min(stretch.to));
            if from >= to {
                continue;
            }
            if from > at {
                idle.push(Stretch::new(at, from));
            }
            people.push((Stretch::new(from, to), wait));
            at = to;
        }
        if at < stretch.to {
            idle.push(Stretch::new(at, stretch.to));
        }
    }
    let length = |it: &Stretch| it.length();
    let rest = window.length() - people.iter().map(|(it, _)| length(it)).sum::<i64>();
    idle.retain(|it| length(it) > ((rest as f64 * IDLE_SHARE) as i64).max(2));
    let idle_sum: i64 = idle.iter().map(length).sum();
    let folds_idle = asked.unwrap_or(idle_sum as f64 > MOSTLY_IDLE * rest as f64);
    let work = (rest - if folds_idle { idle_sum } else { 0 }).max(1);
    people.retain(|(it, _)| length(it) as f64 > work as f64 * PERSON_SHARE);
    let all = idle_sum + people.iter().map(|(it, _)| length(it)).sum::<i64>();
    if asked == Some(false) {
        return (Vec::new(), all);
    }
    let mut folds = said(&people);
    if folds_idle {
        // A little of each stays visible on both sides.
        let edge = work / 200;
        folds.extend(idle.iter().map(|it| Fold {
            from: it.from + edge,
            to: it.to - edge,
            person: None,
        }));
    }
    folds.retain(|it| it.from < it.to);
    folds.sort_by_key(|it| it.from - it.to);
    folds.truncate(FOLDS_MAX);
    folds.sort_by_key(|it| it.from);
    (folds, all)
}

/// The part of `window` that bars cover, in order and apart. A gate that waits for a person covers nothing meanwhile.
fn covered(window: Stretch, bars: &[Bar], waits: &[Wait]) -> Vec<Stretch> {
    let mut pieces: Vec<Stretch> = Vec::with_capacity(bars.len());
    for bar in bars {
        let whole = Stretch::new(bar.from.0, bar.to.0);
        let own = |wait: &&Wait| {
            let mut gates = wait.gates.iter();
            gates.any(|seq| (bar.first..=bar.last).contains(seq))
        };
        let cut: Vec<Stretch> = waits
            .iter()
            .filter(own)
            .map(|wait| wait.on)
            .filter(|it| it.from < whole.to && it.to > whole.from)
            .collect();
        pieces.extend(between(whole, &cut));
    }
    pieces.retain(|it| it.from < window.to && it.to > window.from);
    pieces.sort_by_key(|it| it.from);
    let mut apart: Vec<Stretch> = Vec::new();
    for piece in pieces {
        let piece = piece.within(window);
        match apart.last_mut().filter(|last| piece.from <= last.to) {
            Some(last) => last.to = last.to.max(piece.to),
            None => apart.push(piece),
        }
    }
    apart
}

/// The longest piece of each wait says how long that was.
fn said(people: &[(Stretch, &Wait)]) -> Vec<Fold> {
    let longest = |piece: &Stretch, wait: &Wait| {
        let same = people.iter().filter(|(_, it)| it.on == wait.on);
        same.max_by_key(|(it, _)| it.length())
            .is_some_and(|(it, _)| it == piece)
    };
    let fold = |(piece, wait): &(Stretch, &Wait)| Fold {
        from: piece.from,
        to: piece.to,
        person: longest(piece, wait).then(|| Waited {
            ms: wait.on.length() / 1_000,
            open: wait.open,
        }),
    };
    people.iter().map(fold).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        Time,
        views::timeline::{Look, Scale, WIDTH},
    };

    const MS: i64 = 1_000;
    const HOUR: i64 = 3_600_000 * MS;

    fn bar(seq: i64, from: i64, to: i64) -> Bar {
        Bar {
            first: seq,
            last: seq,
            from: Time(from),
            to: Time(to),
            look: Look::Committed,
            lane: 0,
            name: None,
        }
    }

    fn wait(from: i64, to: i64, gates: &[i64]) -> Wait {
        Wait {
            on: Stretch::new(from, to),
            open: false,
            gates: gates.to_vec(),
        }
    }

    fn on(folds: &[Fold]) -> Vec<Stretch> {
        folds.iter().map(|it| it.on()).collect()
    }

    #[test]
    fn only_long_idle_times_fold_also_the_one_until_now() {
        let window = Stretch::new(0, 10_000);
        let bars = [bar(1, 0, 1_000), bar(2, 1_200, 2_000), bar(3, 6_000, 6_500)];
        let (found, idle) = folds(window, &bars, &[], None);
        let expected = [Stretch::new(2_012, 5_988), Stretch::new(6_512, 9_988)];
        assert_eq!(on(&found), expected);
        assert_eq!(idle, 7_500);
        assert_eq!(folds(window, &bars, &[], Some(false)), (vec![], 7_500));
    }

    #[test]
    fn a_long_step_under_short_ones_is_not_idle() {
        let window = Stretch::new(0, 1_000);
        let bars = [bar(1, 0, 1_000), bar(2, 100, 200)];
        assert_eq!(folds(window, &bars, &[], Some(true)), (vec![], 0));
    }

    /// Ten steps of two milliseconds, one after another, and an hour at a gate between them.
    #[test]
    fn steps_of_milliseconds_keep_their_width_beside_an_hour_at_a_gate() {
        let answer = 10 * MS + HOUR + 180_000 * MS;
        let mut bars: Vec<_> = (0..5)
            .map(|n| bar(n + 1, 2 * MS * n, 2 * MS * (n + 1)))
            .collect();
        bars.push(bar(6, 10 * MS, answer));
        bars.extend((0..5).map(|n| bar(n + 7, answer + 2 * MS * n, answer + 2 * MS * (n + 1))));
        let window = Stretch::new(0, answer + 10 * MS);
        let (found, _) = folds(window, &bars, &[wait(10 * MS, answer, &[6])], None);
        assert_eq!(on(&found), [Stretch::new(10 * MS, answer)]);
        assert_eq!(found[0].words(), "waited 1h 03m for a person");
        let scale = Scale::new(window, &on(&found), WIDTH);
        for bar in bars.iter().filter(|bar| bar.first != 6) {
            let width = scale.x(bar.to.0) - scale.x(bar.from.0);
            assert!(width > 0.09 * WIDTH, "step {}: {width}", bar.first);
        }
        let gate = scale.x(answer) - scale.x(10 * MS);
        assert!(gate < 0.03 * WIDTH, "the gate is a thin mark: {gate}");
    }

    #[test]
    fn what_runs_while_a_person_is_asked_is_not_left_out() {
        let window = Stretch::new(0, 1_000);
        let bars = [bar(1, 0, 900), bar(2, 100, 500), bar(3, 900, 1_000)];
        let (found, _) = folds(window, &bars, &[wait(0, 900, &[1])], None);
        assert_eq!(on(&found), [Stretch::new(0, 100), Stretch::new(500, 900)]);
        let said: Vec<_> = found.iter().map(|it| it.person.is_some()).collect();
        assert_eq!(said, [false, true], "the wait is said once");
    }

    #[test]
    fn a_short_answer_is_drawn_to_scale() {
        let window = Stretch::new(0, 10_000);
        let bars = [
            bar(1, 0, 5_000),
            bar(2, 5_000, 5_100),
            bar(3, 5_100, 10_000),
        ];
        let (found, _) = folds(window, &bars, &[wait(5_000, 5_100, &[2])], None);
        assert_eq!(found, []);
    }

    #[test]
    fn folds_are_bounded() {
        let bars: Vec<_> = (0..500).map(|n| bar(n, n * 100, n * 100 + 1)).collect();
        let waits: Vec<_> = (0..500)
            .map(|n| wait(n * 100 + 1, n * 100 + 99, &[]))
            .collect();
        let (found, _) = folds(Stretch::new(0, 50_000), &bars, &waits, None);
        assert_eq!(found.len(), FOLDS_MAX);
        assert!(found.is_sorted_by_key(|it| it.from));
    }
}
