//! Where the items of a list stand while it is brought into a new order, one move after another.

/// Counts marked places before a place, in logarithmic time.
struct Count(Vec<usize>);

impl Count {
    fn new(len: usize) -> Self {
        Self(vec![0; len + 1])
    }

    fn add(&mut self, at: usize, by: isize) {
        let mut i = at + 1;
        while let Some(cell) = self.0.get_mut(i) {
            *cell = cell.wrapping_add_signed(by);
            i += i & i.wrapping_neg();
        }
    }

    /// Marked places below `at`.
    fn before(&self, at: usize) -> usize {
        let (mut i, mut sum) = (at, 0);
        while i > 0 {
            sum += self.0[i];
            i &= i - 1;
        }
        sum
    }
}

/// An item that stays in the list: where it stood among those that stay, and whether it keeps its order.
pub struct Item {
    pub old: usize,
    pub kept: bool,
}

/// The moves `(from, to)` that bring the items, given in their new order, into it. Each is counted in the list as
/// the moves before left it, `to` after the item was taken out.
///
/// While this goes on, the list is: after each kept item, those already moved there, then those still to go.
pub fn moves(items: &[Item]) -> Vec<(usize, usize)> {
    let len = items.len();
    let (mut placed, mut to_go) = (Count::new(len), Count::new(len));
    // For a place in the old order: the new place of the next kept item.
    let mut next_kept = vec![len; len + 1];
    for (new, item) in items.iter().enumerate() {
        match item.kept {
            true => {
                placed.add(new, 1);
                next_kept[item.old] = new;
            }
            false => to_go.add(item.old, 1),
        }
    }
    for old in (0..len).rev() {
        next_kept[old] = next_kept[old].min(next_kept[old + 1]);
    }
    let mut out = Vec::new();
    // The old place of the kept item that the next moved one goes behind.
    let mut behind = 0;
    for (new, item) in items.iter().enumerate() {
        if item.kept {
            behind = item.old;
            continue;
        }
        let from = to_go.before(item.old) + placed.before(next_kept[item.old]);
        to_go.add(item.old, -1);
        let to = placed.before(new) + to_go.before(behind);
        placed.add(new, 1);
        if from != to {
            out.push((from, to));
        }
    }
    out
}
