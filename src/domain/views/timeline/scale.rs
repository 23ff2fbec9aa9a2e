//! From moments or steps to places on the width, and back; folded times take a fixed little room.

use super::Stretch;

/// The width in its own units: a hundredth of a percent each.
pub const WIDTH: f64 = 10_000.0;
/// What a folded time takes.
const FOLD: f64 = 220.0;

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
        let folds: Vec<_> = folds
            .iter()
            .filter(|fold| fold.from < window.to && fold.to > window.from)
            .map(|fold| fold.within(window))
            .collect();
        let fold_width = FOLD.min(width / (2.0 * folds.len().max(1) as f64));
        let folded: i64 = folds.iter().map(|fold| fold.length()).sum();
        let open = (window.length() - folded).max(1) as f64;
        let unit = (width - fold_width * folds.len() as f64) / open;
        let mut pieces = Vec::new();
        let (mut at, mut x) = (window.from, 0.0);
        let mut push = |from: i64, to: i64, width: f64| {
            if from < to {
                let on = Stretch { from, to };
                pieces.push(Piece { on, x, width });
                x += width;
            }
        };
        for fold in &folds {
            push(at, fold.from, (fold.from - at) as f64 * unit);
            push(fold.from, fold.to, fold_width);
            at = fold.to;
        }
        push(at, window.to, (window.to - at) as f64 * unit);
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
