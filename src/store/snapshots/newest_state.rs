//! A run's newest state: it advances by changes, and each makes the row of one snapshot.

use super::{
    codec::{self, Window},
    stored::{Stored, TABLE},
};
use crate::{
    domain::{
        Code, Hash, Problem, RunId, Time, diff,
        tree::hash::link,
        tree::{Refused, StateMax, Tree},
        wire::patch::Op,
    },
    store::{
        Error,
        bulk::Bulk,
        engine::{Param, params},
    },
};

/// What reading one more row costs, in bytes of JSON: many small deltas count, too.
const ROW_WEIGHT: i64 = 256;
/// A keyframe comes when the deltas since the last one weigh so many times the state: storage follows the change, and
/// a state is never more than about three times itself to read.
const KEYFRAME_WEIGHT: i64 = 2;
/// A patch larger than this is compared with the state: agents may send values that did not change.
const PATCH_MAX: usize = 8 << 10;

/// A weight that makes the next snapshot a keyframe, where the snapshots before belong to another run.
pub(super) const BEFORE_A_KEYFRAME: i64 = i64::MAX / 2;

/// A run's newest state, at hand. A copy is cheap: it shares the tree.
#[derive(Debug, Clone)]
pub struct NewestState {
    pub snapshot: i64,
    pub hash: Hash,
    pub tree: Tree,
    pub(super) keyframe: i64,
    /// What reading the deltas since the keyframe costs, in bytes of JSON.
    pub(super) weight: i64,
    pub(super) window: Window,
}

/// How a snapshot is made from the one before.
pub enum Change {
    Patch(Vec<Op>),
    Whole(Tree),
}

/// A snapshot's body as it is stored.
#[derive(Debug, Clone)]
pub struct Packed {
    encoding: String,
    body: Vec<u8>,
}

pub static INSERT: Bulk = Bulk::insert(&TABLE, &[]);

impl NewestState {
    /// Snapshot 0, the initial state.
    pub fn initial(tree: Tree) -> Result<(Self, Packed), Error> {
        let hash = link(Hash::default(), 0, tree.hash());
        let mut held = Self {
            snapshot: 0,
            hash,
            tree,
            keyframe: 0,
            weight: 0,
            window: Window::default(),
        };
        let packed = held.packed(None)?;
        Ok((held, packed))
    }

    /// Roughly what it takes in memory, beside what a tree needs more than its JSON.
    pub fn bytes(&self) -> usize {
        self.tree.size() + self.window.bytes() + 1_024
    }

    /// Applies the change; answers the body of the snapshot it made, for [`NewestState::row`]. A patch that does not fit
    /// leaves everything as it was. It needs no transaction: what is large is done before there is one.
    pub fn advance(&mut self, change: Change, state_max: StateMax) -> Result<Packed, Error> {
        let delta = self.change(change, state_max)?;
        self.snapshot += 1;
        self.hash = link(self.hash, self.snapshot, self.tree.hash());
        if let Some(delta) = delta {
            self.weight += delta.len() as i64 + ROW_WEIGHT;
            if self.weight <= KEYFRAME_WEIGHT * self.tree.size() as i64 + ROW_WEIGHT {
                return self.packed(Some(delta));
            }
        }
        (self.keyframe, self.weight) = (self.snapshot, 0);
        self.packed(None)
    }

    /// Makes the next state; answers the change that makes it as it is stored, or `None` where only the whole state
    /// will do.
    fn change(&mut self, change: Change, state_max: StateMax) -> Result<Option<Vec<u8>>, Error> {
        let (tree, said) = match change {
            Change::Patch(ops) => match said(&ops).filter(|said| sizes(said) <= PATCH_MAX) {
                // One operation says what changed: nothing is compared with the state before, nothing is copied.
                Some(said) if said.len() < 2 => {
                    patched(&mut self.tree, &ops, state_max)?;
                    return stored(&said).map(Some);
                }
                said => {
                    let mut tree = self.tree.clone();
                    patched(&mut tree, &ops, state_max)?;
                    (tree, said)
                }
            },
            Change::Whole(tree) => {
                // A state that has more values than the limit already may be kept or made smaller, not larger.
                let values = state_max.values.max(self.tree.values());
                fits(
                    &tree,
                    StateMax {
                        values,
                        ..state_max
                    },
                )?;
                (tree, None)
            }
        };
        if let Some(said) = said.filter(|said| self.makes(said, &tree)) {
            self.tree = tree;
            return stored(&said).map(Some);
        }
        let changes = diff::forward(diff::diff(&self.tree, &tree));
        // The tree made by the changes shares its unchanged parts with the tree before.
        match diff::apply(&self.tree, &changes) {
            Ok(made) if made.hash() == tree.hash() => {
                self.tree = made;
                stored(&changes).map(Some)
            }
            _ => {
                self.tree = tree;
                Ok(None)
            }
        }
    }

    fn makes(&self, changes: &[diff::Change], tree: &Tree) -> bool {
        diff::apply(&self.tree, changes).is_ok_and(|made| made.hash() == tree.hash())
    }

    /// The newest snapshot's body: this delta, or the whole state.
    fn packed(&mut self, delta: Option<Vec<u8>>) -> Result<Packed, Error> {
        let (encoding, body) = match delta {
            Some(delta) => {
                let packed = codec::pack("change", &delta, &self.window)?;
                self.window.push(&delta);
                packed
            }
            None => {
                self.window.clear();
                let whole = serde_json::to_vec(&self.tree).map_err(Error::damaged)?;
                codec::pack("keyframe", &whole, &self.window)?
            }
        };
        Ok(Packed { encoding, body })
    }

    /// The newest snapshot as a row, for [`INSERT`].
    pub fn row(&self, run: &RunId, seq: Option<i64>, at: Time, packed: Packed) -> Vec<Param> {
        let row = Stored {
            run: run.clone(),
            n: self.snapshot,
            seq,
            created_at: at,
            keyframe: self.keyframe,
            weight: self.weight,
            encoding: packed.encoding,
            body: packed.body,
            state_hash: self.tree.hash(),
            hash: self.hash,
        };
        INSERT.row(row.values(), params![])
    }
}

/// Refuses a state that is too large.
pub fn fits(tree: &Tree, max: StateMax) -> Result<(), Problem> {
    match () {
        () if tree.size() > max.bytes => Err(Problem::too_large("state", max.bytes)),
        () if tree.values() > max.values => Err(Problem::too_many("state", max.values)),
        () => Ok(()),
    }
}

/// Applies all operations, or none.
fn patched(tree: &mut Tree, ops: &[Op], state_max: StateMax) -> Result<(), Problem> {
    tree.apply_within(ops, state_max).map_err(|e| match e.why {
        Refused::BYTES => Problem::too_large("state", state_max.bytes),
        Refused::VALUES => Problem::too_many("state", state_max.values),
        _ => Problem::new(Code::PatchFailed, e.to_string())
            .with("path", &e.path)
            .with("operation", e.index),
    })
}

fn stored(changes: &[diff::Change]) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(changes).map_err(Error::damaged)
}

/// A patch in the form that is stored. `None` for a patch with `copy`, whose value only a comparison gives.
fn said(ops: &[Op]) -> Option<Vec<diff::Change>> {
    let mut changes = Vec::with_capacity(ops.len());
    for op in ops {
        changes.push(match op.clone() {
            Op::Add { path, value } => diff::Change::Add {
                path,
                new: value.into(),
            },
            Op::Remove { path } => diff::Change::Remove { path, old: None },
            Op::Replace { path, value } => diff::Change::Replace {
                path,
                old: None,
                new: value.into(),
            },
            Op::Move { from, path } => diff::Change::Move { from, path },
            Op::Test { .. } => continue,
            Op::Copy { .. } => return None,
        });
    }
    Some(changes)
}

/// Bytes of the values that changes bring.
fn sizes(changes: &[diff::Change]) -> usize {
    let brought = |change: &diff::Change| match change {
        diff::Change::Add { new, .. } | diff::Change::Replace { new, .. } => new.size(),
        _ => 0,
    };
    changes.iter().map(brought).sum()
}
