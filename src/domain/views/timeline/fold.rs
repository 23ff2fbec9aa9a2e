//! Idle times that are too long to be drawn to scale.

use super::{Bar, Stretch};

/// An idle time is long from this share of the window on.
const SHARE: f64 = 0.05;

/// The long times within `window` that no bar covers. `bars` come in the order they begin.
pub fn folds(window: Stretch, bars: &[Bar]) -> Vec<Stretch> {
    let long = ((window.length() as f64 * SHARE) as i64).max(2);
    // A little of each stays visible on both sides.
    let edge = window.length() / 200;
    let mut covered = window.from;
    let mut found = Vec::new();
    let ends = bars
        .iter()
        .map(|bar| (bar.from.0, bar.to.0))
        .chain([(window.to, window.to)]);
    for (from, to) in ends {
        if from - covered > long {
            found.push(Stretch::new(covered + edge, from - edge));
        }
        covered = covered.max(to);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Time, views::timeline::Look};

    fn bar(from: i64, to: i64) -> Bar {
        Bar {
            first: 1,
            last: 1,
            from: Time(from),
            to: Time(to),
            look: Look::Committed,
            lane: 0,
            name: None,
        }
    }

    #[test]
    fn only_long_idle_times_fold_also_the_one_until_now() {
        let window = Stretch::new(0, 10_000);
        let bars = [bar(0, 1_000), bar(1_200, 2_000), bar(6_000, 6_500)];
        let found = folds(window, &bars);
        assert_eq!(
            found,
            [Stretch::new(2_050, 5_950), Stretch::new(6_550, 9_950)]
        );
    }

    #[test]
    fn a_long_step_under_short_ones_is_not_idle() {
        let window = Stretch::new(0, 1_000);
        assert!(folds(window, &[bar(0, 1_000), bar(100, 200)]).is_empty());
    }
}
