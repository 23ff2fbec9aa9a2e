//! Steps that overlap get lanes of their own.

use super::{Bar, Time};

/// More parallel steps than this are counted, not drawn.
pub const LANES_MAX: i64 = 6;

/// Gives each bar the first lane that is free when it begins; answers the lanes in use and how many bars found none.
/// `bars` come in the order they begin.
pub fn assign(bars: &mut Vec<Bar>) -> (i64, i64) {
    let mut free_at: Vec<Time> = Vec::new();
    let before = bars.len();
    bars.retain_mut(|bar| {
        let free = free_at.iter().position(|at| *at <= bar.from);
        let lane = free.unwrap_or(free_at.len());
        if lane as i64 >= LANES_MAX {
            return false;
        }
        match free_at.get_mut(lane) {
            Some(at) => *at = bar.to,
            None => free_at.push(bar.to),
        }
        bar.lane = lane as i64;
        true
    });
    let crowded = (before - bars.len()) as i64;
    (free_at.len().max(1) as i64, crowded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::views::timeline::Look;

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
    fn steps_after_one_another_share_a_lane_and_parallel_ones_do_not() {
        let mut bars = vec![bar(0, 10), bar(10, 30), bar(12, 20), bar(20, 25)];
        assert_eq!(assign(&mut bars), (2, 0));
        let lanes: Vec<_> = bars.iter().map(|bar| bar.lane).collect();
        assert_eq!(lanes, [0, 0, 1, 1]);
    }

    #[test]
    fn what_finds_no_lane_is_counted() {
        let mut bars: Vec<_> = (0..9).map(|n| bar(n, 100)).collect();
        assert_eq!(assign(&mut bars), (LANES_MAX, 3));
        assert_eq!(bars.len() as i64, LANES_MAX);
    }
}
