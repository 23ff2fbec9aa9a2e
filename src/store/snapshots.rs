//! States as they are stored: a delta against the snapshot before, with keyframes placed so that storage follows
//! the change and any snapshot reads in bounded time. Everything above sees only [`Held`] and [`load`].

use serde_json::Value;

use super::{
    bulk::Bulk,
    engine::{Connection, Param, Row, params, read_json},
    error::Error,
};
use crate::domain::{
    Code, Hash, Problem, RunId, Time,
    hash::link,
    patch::Op,
    protocol::SnapshotAnswer,
    tree::{TOO_LARGE, Tree},
};

/// Deltas in a row after which a keyframe comes, however small they are.
const DELTAS_MAX: i64 = 512;
const ZSTD_LEVEL: i32 = 3;
/// Below this, compressing costs more than it saves.
const PLAIN_MAX: usize = 256;

/// A run's newest state, at hand.
#[derive(Debug)]
pub struct Held {
    pub snapshot: i64,
    pub hash: Hash,
    pub tree: Tree,
    keyframe: i64,
    /// Bytes of deltas since the keyframe.
    weight: i64,
}

/// How a snapshot is made from the one before.
pub enum Change {
    Patch(Vec<Op>),
    Whole(Value),
}

pub static INSERT: Bulk = Bulk {
    before: "INSERT INTO snapshots (run, n, seq, created_at, keyframe, weight, encoding, body, \
         state_hash, hash) VALUES ",
    columns: 10,
    after: "",
};

impl Held {
    /// Snapshot 0, the initial state, and its row for [`INSERT`].
    pub fn initial(run: &RunId, at: Time, state: Value) -> Result<(Self, Vec<Param>), Error> {
        let mut tree = Tree::from(state);
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
            Change::Whole(state) => self.tree.diff(&mut Tree::from(state)),
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
        let (packing, body) = match plain.len() {
            0..=PLAIN_MAX => ("json", plain),
            _ => (
                "zstd",
                zstd::bulk::compress(&plain, ZSTD_LEVEL).map_err(Error::damaged)?,
            ),
        };
        Ok(params![
            run.as_str(),
            self.snapshot,
            seq,
            at,
            self.keyframe,
            self.weight,
            format!("{encoding}+{packing}"),
            body,
            self.tree.hash(),
            self.hash,
        ])
    }
}

/// One stored snapshot, not yet decoded.
struct Stored {
    n: i64,
    seq: Option<i64>,
    created_at: Time,
    keyframe: i64,
    weight: i64,
    encoding: String,
    body: Vec<u8>,
    state_hash: Hash,
    hash: Hash,
}

const COLUMNS_OF_CHAIN: &str = "SELECT n, seq, created_at, keyframe, weight, encoding, body, state_hash, hash \
     FROM snapshots WHERE run = $1 AND n <= $2 AND n >= (SELECT keyframe FROM snapshots WHERE run = $1 AND n = $2) \
     ORDER BY n";

impl Stored {
    fn read(mut row: Row) -> Result<Self, Error> {
        Ok(Self {
            n: row.int()?,
            seq: row.opt_int()?,
            created_at: row.time()?,
            keyframe: row.int()?,
            weight: row.int()?,
            encoding: row.text()?,
            body: row.bytes()?,
            state_hash: row.hash()?,
            hash: row.hash()?,
        })
    }

    fn decode<T: serde::de::DeserializeOwned>(&self, packing: &str) -> Result<T, Error> {
        let plain = match packing {
            "json" => self.body.clone(),
            "zstd" => zstd::stream::decode_all(self.body.as_slice()).map_err(Error::damaged)?,
            other => return Err(Error::damaged(format!("packing {other:?}"))),
        };
        read_json(&String::from_utf8(plain).map_err(Error::damaged)?)
    }

    /// The state after this snapshot, made from the one before; checked against both hashes.
    fn build(&self, before: Option<(Tree, Hash)>) -> Result<Tree, Error> {
        let (mut tree, previous) = match (self.encoding.split_once('+'), before) {
            (Some(("keyframe", packing)), before) => (
                Tree::from(self.decode::<Value>(packing)?),
                before.map(|(_, hash)| hash),
            ),
            (Some(("delta", packing)), Some((mut tree, hash))) => {
                tree.apply(&self.decode::<Vec<Op>>(packing)?)
                    .map_err(Error::damaged)?;
                (tree, Some(hash))
            }
            _ => return Err(Error::damaged(format!("encoding {:?}", self.encoding))),
        };
        let chained =
            previous.is_none_or(|previous| self.hash == link(previous, self.n, self.state_hash));
        match tree.hash() == self.state_hash && chained {
            true => Ok(tree),
            false => Err(Error::damaged(format!("the hash of snapshot {}", self.n))),
        }
    }
}

/// The snapshots from the keyframe up to `n`; each is checked, the first damaged one ends it.
async fn rebuild(
    conn: &mut dyn Connection,
    run: &RunId,
    n: i64,
) -> Result<Result<(Stored, Tree), Option<i64>>, Error> {
    let rows = match conn.fetch(COLUMNS_OF_CHAIN, params![run.as_str(), n]).await {
        Ok(rows) => rows,
        Err(error) => return Err(error),
    };
    let mut built: Option<(Stored, Tree)> = None;
    for row in rows {
        let good = built.as_ref().map(|(stored, _)| stored.n);
        let Ok(stored) = Stored::read(row) else {
            return Ok(Err(good));
        };
        let before = built.take().map(|(stored, tree)| (tree, stored.hash));
        match stored.build(before) {
            Ok(tree) => built = Some((stored, tree)),
            Err(error) => {
                tracing::error!(%run, snapshot = stored.n, %error, "a snapshot is damaged");
                return Ok(Err(good));
            }
        }
    }
    Ok(built.filter(|(stored, _)| stored.n == n).ok_or(None))
}

/// The newest good snapshot before a damaged one.
async fn last_good(
    conn: &mut dyn Connection,
    run: &RunId,
    damaged: i64,
) -> Result<Option<i64>, Error> {
    let sql = "SELECT n FROM snapshots WHERE run = $1 AND n < $2 ORDER BY n DESC LIMIT 1";
    let mut below = damaged;
    while let Some(mut row) = conn.fetch_one(sql, params![run.as_str(), below]).await? {
        below = row.int()?;
        match rebuild(conn, run, below).await? {
            Ok(_) => return Ok(Some(below)),
            Err(Some(good)) => return Ok(Some(good)),
            Err(None) => {}
        }
    }
    Ok(None)
}

async fn built(conn: &mut dyn Connection, run: &RunId, n: i64) -> Result<(Stored, Tree), Error> {
    let good = match rebuild(conn, run, n).await? {
        Ok(found) => return Ok(found),
        Err(Some(good)) => Some(good),
        Err(None) => last_good(conn, run, n).await?,
    };
    let detail = format!("snapshot {n} of run {run} is damaged in the store");
    Err(Problem::new(Code::Corrupt, detail)
        .with("snapshot", n)
        .with("last_good", good)
        .into())
}

/// The run's newest state; its hash must be the one the run itself knows.
pub async fn load(
    conn: &mut dyn Connection,
    run: &RunId,
    snapshot: i64,
    hash: Hash,
) -> Result<Held, Error> {
    let (stored, tree) = built(conn, run, snapshot).await?;
    if stored.hash != hash {
        return Err(Error::damaged(format!(
            "the hash chain of run {run} at snapshot {snapshot}"
        )));
    }
    let Stored {
        keyframe, weight, ..
    } = stored;
    Ok(Held {
        snapshot,
        hash,
        tree,
        keyframe,
        weight,
    })
}

/// One snapshot as it is read by people and agents.
pub async fn read(conn: &mut dyn Connection, run: &RunId, n: i64) -> Result<SnapshotAnswer, Error> {
    let (stored, tree) = built(conn, run, n).await?;
    Ok(SnapshotAnswer {
        snapshot: n,
        seq: stored.seq,
        hash: stored.hash,
        created_at: stored.created_at,
        state: tree.to_value(),
    })
}
