//! A tree is patched in place: all operations of a patch, or none.

use serde_json::{Number, Value};
use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use super::{Node, StateMax, Tree, entry_size};
use crate::domain::wire::{
    json::DEPTH_MAX,
    patch::{Op, PatchError, tokens},
};

/// Items that one patch may shift or copy: to insert at the head of a list, or to change one that was copied, costs as
/// much as the list is long.
const MOVED_MAX: usize = 200_000_000;
/// A copied item takes memory until the patch is done; a shifted one does not.
const COPIED: usize = 8;

/// Why a patch was refused that asked for too much.
pub struct Refused;

impl Refused {
    pub const BYTES: &str = "the state would be larger than its limit";
    pub const VALUES: &str = "the state would hold more values than its limit";
    pub const WORK: &str =
        "the patch shifts or copies long lists again and again: send the lists as they shall be";
}

/// What a patch did so far: how to take it back, and how many items were shifted or copied for it.
#[derive(Default)]
struct Log {
    undo: Vec<Undo>,
    moved: usize,
}

/// How to take back one primitive change.
enum Undo {
    Remove(Vec<String>),
    Insert(Vec<String>, Tree),
    Replace(Vec<String>, Tree),
}

/// By how much a value grew, or shrank.
#[derive(Clone, Copy)]
struct Grown {
    bytes: isize,
    values: isize,
}

impl Grown {
    fn by(bytes: isize, values: isize) -> Self {
        Self { bytes, values }
    }
}

type Step<T> = Result<T, &'static str>;

impl Tree {
    /// Whether it may stand below so many others; answers how many values had to be looked at.
    fn fits_below(&self, above: usize) -> Step<usize> {
        match above + self.0.depth_max > DEPTH_MAX {
            false => Ok(0),
            true if above + self.depth() > DEPTH_MAX => Err("the state would nest deeper than 128"),
            true => Ok(self.values()),
        }
    }

    /// Applies all operations, or none.
    pub fn apply(&mut self, ops: &[Op]) -> Result<(), PatchError> {
        let any = StateMax {
            bytes: usize::MAX,
            values: usize::MAX,
        };
        self.apply_within(ops, any)
    }

    /// Applies all operations, or none; a few copies can double a state many times over, so its size is watched. One
    /// that holds more values already may stay so, and shrink.
    pub fn apply_within(&mut self, ops: &[Op], max: StateMax) -> Result<(), PatchError> {
        let mut log = Log::default();
        let values_max = max.values.max(self.values());
        for (index, op) in ops.iter().enumerate() {
            let applied = self.apply_one(op, &mut log);
            let fits = match () {
                () if self.size() > max.bytes => Err(Refused::BYTES),
                () if self.values() > values_max => Err(Refused::VALUES),
                () if log.moved > MOVED_MAX => Err(Refused::WORK),
                () => Ok(()),
            };
            if let Err(why) = applied.and(fits) {
                let undo = log.undo.into_iter().rev();
                undo.for_each(|step| self.undo(step));
                let path = op.path().to_owned();
                return Err(PatchError { index, path, why });
            }
        }
        Ok(())
    }

    fn apply_one(&mut self, op: &Op, log: &mut Log) -> Step<()> {
        match op {
            Op::Add { path, value } => self.put(tokens(path)?, Tree::from(value.clone()), log),
            Op::Remove { path } => self.take(tokens(path)?, log).map(drop),
            Op::Replace { path, value } => self.swap(tokens(path)?, Tree::from(value.clone()), log),
            Op::Copy { from, path } => {
                let copy = self
                    .get(&tokens(from)?)
                    .ok_or("there is no value at `from`")?
                    .clone();
                self.put(tokens(path)?, copy, log)
            }
            Op::Move { from, path } => {
                if path.starts_with(&format!("{from}/")) {
                    return Err("a value cannot be moved into itself");
                }
                if from == path {
                    return self
                        .get(&tokens(from)?)
                        .map(drop)
                        .ok_or("there is no value at `from`");
                }
                let moved = self.take(tokens(from)?, log)?;
                self.put(tokens(path)?, moved, log)
            }
            Op::Test { path, value } => match self.get(&tokens(path)?) {
                Some(found) if found.equals(value) => Ok(()),
                Some(_) => Err("the value there is another one"),
                None => Err("there is no value"),
            },
        }
    }

    fn undo(&mut self, step: Undo) {
        // Takes back what was just done to this very tree, so each path is there.
        let mut ignored = Log::default();
        let _ = match step {
            Undo::Remove(path) => self.take(path, &mut ignored).map(drop),
            Undo::Insert(path, tree) => self.put(path, tree, &mut ignored),
            Undo::Replace(path, tree) => self.swap(path, tree, &mut ignored),
        };
    }

    /// By value: `1` and `1.0` are equal.
    pub fn equals(&self, value: &Value) -> bool {
        match (&self.0.node, value) {
            (Node::Scalar(Value::Number(mine)), Value::Number(other)) => same_number(mine, other),
            (Node::Scalar(mine), other) => mine == other,
            (Node::Array(items), Value::Array(others)) => {
                items.len() == others.len() && items.iter().zip(others).all(|(a, b)| a.equals(b))
            }
            (Node::Object(map), Value::Object(others)) => {
                map.len() == others.len()
                    && map
                        .iter()
                        .all(|(k, t)| others.get(k).is_some_and(|v| t.equals(v)))
            }
            _ => false,
        }
    }

    fn put(&mut self, mut path: Vec<String>, tree: Tree, log: &mut Log) -> Step<()> {
        log.moved += tree.fits_below(path.len())?;
        if path.is_empty() {
            return self.swap(path, tree, log);
        }
        let mut replaced = None;
        let mut landed = None;
        let (mut shifted, values) = (0, tree.values() as isize);
        self.edit(&path, &mut log.moved, |node, last| match node {
            Node::Scalar(_) => Err("the parent is neither an object nor an array"),
            Node::Array(items) => {
                let at = if last == "-" {
                    items.len()
                } else {
                    index(last, items.len() + 1)?
                };
                let grown = tree.size() + usize::from(!items.is_empty());
                shifted = items.len() - at;
                items.insert(at, tree);
                landed = Some(at.to_string());
                Ok(Grown::by(grown as isize, values))
            }
            Node::Object(map) => {
                let size = entry_size(last, &tree) as isize;
                let separator = isize::from(!map.is_empty());
                replaced = map.insert(last.to_owned(), tree);
                Ok(match &replaced {
                    Some(old) => Grown::by(
                        size - entry_size(last, old) as isize,
                        values - old.values() as isize,
                    ),
                    None => Grown::by(size + separator, values),
                })
            }
        })?;
        log.moved += shifted;
        if let (Some(at), Some(last)) = (landed, path.last_mut()) {
            *last = at;
        }
        log.undo.push(match replaced {
            Some(old) => Undo::Replace(path, old),
            None => Undo::Remove(path),
        });
        Ok(())
    }

    fn take(&mut self, path: Vec<String>, log: &mut Log) -> Step<Tree> {
        if path.is_empty() {
            return Err("the whole state cannot be removed");
        }
        let mut shifted = 0;
        let taken = self.edit_with(&path, &mut log.moved, |node, last| match node {
            Node::Scalar(_) => Err("there is no value"),
            Node::Array(items) => {
                let at = index(last, items.len())?;
                let tree = items.remove(at);
                shifted = items.len() - at;
                let shrunk = tree.size() + usize::from(!items.is_empty());
                let gone = tree.values() as isize;
                Ok((tree, Grown::by(-(shrunk as isize), -gone)))
            }
            Node::Object(map) => {
                let tree = map.remove(last).ok_or("there is no value")?;
                let shrunk = entry_size(last, &tree) + usize::from(!map.is_empty());
                let gone = tree.values() as isize;
                Ok((tree, Grown::by(-(shrunk as isize), -gone)))
            }
        })?;
        log.moved += shifted;
        log.undo.push(Undo::Insert(path, taken.clone()));
        Ok(taken)
    }

    fn swap(&mut self, path: Vec<String>, tree: Tree, log: &mut Log) -> Step<()> {
        log.moved += tree.fits_below(path.len())?;
        if path.is_empty() {
            log.undo
                .push(Undo::Replace(path, std::mem::replace(self, tree)));
            return Ok(());
        }
        let old = self.edit_with(&path, &mut log.moved, |node, last| {
            let place = match node {
                Node::Scalar(_) => None,
                Node::Array(items) => {
                    let at = index(last, items.len())?;
                    items.get_mut(at)
                }
                Node::Object(map) => map.get_mut(last),
            };
            let place = place.ok_or("there is no value to replace")?;
            let change = Grown::by(
                tree.size() as isize - place.size() as isize,
                tree.values() as isize - place.values() as isize,
            );
            Ok((std::mem::replace(place, tree), change))
        })?;
        log.undo.push(Undo::Replace(path, old));
        Ok(())
    }

    fn edit(
        &mut self,
        path: &[String],
        moved: &mut usize,
        f: impl FnOnce(&mut Node, &str) -> Step<Grown>,
    ) -> Step<()> {
        self.edit_with(path, moved, |node, last| {
            f(node, last).map(|change| ((), change))
        })
    }

    /// Changes the container that holds the last token of `path`; sizes and hashes follow up to the root.
    fn edit_with<T>(
        &mut self,
        path: &[String],
        moved: &mut usize,
        f: impl FnOnce(&mut Node, &str) -> Step<(T, Grown)>,
    ) -> Step<T> {
        self.descend(path, moved, f).map(|(out, ..)| out)
    }

    /// Answers also by how much it grew, and how deep it may be now.
    fn descend<T>(
        &mut self,
        path: &[String],
        moved: &mut usize,
        f: impl FnOnce(&mut Node, &str) -> Step<(T, Grown)>,
    ) -> Step<(T, Grown, usize)> {
        if Arc::get_mut(&mut self.0).is_none() {
            *moved += COPIED * self.0.node.len();
        }
        let known = Arc::make_mut(&mut self.0);
        let (out, change, below) = match path {
            [] => return Err("the path is empty"),
            [last] => {
                let (out, change) = f(&mut known.node, last)?;
                let changed = match &known.node {
                    Node::Array(items) if last == "-" => items.last(),
                    node => node.at(last),
                };
                (out, change, changed.map_or(0, |t| t.0.depth_max))
            }
            [first, rest @ ..] => {
                let child = match &mut known.node {
                    Node::Scalar(_) => None,
                    Node::Array(items) => {
                        let at = index(first, items.len())?;
                        items.get_mut(at)
                    }
                    Node::Object(map) => map.get_mut(first),
                };
                child
                    .ok_or("the parent does not exist")?
                    .descend(rest, moved, f)?
            }
        };
        known.hash = OnceLock::new();
        known.size = known.size.wrapping_add_signed(change.bytes);
        known.values = known.values.wrapping_add_signed(change.values);
        known.depth_max = known.depth_max.max(below + 1);
        Ok((out, change, known.depth_max))
    }

    /// A list that is changed as a whole: one with many changes.
    pub(in crate::domain) fn edit_list(
        &mut self,
        path: &[String],
        f: impl FnOnce(Vec<Tree>) -> Step<Vec<Tree>>,
    ) -> Step<()> {
        let found = self.get(path).ok_or("the parent does not exist")?;
        let Node::Array(items) = &found.0.node else {
            return Err("the parent is not a list");
        };
        let list = Tree::list(f(items.clone())?);
        self.swap(path.to_vec(), list, &mut Log::default())
    }

    /// A list of trees: what is known of each of them is kept.
    pub(in crate::domain) fn list(items: Vec<Tree>) -> Self {
        Self::made(Node::Array(items))
    }

    pub(in crate::domain) fn object(members: BTreeMap<String, Tree>) -> Self {
        Self::made(Node::Object(members))
    }

    pub(in crate::domain) fn put_at(&mut self, path: &str, tree: Tree) -> Step<()> {
        self.put(tokens(path)?, tree, &mut Log::default())
    }

    pub(in crate::domain) fn take_at(&mut self, path: &str) -> Step<Tree> {
        self.take(tokens(path)?, &mut Log::default())
    }

    pub(in crate::domain) fn swap_at(&mut self, path: &str, tree: Tree) -> Step<()> {
        self.swap(tokens(path)?, tree, &mut Log::default())
    }
}

/// RFC 6902 compares numbers by value: 1 is 1.0. Whole numbers are compared exactly.
fn same_number(a: &Number, b: &Number) -> bool {
    a == b || ((a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64())
}

/// An array index as RFC 6901 writes it: no sign, no leading zero, below `len`.
pub(in crate::domain) fn index(token: &str, len: usize) -> Step<usize> {
    let plain =
        token == "0" || (!token.starts_with('0') && token.bytes().all(|b| b.is_ascii_digit()));
    match token.parse::<usize>() {
        Ok(n) if plain && n < len => Ok(n),
        Ok(_) if plain => Err("the index is past the end"),
        _ => Err("that is not an array index"),
    }
}
