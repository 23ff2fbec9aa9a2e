//! What one side made of a list: where each old item stands now, and what was added between them.

use std::{collections::BTreeSet, ops::Range};

use super::alike;
use crate::domain::{
    diff::{
        Run,
        delta::{Delta, compare_lists},
        lists::may_be_one,
    },
    tree::Tree,
};

pub(super) struct Aligned<'a> {
    old: &'a [Tree],
    items: &'a [Tree],
    /// By old item: its new place; none where it was removed or moved.
    kept: Vec<Option<usize>>,
    /// Old items that stand elsewhere now: gone from where they stood, and added where they stand.
    moved: BTreeSet<usize>,
    /// In order.
    added: Vec<Added>,
}

/// New items in a row.
struct Added {
    /// They stand after all that is kept before this old item…
    from: usize,
    /// … and before this one, which is kept or the end. The old items between are gone: the new ones replace them.
    to: usize,
    new: Range<usize>,
}

/// By old item: where it stands now, moved or not. Those that were moved are named apart.
fn follow(old: &[Tree], new: &[Tree]) -> (Vec<Option<usize>>, BTreeSet<usize>) {
    let mut places = vec![None; old.len()];
    let mut moved = BTreeSet::new();
    let Delta::List(runs) = compare_lists(old, new) else {
        return (places, moved);
    };
    for run in runs {
        match run {
            Run::Same { old, new, len } => {
                let stretch = places.iter_mut().skip(old).take(len);
                stretch.zip(new..).for_each(|(it, new)| *it = Some(new));
            }
            // Another item that came where this one stood is not this one.
            Run::Changed {
                old: at, new: to, ..
            }
            | Run::Moved {
                old: at, new: to, ..
            } if !may_be_one(&old[at], &new[to]) => {}
            Run::Changed { old, new, .. } => places[old] = Some(new),
            Run::Moved { old, new, .. } => {
                places[old] = Some(new);
                moved.insert(old);
            }
            Run::Removed { .. } | Run::Added { .. } => {}
        }
    }
    (places, moved)
}

/// Where an item of a list stands now; none if it is gone.
pub(super) fn place_of(item: usize, old: &[Tree], new: &[Tree]) -> Option<usize> {
    follow(old, new).0.get(item).copied().flatten()
}

impl<'a> Aligned<'a> {
    pub fn of(old: &'a [Tree], items: &'a [Tree]) -> Self {
        let (mut kept, moved) = follow(old, items);
        for place in &moved {
            kept[*place] = None;
        }
        let mut added = Vec::new();
        let (mut from, mut next) = (0, 0);
        let stays = kept.iter().enumerate();
        let stays = stays.filter_map(|(old, new)| Some((old, (*new)?)));
        for (old, new) in stays.chain([(kept.len(), items.len())]) {
            if new > next {
                added.push(Added {
                    from,
                    to: old,
                    new: next..new,
                });
            }
            (from, next) = (old + 1, new + 1);
        }
        Self {
            old,
            items,
            kept,
            moved,
            added,
        }
    }

    /// The new place of an old item.
    pub fn kept(&self, old: usize) -> Option<usize> {
        self.kept.get(old).copied().flatten()
    }

    pub fn item(&self, old: usize) -> Option<&'a Tree> {
        self.items.get(self.kept(old)?)
    }

    /// What was added before this old item, or before those removed ones that begin with it.
    pub fn added_at(&self, old: usize) -> &'a [Tree] {
        let found = self.added.binary_search_by_key(&old, |it| it.from);
        found.map_or(&[], |at| self.new_items(&self.added[at]))
    }

    fn new_items(&self, added: &Added) -> &'a [Tree] {
        self.items.get(added.new.clone()).unwrap_or_default()
    }

    /// Whether what both did to the list can be done together without a guess.
    pub fn stands_beside(&self, other: &Aligned) -> bool {
        self.leaves_alone(other) && other.leaves_alone(self)
    }

    fn leaves_alone(&self, other: &Aligned) -> bool {
        // What one moved and the other changed, removed or moved as well might be lost or doubled.
        let untouched = |old: &usize| other.item(*old).is_some_and(|it| it.same(&self.old[*old]));
        self.moved.iter().all(untouched) && self.added.iter().all(|it| self.is_clear_of(it, other))
    }

    fn is_clear_of(&self, added: &Added, other: &Aligned) -> bool {
        let first = other.added.partition_point(|it| it.to < added.from);
        let near = other.added.get(first).filter(|it| it.from <= added.to);
        let replaces = added.from < added.to;
        match near {
            // The other removed what these replace: it is not known whether they shall still come.
            None => (added.from..added.to).all(|old| other.kept(old).is_some()),
            Some(near) => {
                let (mine, theirs) = (self.new_items(added), other.new_items(near));
                let one_place = (near.from, near.to) == (added.from, added.to);
                // Both may have meant the same item, if some are equal and some are not.
                let known: BTreeSet<_> = mine.iter().map(Tree::hash).collect();
                let apart = theirs.iter().all(|it| !known.contains(&it.hash()));
                one_place && (alike(mine, theirs) || !replaces && apart)
            }
        }
    }
}
