//! A state as it is made from stored snapshots, one after the other from a keyframe on.

use super::{
    codec::{self, Window},
    stored::Stored,
};
use crate::{
    domain::{Hash, diff, tree::Tree, tree::hash::link, wire::patch::Op},
    store::{Error, engine::read_json},
};

#[derive(Default)]
pub struct Builder {
    built: Option<Built>,
    good: Option<i64>,
}

pub struct Built {
    pub n: i64,
    pub hash: Hash,
    pub tree: Tree,
    pub window: Window,
}

impl Builder {
    /// Adds the next snapshot and checks its link in the hash chain, but not its state: [`Builder::checked`] does that.
    /// After a snapshot that does not fit, only a keyframe is accepted. The state is changed in place, so the cost is that
    /// of the change.
    pub fn push(&mut self, stored: &Stored) -> Result<&Built, Error> {
        let before = self.built.take().filter(|it| it.n + 1 == stored.n);
        let built = next(before, stored)?;
        self.good = Some(built.n);
        Ok(self.built.insert(built))
    }

    /// Adds the next snapshot, and holds its state against its hash.
    pub fn checked(&mut self, stored: &Stored) -> Result<&Built, Error> {
        let good = self.good;
        if self.push(stored)?.tree.hash() != stored.state_hash {
            (self.built, self.good) = (None, good);
            return Err(mismatch(stored.n));
        }
        self.built.as_ref().ok_or_else(|| mismatch(stored.n))
    }

    /// The snapshot that was added last, if it fitted.
    pub fn reached(&self) -> Option<i64> {
        self.built.as_ref().map(|it| it.n)
    }

    /// The newest snapshot that fitted.
    pub fn good(&self) -> Option<i64> {
        self.good
    }

    pub fn finish(self) -> Option<Built> {
        self.built
    }

    /// Goes on from a state that was built elsewhere.
    pub fn from(built: Built) -> Self {
        Self {
            good: Some(built.n),
            built: Some(built),
        }
    }
}

/// The state of a snapshot, made of the one before.
fn next(before: Option<Built>, stored: &Stored) -> Result<Built, Error> {
    let (content, packing) = stored.encoding.split_once('+').unwrap_or_default();
    let (previous, tree, mut window) = match before {
        Some(it) => (Some(it.hash), Some(it.tree), it.window),
        None => Default::default(),
    };
    if content == "keyframe" {
        window.clear();
    }
    let plain = codec::unpack(packing, &stored.body, &window)?;
    let tree = match (content, tree) {
        ("keyframe", _) => read_json(&plain)?,
        ("change", Some(tree)) => {
            let changes: Vec<diff::Change> = read_json(&plain)?;
            diff::applied(tree, &changes).map_err(Error::damaged)?
        }
        ("delta", Some(mut tree)) => {
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
        _ => previous,
    };
    if previous.is_some_and(|hash| stored.hash != link(hash, stored.n, stored.state_hash)) {
        return Err(Error::damaged(format!(
            "snapshot {} does not follow from the one before",
            stored.n
        )));
    }
    Ok(Built {
        n: stored.n,
        hash: stored.hash,
        tree,
        window,
    })
}

pub fn mismatch(n: i64) -> Error {
    Error::damaged(format!("the state of snapshot {n} does not match its hash"))
}
