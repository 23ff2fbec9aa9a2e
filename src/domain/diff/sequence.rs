//! Which items two sequences have in common, in order. The longest such choice where that can be found in bounded
//! work, a good one elsewhere: nothing here is quadratic in long sequences.

use similar::{
    DiffOp,
    algorithms::{Capture, Compact, Replace, myers},
};
use std::{
    collections::HashMap,
    hash::{BuildHasher, BuildHasherDefault, Hash, Hasher, RandomState},
};

use crate::domain;

/// Between anchors, and where there are none.
const WINDOW_MAX: usize = 1 << 16;

/// Pairs of equal items, ascending on both sides; the most there are, where there are at most `exact_max` pairs of items.
pub fn common(old: &[u32], new: &[u32], exact_max: usize) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    if old.len().saturating_mul(new.len()) <= exact_max {
        exact(old, new, 0, 0, &mut out);
        return out;
    }
    let mut reached = (0, 0);
    let mut anchors = anchors(old, new);
    anchors.push((old.len(), new.len()));
    for (i, j) in anchors {
        windows(
            &old[reached.0..i],
            &new[reached.1..j],
            reached.0,
            reached.1,
            &mut out,
        );
        if i < old.len() && j < new.len() {
            out.push((i, j));
        }
        reached = (i + 1, j + 1);
    }
    out
}

/// A number for each item of both, the same for equal ones.
pub fn numbered<T: Hash + Eq>(
    old: impl Iterator<Item = T>,
    new: impl Iterator<Item = T>,
) -> (Vec<u32>, Vec<u32>) {
    numbered_by::<T, RandomState>(old, new)
}

/// The same for items that are hashes: one of their pieces is as good as any hash of them.
pub fn numbered_hashes(old: &[domain::Hash], new: &[domain::Hash]) -> (Vec<u32>, Vec<u32>) {
    numbered_by::<_, BuildHasherDefault<Piece>>(old.iter(), new.iter())
}

#[derive(Default)]
struct Piece(u64);

impl Hasher for Piece {
    fn write(&mut self, bytes: &[u8]) {
        let piece = bytes.first_chunk().map_or(0, |it| u64::from_le_bytes(*it));
        self.0 ^= piece;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

fn numbered_by<T: Hash + Eq, S: BuildHasher + Default>(
    old: impl Iterator<Item = T>,
    new: impl Iterator<Item = T>,
) -> (Vec<u32>, Vec<u32>) {
    let mut numbers = HashMap::<T, u32, S>::default();
    let mut number = |item| {
        let next = numbers.len() as u32;
        *numbers.entry(item).or_insert(next)
    };
    let old = old.map(&mut number).collect();
    (old, new.map(number).collect())
}

/// The steps from one to the other, in order.
fn compared(old: &[u32], new: &[u32]) -> Vec<DiffOp> {
    let mut steps = Compact::new(Replace::new(Capture::new()), old, new);
    let Ok(()) = myers::diff(&mut steps, old, 0..old.len(), new, 0..new.len());
    steps.into_inner().into_inner().into_ops()
}

fn exact(old: &[u32], new: &[u32], i: usize, j: usize, out: &mut Vec<(usize, usize)>) {
    if old.is_empty() || new.is_empty() {
        return;
    }
    for op in compared(old, new) {
        if let DiffOp::Equal {
            old_index,
            new_index,
            len,
        } = op
        {
            out.extend((0..len).map(|k| (i + old_index + k, j + new_index + k)));
        }
    }
}

/// Halves both until a window is small enough.
fn windows(old: &[u32], new: &[u32], i: usize, j: usize, out: &mut Vec<(usize, usize)>) {
    if old.len().saturating_mul(new.len()) <= WINDOW_MAX {
        return exact(old, new, i, j, out);
    }
    let (p, q) = (old.len() / 2, new.len() / 2);
    windows(&old[..p], &new[..q], i, j, out);
    windows(&old[p..], &new[q..], i + p, j + q, out);
}

/// Items that stand equally often on both sides, the first with the first, and so on; the longest ascending choice.
fn anchors(old: &[u32], new: &[u32]) -> Vec<(usize, usize)> {
    let mut places: HashMap<u32, (Vec<usize>, Vec<usize>)> = HashMap::new();
    for (i, item) in old.iter().enumerate() {
        places.entry(*item).or_default().0.push(i);
    }
    for (j, item) in new.iter().enumerate() {
        places.entry(*item).or_default().1.push(j);
    }
    let mut pairs: Vec<(usize, usize)> = places
        .into_values()
        .filter(|(a, b)| a.len() == b.len())
        .flat_map(|(a, b)| a.into_iter().zip(b))
        .collect();
    pairs.sort_unstable_by_key(|(_, j)| *j);
    let chosen = ascending(&pairs.iter().map(|(i, _)| *i).collect::<Vec<_>>());
    chosen.into_iter().map(|k| pairs[k]).collect()
}

/// The places of a longest ascending choice of distinct numbers.
pub fn ascending(numbers: &[usize]) -> Vec<usize> {
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; numbers.len()];
    for (at, number) in numbers.iter().enumerate() {
        let len = ends.partition_point(|end| numbers[*end] < *number);
        before[at] = len.checked_sub(1).map(|last| ends[last]);
        match ends.get_mut(len) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut out = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(at) = next {
        out.push(at);
        next = before[at];
    }
    out.reverse();
    out
}
