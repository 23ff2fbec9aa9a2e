//! An edit carried over to a state that somebody else changed meanwhile: what either of the two changed is kept, and where both
//! changed the same place, the reader chooses.
//!
//! Objects are followed key by key. Lists are aligned by content with the state that both began with (`rebase/aligned.rs`), so an
//! item is recognised where others came before it or went. A string is one value. Where it is not clear what both changes
//! together mean, such as items that one moved in a list that the other changed, the whole list is a conflict.

use std::collections::{BTreeMap, BTreeSet};

use self::aligned::Aligned;
use crate::domain::{
    tree::{Shape, Tree, index},
    wire::{json::escape, patch::tokens},
};

mod aligned;
#[cfg(test)]
mod tests;

/// Both changed the same place, each to something else.
#[derive(Debug, Clone, PartialEq)]
pub struct Conflict {
    /// Its place in the state that both began with: no two conflicts share one.
    pub at: String,
    /// Its place in the state as they left it.
    pub path: String,
    /// None where I removed it.
    pub mine: Option<Tree>,
    /// None where they removed it.
    pub theirs: Option<Tree>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Rebased {
    pub state: Tree,
    /// All of them, chosen or not.
    pub conflicts: Vec<Conflict>,
}

/// What `mine` changed of `base`, made on `theirs`. Of a conflict theirs is kept, and mine at the places in `mine_at`.
pub fn rebase(base: &Tree, mine: &Tree, theirs: &Tree, mine_at: &BTreeSet<String>) -> Rebased {
    let mut merge = Merge {
        mine_at,
        conflicts: Vec::new(),
    };
    let sides = Sides {
        base: Some(base),
        mine: Some(mine),
        theirs: Some(theirs),
    };
    let state = merge.value(sides, Place::default);
    Rebased {
        state: state.unwrap_or_else(|| theirs.clone()),
        conflicts: merge.conflicts,
    }
}

/// Where the value at this path of `base` stands in `now`: an item of a list may have another number there. None if it is gone,
/// or not to be recognised.
pub fn place_now(base: &Tree, now: &Tree, path: &str) -> Option<String> {
    let (mut was, mut is) = (base, now);
    let mut place = Place::default();
    for token in tokens(path).ok()? {
        place = match (was.shape(), is.shape()) {
            (Shape::List(old), Shape::List(new)) => {
                let item = index(&token, old.len()).ok()?;
                let there = aligned::place_of(item, old, new)?;
                is = new.get(there)?;
                place.item(item, there)
            }
            _ => {
                is = is.get(std::slice::from_ref(&token))?;
                place.key(&token)
            }
        };
        was = was.get(&[token])?;
    }
    Some(place.path)
}

/// One place in the three states; none where it is not there.
#[derive(Clone, Copy)]
struct Sides<'a> {
    base: Option<&'a Tree>,
    mine: Option<&'a Tree>,
    theirs: Option<&'a Tree>,
}

/// A place in the state that both began with, and the same in theirs.
#[derive(Default)]
struct Place {
    at: String,
    path: String,
}

impl Place {
    fn key(&self, key: &str) -> Self {
        let key = escape(key);
        Self {
            at: format!("{}/{key}", self.at),
            path: format!("{}/{key}", self.path),
        }
    }

    fn item(&self, at: usize, there: usize) -> Self {
        Self {
            at: format!("{}/{at}", self.at),
            path: format!("{}/{there}", self.path),
        }
    }
}

struct Merge<'a> {
    mine_at: &'a BTreeSet<String>,
    conflicts: Vec<Conflict>,
}

impl Merge<'_> {
    /// What becomes of one place; none where it goes.
    fn value(&mut self, sides: Sides, place: impl FnOnce() -> Place) -> Option<Tree> {
        let Sides { base, mine, theirs } = sides;
        if same(mine, theirs) || same(mine, base) {
            return theirs.cloned();
        }
        if same(theirs, base) {
            return mine.cloned();
        }
        let place = place();
        if let (Some(base), Some(mine), Some(theirs)) = (base, mine, theirs) {
            match (base.shape(), mine.shape(), theirs.shape()) {
                (Shape::Object(base), Shape::Object(mine), Shape::Object(theirs)) => {
                    return Some(self.object([base, mine, theirs], &place));
                }
                (Shape::List(base), Shape::List(mine), Shape::List(theirs)) => {
                    let [mine, theirs] = [mine, theirs].map(|it| Aligned::of(base, it));
                    if mine.stands_beside(&theirs) {
                        return Some(self.list(base, &mine, &theirs, &place));
                    }
                }
                _ => {}
            }
        }
        self.conflict(mine, theirs, place)
    }

    fn object(
        &mut self,
        [base, mine, theirs]: [&BTreeMap<String, Tree>; 3],
        place: &Place,
    ) -> Tree {
        let names = base.keys().chain(mine.keys()).chain(theirs.keys());
        let names: BTreeSet<&String> = names.collect();
        let entry = |name: &String| {
            let sides = Sides {
                base: base.get(name),
                mine: mine.get(name),
                theirs: theirs.get(name),
            };
            let value = self.value(sides, || place.key(name))?;
            Some((name.clone(), value))
        };
        Tree::object(names.into_iter().filter_map(entry).collect())
    }

    fn list(&mut self, base: &[Tree], mine: &Aligned, theirs: &Aligned, place: &Place) -> Tree {
        let mut items = Vec::new();
        for at in 0..=base.len() {
            let (added, more) = (theirs.added_at(at), mine.added_at(at));
            items.extend_from_slice(added);
            // What both added is there once.
            if !alike(added, more) {
                items.extend_from_slice(more);
            }
            let Some(item) = base.get(at) else { break };
            let sides = Sides {
                base: Some(item),
                mine: mine.item(at),
                theirs: theirs.item(at),
            };
            let there = theirs.kept(at).unwrap_or(at);
            items.extend(self.value(sides, || place.item(at, there)));
        }
        Tree::list(items)
    }

    fn conflict(
        &mut self,
        mine: Option<&Tree>,
        theirs: Option<&Tree>,
        place: Place,
    ) -> Option<Tree> {
        let chosen = match self.mine_at.contains(&place.at) {
            true => mine,
            false => theirs,
        };
        self.conflicts.push(Conflict {
            at: place.at,
            path: place.path,
            mine: mine.cloned(),
            theirs: theirs.cloned(),
        });
        chosen.cloned()
    }
}

fn same(a: Option<&Tree>, b: Option<&Tree>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.same(b),
        (None, None) => true,
        _ => false,
    }
}

fn alike(a: &[Tree], b: &[Tree]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(b))
}
