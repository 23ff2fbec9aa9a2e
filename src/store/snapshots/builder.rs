//! A state as it is made from stored snapshots, one after the other from a keyframe on.

use super::{
    codec::{self, Window},
    stored::Stored,
};
use crate::{
    domain::{Hash, diff, hash::link, patch::Op, tree::Tree},
    store::{Error, engine::read_json},
};

#[derive(Default)]
pub struct Builder {
    built: Option<Built>,
}

pub struct Built {
    pub n: i64,
    pub hash: Hash,
    pub tree: Tree,
    pub window: Window,
}

impl Builder {
    /// Adds the next snapshot: its place in the chain is checked, its state only by [`Builder::checked`]. What does
    /// not fit leaves everything as it was.
    pub fn push(&mut self, stored: &Stored) -> Result<&Built, Error> {
        let before = self.built.as_ref().filter(|it| it.n + 1 == stored.n);
        let (content, packing) = stored.encoding.split_once('+').unwrap_or_default();
        let mut window = before.map(|it| it.window.clone()).unwrap_or_default();
        if content == "keyframe" {
            window.clear();
        }
        let plain = codec::unpack(packing, &stored.body, &window)?;
        let tree = match (content, before) {
            ("keyframe", _) => read_json(&plain)?,
            ("change", Some(before)) => {
                let changes: Vec<diff::Change> = read_json(&plain)?;
                diff::apply(&before.tree, &changes).map_err(Error::damaged)?
            }
            ("delta", Some(before)) => {
                let mut tree = before.tree.clone();
                let ops: Vec<Op> = read_json(&plain)?;
                tree.apply(&ops).map_err(Error::damaged)?;
                tree
            }
            _ => {
                return Err(Error::damaged(format!(
                    "snapshot {} cannot be made without the one before",
                    stored.n
                )));
            }
        };
        if content != "keyframe" {
            window.push(plain.as_bytes());
        }
        let previous = match stored.n {
            0 => Some(Hash::default()),
            _ => before.map(|it| it.hash),
        };
        if previous.is_some_and(|hash| stored.hash != link(hash, stored.n, stored.state_hash)) {
            return Err(Error::damaged(format!(
                "snapshot {} does not follow from the one before",
                stored.n
            )));
        }
        Ok(self.built.insert(Built {
            n: stored.n,
            hash: stored.hash,
            tree,
            window,
        }))
    }

    /// Adds the next snapshot, and holds its state against its hash.
    pub fn checked(&mut self, stored: &Stored) -> Result<(), Error> {
        let shared = self.built.as_ref().map(Built::shared);
        let hash = self.push(stored)?.tree.hash();
        if hash != stored.state_hash {
            self.built = shared;
            return Err(mismatch(stored.n));
        }
        Ok(())
    }

    pub fn last(&self) -> Option<&Built> {
        self.built.as_ref()
    }

    pub fn finish(self) -> Option<Built> {
        self.built
    }

    /// Goes on from a state that was built elsewhere.
    pub fn from(built: Built) -> Self {
        Self { built: Some(built) }
    }
}

impl Built {
    /// The same once more; subtrees are shared.
    fn shared(&self) -> Self {
        Self {
            n: self.n,
            hash: self.hash,
            tree: self.tree.clone(),
            window: self.window.clone(),
        }
    }
}

pub fn mismatch(n: i64) -> Error {
    Error::damaged(format!("the state of snapshot {n} does not match its hash"))
}
