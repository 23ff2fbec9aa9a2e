//! A run's newest state: it advances by changes, and each makes the row of one snapshot.

use serde_json::Value;

use super::{codec, stored::TABLE};
use crate::{
    domain::{
        Code, Hash, Problem, RunId, Time, diff,
        hash::link,
        patch::Op,
        tree::{TOO_LARGE, Tree},
    },
    store::{
        Error,
        bulk::Bulk,
        engine::{Param, params},
    },
};

/// Deltas in a row after which a keyframe comes, however small they are.
const DELTAS_MAX: i64 = 512;

/// The next snapshot is a keyframe: what is before it belongs to another run.
pub(super) const BEFORE_A_KEYFRAME: i64 = -DELTAS_MAX;

/// A run's newest state, at hand.
#[derive(Debug)]
pub struct Held {
    pub snapshot: i64,
    pub hash: Hash,
    pub tree: Tree,
    pub(super) keyframe: i64,
    /// Bytes of deltas since the keyframe.
    pub(super) weight: i64,
}

/// How a snapshot is made from the one before.
pub enum Change {
    Patch(Vec<Op>),
    Whole(Value),
}

pub static INSERT: Bulk = Bulk {
    before: "INSERT INTO snapshots (run, n, seq, created_at, keyframe, weight, encoding, body, \
         state_hash, hash, seal) VALUES ",
    columns: 11,
    after: "",
};

impl Held {
    /// Snapshot 0, the initial state, and its row for [`INSERT`].
    pub fn initial(run: &RunId, at: Time, state: Value) -> Result<(Self, Vec<Param>), Error> {
        let tree = Tree::from(state);
        let hash = link(Hash::default(), 0, tree.hash());
        let mut held = Self {
            snapshot: 0,
            hash,
            tree,
            keyframe: 0,
            weight: 0,
        };
        let row = held.row(run, None, at, None)?;
        Ok((held, row))
    }

    /// Applies the change; answers the row of the snapshot it made, for [`INSERT`]. A patch that does not fit
    /// leaves everything as it was.
    pub fn advance(
        &mut self,
        run: &RunId,
        seq: Option<i64>,
        at: Time,
        change: Change,
        state_max: usize,
    ) -> Result<Vec<Param>, Error> {
        let ops = match change {
            Change::Patch(ops) => ops,
            Change::Whole(state) => diff::ops(&self.tree, &Tree::from(state)),
        };
        self.tree
            .apply_within(&ops, state_max)
            .map_err(|e| match e.why {
                TOO_LARGE => Problem::too_large("state", state_max),
                _ => Problem::new(Code::PatchFailed, e.to_string())
                    .with("path", &e.path)
                    .with("operation", e.index),
            })?;
        self.snapshot += 1;
        self.hash = link(self.hash, self.snapshot, self.tree.hash());
        let delta = serde_json::to_vec(&ops).map_err(Error::damaged)?;
        self.weight += delta.len() as i64;
        let outweighed = self.weight > self.tree.size() as i64;
        if outweighed || self.snapshot - self.keyframe >= DELTAS_MAX {
            (self.keyframe, self.weight) = (self.snapshot, 0);
            return self.row(run, seq, at, None);
        }
        self.row(run, seq, at, Some(delta))
    }

    /// The newest snapshot as a row: as this delta, or whole.
    fn row(
        &mut self,
        run: &RunId,
        seq: Option<i64>,
        at: Time,
        delta: Option<Vec<u8>>,
    ) -> Result<Vec<Param>, Error> {
        let (encoding, plain) = match delta {
            Some(delta) => ("delta", delta),
            None => (
                "keyframe",
                serde_json::to_vec(&self.tree).map_err(Error::damaged)?,
            ),
        };
        let (encoding, body) = codec::pack(encoding, plain)?;
        Ok(TABLE.row(params![
            run.as_str(),
            self.snapshot,
            seq,
            at,
            self.keyframe,
            self.weight,
            encoding,
            body,
            self.tree.hash(),
            self.hash,
        ]))
    }
}
