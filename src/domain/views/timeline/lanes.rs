//! Steps that overlap get lanes of their own.

use super::{Bar, Look, Time};

/// More parallel steps than this are counted, not drawn.
pub const LANES_MAX: i64 = 6;

/// Gives each bar the first lane that is free for it; answers the lanes in use and how many bars found none. Where not all
/// find one, those that are under way come first. `bars` come in the order they begin.
pub fn assign(bars: &mut Vec<Bar>) -> (i64, i64) {
    let all = 0..bars.len();
    let mut lanes = placed(bars, all.clone());
    if lanes.contains(&None) {
        let mut order: Vec<usize> = all.collect();
        order.sort_by_key(|at| !under_way(&bars[*at]));
        lanes = placed(bars, order);
    }
    let before = bars.len();
    let mut lane = lanes.iter();
    bars.retain_mut(|bar| match lane.next().copied().flatten() {
        Some(free) => {
            bar.lane = free;
            true
        }
        None => false,
    });
    let used = lanes.iter().flatten().max().map_or(1, |most| most + 1);
    (used, (before - bars.len()) as i64)
}

fn under_way(bar: &Bar) -> bool {
    matches!(bar.look, Look::Running | Look::Waiting)
}

/// The lane of each bar, given out in this order.
fn placed(bars: &[Bar], order: impl IntoIterator<Item = usize>) -> Vec<Option<i64>> {
    let mut lanes = vec![None; bars.len()];
    let mut taken: Vec<Vec<(Time, Time)>> = vec![Vec::new(); LANES_MAX as usize];
    for at in order {
        let (from, to) = (bars[at].from, bars[at].to);
        let free = |lane: &Vec<(Time, Time)>| lane.iter().all(|it| it.1 <= from || to <= it.0);
        if let Some(lane) = taken.iter().position(free) {
            taken[lane].push((from, to));
            lanes[at] = Some(lane as i64);
        }
    }
    lanes
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn what_is_under_way_is_drawn_before_what_is_over() {
        let mut bars: Vec<_> = (0..7).map(|n| bar(n, 100)).collect();
        let running = |n| Bar {
            first: n,
            last: n,
            look: Look::Running,
            ..bar(n, 200)
        };
        bars.extend([running(50), running(51)]);
        assert_eq!(assign(&mut bars), (LANES_MAX, 3));
        let drawn = bars.iter().filter(|bar| bar.look == Look::Running);
        assert_eq!(drawn.count(), 2);
        assert!(
            bars.is_sorted_by_key(|bar| bar.from),
            "in the order they begin"
        );
    }
}
