//! From moments or steps to places on the width, and back; folded times take a fixed little room.

use super::{Stretch, apart, between};

/// The width in its own units: a hundredth of a percent each.
pub const WIDTH: f64 = 10_000.0;
/// What a folded time takes.
const FOLD: f64 = 220.0;
/// What a fork shares with its origin takes no more than this of the width, so that its own steps can be seen.
const SHARED_SHARE: f64 = 0.25;

/// The part of the width that so many shared steps take beside so many of the fork's own.
pub fn shared_share(shared: i64, own: i64) -> f64 {
    match own > 0 {
        true => (shared as f64 / (shared + own) as f64).min(SHARED_SHARE),
        false => 1.0,
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Piece {
    on: Stretch,
    x: f64,
    width: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    pieces: Vec<Piece>,
}

impl Scale {
    /// `window` on `width` units, with `folds` (in order, apart from each other) made small.
    pub fn new(window: Stretch, folds: &[Stretch], width: f64) -> Self {
        Self::of_fork(window, folds, None, width)
    }

    /// The same for a fork: what lies before `own` is shared with its origin.
    pub fn of_fork(window: Stretch, folds: &[Stretch], own: Option<i64>, width: f64) -> Self {
        let folds: Vec<_> = folds
            .iter()
            .filter(|fold| fold.from < window.to && fold.to > window.from)
            .map(|fold| fold.within(window))
            .collect();
        let fold_width = FOLD.min(width / (2.0 * folds.len().max(1) as f64));
        let room = width - fold_width * folds.len() as f64;
        let open = apart(between(window, &folds), own);
        let is_shared = |it: &Stretch| own.is_some_and(|own| it.to <= own);
        let length = |shared: bool| {
            let parts = open.iter().filter(|it| is_shared(it) == shared);
            parts.map(|it| it.length()).sum::<i64>()
        };
        let (shared, rest) = (length(true), length(false));
        let share = shared_share(shared, rest);
        let units = [
            room * (1.0 - share) / rest.max(1) as f64,
            room * share / shared.max(1) as f64,
        ];
        let open = open.iter().map(|it| {
            let unit = units[usize::from(is_shared(it))];
            (*it, it.length() as f64 * unit)
        });
        let folds = folds.iter().map(|it| (*it, fold_width));
        let mut parts: Vec<(Stretch, f64)> = open.chain(folds).collect();
        parts.sort_by_key(|(on, _)| on.from);
        let mut x = 0.0;
        let mut pieces = Vec::with_capacity(parts.len());
        for (on, width) in parts {
            pieces.push(Piece { on, x, width });
            x += width;
        }
        Self { pieces }
    }

    /// Where `value` lies; what lies outside is put at the edge.
    pub fn x(&self, value: i64) -> f64 {
        let index = self.pieces.partition_point(|piece| piece.on.to < value);
        match self.pieces.get(index).or(self.pieces.last()) {
            Some(piece) => {
                let share = (value - piece.on.from) as f64 / piece.on.length() as f64;
                piece.x + share.clamp(0.0, 1.0) * piece.width
            }
            None => 0.0,
        }
    }

    /// What lies at `x`.
    pub fn value(&self, x: f64) -> i64 {
        let index = self
            .pieces
            .partition_point(|piece| piece.x + piece.width < x);
        match self.pieces.get(index).or(self.pieces.last()) {
            Some(piece) => {
                let share = ((x - piece.x) / piece.width).clamp(0.0, 1.0);
                piece.on.from + (share * piece.on.length() as f64) as i64
            }
            None => 0,
        }
    }
}

const SECOND: i64 = 1_000_000;
const STEPS_OF_TIME: [i64; 21] = [
    1_000,
    10_000,
    100_000,
    SECOND,
    2 * SECOND,
    5 * SECOND,
    10 * SECOND,
    30 * SECOND,
    60 * SECOND,
    120 * SECOND,
    240 * SECOND,
    600 * SECOND,
    1_800 * SECOND,
    3_600 * SECOND,
    7_200 * SECOND,
    21_600 * SECOND,
    43_200 * SECOND,
    86_400 * SECOND,
    7 * 86_400 * SECOND,
    30 * 86_400 * SECOND,
    365 * 86_400 * SECOND,
];

/// Round values within `window`, at most `most` of them: moments if `time`, else step numbers.
pub fn ticks(window: Stretch, time: bool, most: i64) -> Vec<i64> {
    let most = most.max(1);
    let rough = (window.length() + most - 1) / most;
    let every = match time {
        true => STEPS_OF_TIME
            .into_iter()
            .find(|it| *it >= rough)
            .unwrap_or(rough),
        false => {
            let ten = 10_i64.pow(rough.ilog10());
            [1, 2, 5, 10]
                .into_iter()
                .map(|by| by * ten)
                .find(|it| *it >= rough)
                .unwrap_or(rough)
        }
    };
    let first = window.from.div_euclid(every) * every;
    (0..=most + 1)
        .map(|n| first + n * every)
        .filter(|at| (window.from..window.to).contains(at))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_leads_back_to_its_moment() {
        let window = Stretch::new(1_000, 101_000);
        let scale = Scale::new(window, &[Stretch::new(21_000, 61_000)], WIDTH);
        assert_eq!(scale.x(1_000), 0.0);
        assert!((scale.x(101_000) - WIDTH).abs() < 1e-6);
        for at in [1_000, 9_999, 21_000, 45_000, 61_000, 100_000] {
            assert!((scale.value(scale.x(at)) - at).abs() <= 1, "{at}");
        }
        let fold = scale.x(61_000) - scale.x(21_000);
        assert!((fold - FOLD).abs() < 1e-6, "a fold is small: {fold}");
    }

    #[test]
    fn what_a_fork_shares_leaves_its_own_steps_most_of_the_width() {
        let window = Stretch::new(1, 1_006);
        let scale = Scale::of_fork(window, &[], Some(1_001), WIDTH);
        assert!((scale.x(1_001) - SHARED_SHARE * WIDTH).abs() < 1e-6);
        let step = scale.x(1_003) - scale.x(1_002);
        assert!(step > 0.14 * WIDTH, "a step of its own can be seen: {step}");
        assert!((scale.x(1_006) - WIDTH).abs() < 1e-6);
        for seq in [1, 500, 1_001, 1_004] {
            assert!((scale.value(scale.x(seq)) - seq).abs() <= 1, "{seq}");
        }
        let little = Scale::of_fork(Stretch::new(1, 101), &[], Some(11), WIDTH);
        assert!((little.x(11) - 0.1 * WIDTH).abs() < 1e-6, "to scale");
        let all = Scale::of_fork(Stretch::new(1, 11), &[], Some(11), WIDTH);
        assert!((all.x(11) - WIDTH).abs() < 1e-6, "nothing of its own yet");
    }

    #[test]
    fn later_is_never_left_of_earlier() {
        let folds = [Stretch::new(10, 40), Stretch::new(60, 90)];
        let scale = Scale::new(Stretch::new(0, 100), &folds, 500.0);
        let places: Vec<_> = (0..=100).map(|at| scale.x(at)).collect();
        assert!(places.is_sorted());
    }

    #[test]
    fn ticks_are_round_and_few() {
        let hour = Stretch::new(0, 3_600 * SECOND);
        let every_4_min = ticks(hour, true, 15);
        assert_eq!(every_4_min.len(), 15);
        assert_eq!(every_4_min[1], 240 * SECOND);
        assert_eq!(
            ticks(Stretch::new(1, 47), false, 10),
            [5, 10, 15, 20, 25, 30, 35, 40, 45]
        );
    }
}
