//! Lists aligned by content: what was inserted, removed or moved does not make everything after it look changed.
//!
//! Equal heads and tails are set aside by hash. What is left of short lists is matched by weight, every item with
//! every item. Long ones are matched by hash first (in order, then out of order), then by identity (`id`, `key`, …),
//! then by weight inside what lies between.

use serde_json::Value;
use std::collections::{HashMap, VecDeque};

use super::{
    delta::{CHANGE, Delta, Run, Weighed, Work, added, removed, replaced, weighed},
    sequence,
};
use crate::domain::tree::{Shape, Tree};

/// Up to so many pairs of items are all weighed.
const PAIRS_MAX: usize = 256;
/// Up to so many pairs, a matching is improved pair by pair.
const IMPROVED_MAX: usize = 64;
/// Keys whose value tells one item of a list from another.
const IDENTITIES: [&str; 6] = ["id", "_id", "key", "uuid", "seq", "name"];

/// An old item and the new one that it became.
struct Match {
    old: usize,
    new: usize,
    inside: Weighed,
}

pub(super) fn aligned(old: &[Tree], new: &[Tree], work: &mut Work) -> Weighed {
    let same = |(a, b): &(&Tree, &Tree)| a.same(b);
    let head = old.iter().zip(new).take_while(same).count();
    let (a, b) = (&old[head..], &new[head..]);
    let tail = a.iter().rev().zip(b.iter().rev()).take_while(same).count();
    let (a, b) = (&a[..a.len() - tail], &b[..b.len() - tail]);
    work.spend(head + tail);
    let mut matches = match a.len().saturating_mul(b.len()) {
        0 => Vec::new(),
        n if n <= PAIRS_MAX && work.is_left() => short(a, b, work),
        _ => long(a, b, work),
    };
    matches.sort_unstable_by_key(|m| m.new);
    let weight = weight(a, b, &matches);
    let mut runs = Vec::new();
    if head > 0 {
        runs.push(Run::Same {
            old: 0,
            new: 0,
            len: head,
        });
    }
    lay_out(a.len(), b.len(), head, matches, &mut runs);
    if tail > 0 {
        push_same(&mut runs, head + a.len(), head + b.len(), tail);
    }
    Weighed {
        delta: Delta::List(runs),
        weight,
    }
}

/// What a reader must take in: items that went or came, changes inside matched ones, moves. Matches ascend by `new`.
fn weight(a: &[Tree], b: &[Tree], matches: &[Match]) -> u64 {
    let went: u64 = a.iter().map(removed).sum();
    let came: u64 = b.iter().map(added).sum();
    let kept: u64 = matches
        .iter()
        .map(|m| removed(&a[m.old]) + added(&b[m.new]))
        .sum();
    let inside: u64 = matches.iter().map(|m| m.inside.weight).sum();
    let olds: Vec<usize> = matches.iter().map(|m| m.old).collect();
    let moved = olds.len() - sequence::ascending(&olds).len();
    went + came - kept + inside + moved as u64 * CHANGE
}

/// Every pair is weighed. In-order matches and free ones are both tried; the lighter wins, and is made lighter still.
fn short(a: &[Tree], b: &[Tree], work: &mut Work) -> Vec<Match> {
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

fn same(old: usize, new: usize) -> Match {
    let inside = Weighed {
        delta: Delta::Same,
        weight: 0,
    };
    Match { old, new, inside }
}

fn long(a: &[Tree], b: &[Tree], work: &mut Work) -> Vec<Match> {
    work.spend(a.len() + b.len());
    let (x, y) = sequence::numbered(a.iter().map(Tree::hash), b.iter().map(Tree::hash));
    let mut pairing = Pairing {
        a,
        b,
        old: vec![false; a.len()],
        new: vec![false; b.len()],
        matches: Vec::new(),
    };
    let (p, q) = only_in_both(&x, &y);
    let pick = |items: &[u32], at: &[usize]| at.iter().map(|i| items[*i]).collect::<Vec<_>>();
    for (i, j) in sequence::common(&pick(&x, &p), &pick(&y, &q)) {
        pairing.take(same(p[i], q[j]));
    }
    let anchors: Vec<(usize, usize)> = pairing.matches.iter().map(|m| (m.old, m.new)).collect();
    pairing.equal(&x, &y);
    pairing.alike(work);
    pairing.between(&anchors, work);
    pairing.matches
}

/// The places of items that occur on both sides: the others cannot match, and would only cost.
fn only_in_both(x: &[u32], y: &[u32]) -> (Vec<usize>, Vec<usize>) {
    let names = 1 + x.iter().chain(y).max().map_or(0, |n| *n as usize);
    let mut sides = vec![(false, false); names];
    x.iter().for_each(|n| sides[*n as usize].0 = true);
    y.iter().for_each(|n| sides[*n as usize].1 = true);
    let shared = |items: &[u32]| {
        let on_both = |i: &usize| sides[items[*i] as usize] == (true, true);
        (0..items.len()).filter(on_both).collect()
    };
    (shared(x), shared(y))
}

/// Which items of two long lists are matched so far.
struct Pairing<'a> {
    a: &'a [Tree],
    b: &'a [Tree],
    old: Vec<bool>,
    new: Vec<bool>,
    matches: Vec<Match>,
}

impl Pairing<'_> {
    fn take(&mut self, found: Match) {
        self.old[found.old] = true;
        self.new[found.new] = true;
        self.matches.push(found);
    }

    fn free(taken: &[bool]) -> Vec<usize> {
        (0..taken.len()).filter(|i| !taken[*i]).collect()
    }

    /// Equal items that stand in another order.
    fn equal(&mut self, x: &[u32], y: &[u32]) {
        let mut places: HashMap<u32, VecDeque<usize>> = HashMap::new();
        for i in Self::free(&self.old) {
            places.entry(x[i]).or_default().push_back(i);
        }
        for j in Self::free(&self.new) {
            if let Some(i) = places.get_mut(&y[j]).and_then(VecDeque::pop_front) {
                self.take(same(i, j));
            }
        }
    }

    /// Items with the same identity, where no other has it.
    fn alike(&mut self, work: &mut Work) {
        for key in IDENTITIES {
            let mut places: HashMap<String, (Vec<usize>, Vec<usize>)> = HashMap::new();
            for i in Self::free(&self.old) {
                if let Some(id) = identity(&self.a[i], key) {
                    places.entry(id).or_default().0.push(i);
                }
            }
            if places.is_empty() {
                continue;
            }
            for j in Self::free(&self.new) {
                if let Some(id) = identity(&self.b[j], key) {
                    places.entry(id).or_default().1.push(j);
                }
            }
            let mut found: Vec<(usize, usize)> = places
                .into_values()
                .filter_map(|(old, new)| match (&old[..], &new[..]) {
                    ([i], [j]) => Some((*i, *j)),
                    _ => None,
                })
                .collect();
            found.sort_unstable();
            for (old, new) in found {
                let inside = weighed(&self.a[old], &self.b[new], work);
                if inside.weight < replaced(&self.a[old], &self.b[new]) {
                    self.take(Match { old, new, inside });
                }
            }
        }
    }

    /// What lies between two anchors: by weight if it is little, else one by one.
    fn between(&mut self, anchors: &[(usize, usize)], work: &mut Work) {
        let end = (self.a.len(), self.b.len());
        let mut reached = (0, 0);
        for (i, j) in anchors.iter().copied().chain([end]) {
            let old: Vec<usize> = (reached.0..i).filter(|i| !self.old[*i]).collect();
            let new: Vec<usize> = (reached.1..j).filter(|j| !self.new[*j]).collect();
            self.gap(&old, &new, work);
            reached = (i + 1, j + 1);
        }
    }

    fn gap(&mut self, old: &[usize], new: &[usize], work: &mut Work) {
        if old.is_empty() || new.is_empty() {
            return;
        }
        if old.len().saturating_mul(new.len()) <= PAIRS_MAX && work.is_left() {
            let a: Vec<Tree> = old.iter().map(|i| self.a[*i].clone()).collect();
            let b: Vec<Tree> = new.iter().map(|j| self.b[*j].clone()).collect();
            let table = Table::new(&a, &b, work);
            let pairs = table.extended(table.in_order());
            for found in table.matches(pairs) {
                self.take(Match {
                    old: old[found.old],
                    new: new[found.new],
                    inside: found.inside,
                });
            }
            return;
        }
        for (old, new) in old.iter().copied().zip(new.iter().copied()) {
            let inside = weighed(&self.a[old], &self.b[new], work);
            self.take(Match { old, new, inside });
        }
    }
}

fn identity(item: &Tree, key: &str) -> Option<String> {
    let Shape::Object(map) = item.shape() else {
        return None;
    };
    match map.get(key)?.shape() {
        Shape::Scalar(id @ (Value::String(_) | Value::Number(_))) => Some(id.to_string()),
        _ => None,
    }
}

fn push_same(runs: &mut Vec<Run>, old: usize, new: usize, len: usize) {
    match runs.last_mut() {
        Some(Run::Same {
            old: o,
            new: n,
            len: l,
        }) if *o + *l == old && *n + *l == new => *l += len,
        _ => runs.push(Run::Same { old, new, len }),
    }
}

/// The matches, ascending by `new`, and what is left on both sides as stretches; all indices are shifted by `head`.
/// What went between two kept items is told before what came there.
fn lay_out(n: usize, m: usize, head: usize, matches: Vec<Match>, runs: &mut Vec<Run>) {
    let olds: Vec<usize> = matches.iter().map(|found| found.old).collect();
    let kept: Vec<(usize, usize)> = sequence::ascending(&olds)
        .into_iter()
        .map(|k| (matches[k].old, matches[k].new))
        .collect();
    let mut gone = vec![true; n];
    olds.iter().for_each(|old| gone[*old] = false);
    let mut found: Vec<Option<Match>> = (0..m).map(|_| None).collect();
    for one in matches {
        let new = one.new;
        found[new] = Some(one);
    }
    let (mut i, mut j) = (0, 0);
    for (old, new) in kept.into_iter().chain([(n, m)]) {
        for old in (i..old).filter(|i| gone[*i]) {
            push_removed(runs, head + old);
        }
        for (new, found) in found.iter_mut().enumerate().take(new).skip(j) {
            match found.take() {
                None => push_added(runs, head + new),
                Some(moved) => runs.push(Run::Moved {
                    old: head + moved.old,
                    new: head + new,
                    delta: moved.inside.delta,
                }),
            }
        }
        if let Some(kept) = found.get_mut(new).and_then(Option::take) {
            match kept.inside.delta {
                Delta::Same => push_same(runs, head + old, head + new, 1),
                delta => runs.push(Run::Changed {
                    old: head + old,
                    new: head + new,
                    delta,
                }),
            }
        }
        (i, j) = (old + 1, new + 1);
    }
}

fn push_removed(runs: &mut Vec<Run>, at: usize) {
    match runs.last_mut() {
        Some(Run::Removed { old, len }) if *old + *len == at => *len += 1,
        _ => runs.push(Run::Removed { old: at, len: 1 }),
    }
}

fn push_added(runs: &mut Vec<Run>, at: usize) {
    match runs.last_mut() {
        Some(Run::Added { new, len }) if *new + *len == at => *len += 1,
        _ => runs.push(Run::Added { new: at, len: 1 }),
    }
}
