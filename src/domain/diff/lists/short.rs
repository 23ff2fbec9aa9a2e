//! Short lists: every pair of items is weighed.

use super::Match;
use crate::domain::{
    diff::{
        delta::{CHANGE, Weighed, Work, added, removed, weighed},
        sequence,
    },
    tree::Tree,
};

/// Up to so many pairs, a matching is improved pair by pair.
const IMPROVED_MAX: usize = 64;

/// In-order matches and free ones are both tried; the lighter wins, and is made lighter still.
pub fn lightest(a: &[Tree], b: &[Tree], work: &mut Work) -> Vec<Match> {
    let table = Table::new(a, b, work);
    let mut candidates = [
        table.extended(table.in_order()),
        table.extended(Vec::new()),
        table.extended(table.equal()),
    ]
    .map(|pairs| (table.weight(&pairs), pairs));
    candidates.sort_by_key(|(weight, _)| *weight);
    let [(weight, best), ..] = candidates;
    let best = table.improved(weight, best, work);
    table.matches(best)
}

/// Matches that keep the order, and moves where they save something: for what lies between two that are known.
pub fn in_order(a: &[Tree], b: &[Tree], work: &mut Work) -> Vec<Match> {
    let table = Table::new(a, b, work);
    let pairs = table.extended(table.in_order());
    table.matches(pairs)
}

/// All pairs of a short list, weighed.
struct Table<'a> {
    a: &'a [Tree],
    b: &'a [Tree],
    cells: Vec<Option<Weighed>>,
}

impl<'a> Table<'a> {
    fn new(a: &'a [Tree], b: &'a [Tree], work: &mut Work) -> Self {
        let mut cells = Vec::with_capacity(a.len() * b.len());
        for x in a {
            for y in b {
                cells.push(Some(weighed(x, y, work)));
            }
        }
        Self { a, b, cells }
    }

    fn at(&self, i: usize, j: usize) -> u64 {
        let cell = self.cells[i * self.b.len() + j].as_ref();
        cell.map_or(u64::MAX, |w| w.weight)
    }

    /// What is saved by showing a pair as one item that changed.
    fn saved(&self, i: usize, j: usize) -> i64 {
        let apart = removed(&self.a[i]) + added(&self.b[j]);
        apart as i64 - self.at(i, j) as i64
    }

    /// The lightest matching that keeps the order.
    fn in_order(&self) -> Vec<(usize, usize)> {
        let (n, m) = (self.a.len(), self.b.len());
        let mut best = vec![0i64; (n + 1) * (m + 1)];
        let cell = |i: usize, j: usize| i * (m + 1) + j;
        for i in (0..n).rev() {
            for j in (0..m).rev() {
                let matched = best[cell(i + 1, j + 1)] + self.saved(i, j);
                let apart = best[cell(i + 1, j)].max(best[cell(i, j + 1)]);
                best[cell(i, j)] = matched.max(apart);
            }
        }
        let (mut i, mut j, mut out) = (0, 0, Vec::new());
        while i < n && j < m {
            let here = best[cell(i, j)];
            if here == best[cell(i + 1, j + 1)] + self.saved(i, j) {
                out.push((i, j));
                (i, j) = (i + 1, j + 1);
            } else if here == best[cell(i + 1, j)] {
                i += 1;
            } else {
                j += 1;
            }
        }
        out
    }

    /// Equal items, wherever they stand.
    fn equal(&self) -> Vec<(usize, usize)> {
        let mut taken = vec![false; self.b.len()];
        let mut out = Vec::new();
        for i in 0..self.a.len() {
            if let Some(j) = (0..self.b.len()).find(|j| !taken[*j] && self.at(i, *j) == 0) {
                taken[j] = true;
                out.push((i, j));
            }
        }
        out
    }

    /// With free items matched wherever a move saves something, the greatest saving first.
    fn extended(&self, mut pairs: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
        let mut old = vec![false; self.a.len()];
        let mut new = vec![false; self.b.len()];
        for (i, j) in &pairs {
            (old[*i], new[*j]) = (true, true);
        }
        let mut free: Vec<(i64, usize, usize)> = Vec::new();
        for i in (0..old.len()).filter(|i| !old[*i]) {
            for j in (0..new.len()).filter(|j| !new[*j]) {
                free.push((self.saved(i, j), i, j));
            }
        }
        free.sort_unstable_by_key(|(saved, i, j)| (-saved, i.abs_diff(*j), *i));
        for (saved, i, j) in free {
            if saved > CHANGE as i64 && !old[i] && !new[j] {
                (old[i], new[j]) = (true, true);
                pairs.push((i, j));
            }
        }
        pairs.sort_unstable_by_key(|(_, j)| *j);
        pairs
    }

    /// As long as one more pair, with the others fitted around it, makes it lighter.
    fn improved(
        &self,
        mut weight: i64,
        mut pairs: Vec<(usize, usize)>,
        work: &mut Work,
    ) -> Vec<(usize, usize)> {
        let (n, m) = (self.a.len(), self.b.len());
        while n * m <= IMPROVED_MAX && work.spend(n * m) {
            let forced = |(i, j): (usize, usize)| {
                let apart = |(x, y): &&(usize, usize)| *x != i && *y != j;
                let mut around: Vec<_> = pairs.iter().filter(apart).copied().collect();
                around.push((i, j));
                let around = self.extended(around);
                (self.weight(&around), around)
            };
            let all = (0..n).flat_map(|i| (0..m).map(move |j| (i, j)));
            let lightest = all.map(forced).min_by_key(|(weight, _)| *weight);
            match lightest {
                Some((lighter, found)) if lighter < weight => (weight, pairs) = (lighter, found),
                _ => break,
            }
        }
        pairs
    }

    fn weight(&self, pairs: &[(usize, usize)]) -> i64 {
        let saved: i64 = pairs.iter().map(|(i, j)| self.saved(*i, *j)).sum();
        let olds: Vec<usize> = pairs.iter().map(|(i, _)| *i).collect();
        let moved = olds.len() - sequence::ascending(&olds).len();
        moved as i64 * CHANGE as i64 - saved
    }

    fn matches(mut self, pairs: Vec<(usize, usize)>) -> Vec<Match> {
        let m = self.b.len();
        let take = |(old, new): (usize, usize)| {
            let inside = self.cells[old * m + new].take()?;
            Some(Match { old, new, inside })
        };
        pairs.into_iter().filter_map(take).collect()
    }
}
