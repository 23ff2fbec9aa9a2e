//! Lists aligned by content: what was inserted, removed or moved does not make everything after it look changed.
//!
//! Equal heads and tails are set aside by hash. What is left of short lists is matched by weight, every item with
//! every item. Long ones are matched by hash first (in order, then out of order), then by identity (`id`, `key`, …),
//! then by weight inside what lies between.

use serde_json::Value;
use std::collections::{HashMap, HashSet, VecDeque};

use super::{
    delta::{CHANGE, Delta, Run, Weighed, Work, added, removed, replaced, weighed},
    sequence,
};
use crate::domain::{
    Hash,
    tree::{Shape, Tree},
};

mod short;

/// Up to so many pairs of items are all weighed.
const PAIRS_MAX: usize = 256;
/// Up to so many pairs of hashes the most equal ones are found.
const EXACT_MAX: usize = 1 << 20;
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
        n if n <= PAIRS_MAX && work.is_left() => short::lightest(a, b, work),
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

fn same(old: usize, new: usize) -> Match {
    let inside = Weighed {
        delta: Delta::Same,
        weight: 0,
    };
    Match { old, new, inside }
}

fn long(a: &[Tree], b: &[Tree], work: &mut Work) -> Vec<Match> {
    work.spend(a.len() + b.len());
    let mut pairing = Pairing {
        a,
        b,
        old: vec![false; a.len()],
        new: vec![false; b.len()],
        matches: Vec::new(),
    };
    let anchors = match stayed(a, b) {
        Some(places) => {
            let pairs: Vec<_> = places.into_iter().map(|i| (i, i)).collect();
            pairing.keep(&pairs);
            pairs
        }
        None => {
            let hashes = |items: &[Tree]| items.iter().map(Tree::hash).collect::<Vec<_>>();
            let (x, y) = sequence::numbered_hashes(&hashes(a), &hashes(b));
            let (p, q) = only_in_both(&x, &y);
            let pick =
                |items: &[u32], at: &[usize]| at.iter().map(|i| items[*i]).collect::<Vec<_>>();
            let found = sequence::common(&pick(&x, &p), &pick(&y, &q), EXACT_MAX);
            let pairs: Vec<_> = found.into_iter().map(|(i, j)| (p[i], q[j])).collect();
            pairing.keep(&pairs);
            pairing.equal(&x, &y);
            pairs
        }
    };
    pairing.alike(work);
    pairing.between(&anchors, work);
    pairing.matches
}

/// The places of items that are the same, if nothing came, went or moved: most are, no other one turns up elsewhere, and
/// each has the identity of the one that it stands in for.
fn stayed(a: &[Tree], b: &[Tree]) -> Option<Vec<usize>> {
    if a.len() != b.len() {
        return None;
    }
    let (same, other): (Vec<_>, Vec<_>) = (0..a.len()).partition(|i| a[*i].same(&b[*i]));
    if 4 * other.len() > a.len() {
        return None;
    }
    let gone: HashSet<Hash> = other.iter().map(|i| a[*i].hash()).collect();
    let stays = |i: &usize| {
        let one = |key| identity(&a[*i], key) == identity(&b[*i], key);
        !gone.contains(&b[*i].hash()) && IDENTITIES.into_iter().all(one)
    };
    other.iter().all(stays).then_some(same)
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
    /// These are the same.
    fn keep(&mut self, pairs: &[(usize, usize)]) {
        pairs.iter().for_each(|(i, j)| self.take(same(*i, *j)));
    }

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
            for found in short::in_order(&a, &b, work) {
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

/// Whether the new item may be the old one after a change: what tells the old one from others still stands in it.
pub(super) fn may_be_one(old: &Tree, new: &Tree) -> bool {
    let told = IDENTITIES.map(|key| (identity(old, key), key));
    let told = told.into_iter().find(|(id, _)| id.is_some());
    told.is_none_or(|(id, key)| id == identity(new, key))
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
