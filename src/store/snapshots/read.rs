//! States read back: rebuilt from their keyframe and checked on the way; a damaged one is never served.

use super::{
    held::Held,
    stored::{self, Stored},
};
use crate::{
    domain::{Code, Hash, Problem, RunId, protocol::SnapshotAnswer, tree::Tree},
    store::{
        Error,
        engine::{Connection, params},
    },
};

/// The snapshots from the keyframe up to `n`; each is checked, the first damaged one ends it.
async fn rebuild(
    conn: &mut dyn Connection,
    run: &RunId,
    n: i64,
) -> Result<Result<(Stored, Tree), Option<i64>>, Error> {
    let rows = stored::chain(conn, run, n).await?;
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
    let run = &stored::owner(conn, run, damaged).await?;
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

pub async fn built(
    conn: &mut dyn Connection,
    run: &RunId,
    n: i64,
) -> Result<(Stored, Tree), Error> {
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
    let keyframe = match stored::owner(conn, run, snapshot).await? == *run {
        true => keyframe,
        false => super::held::BEFORE_A_KEYFRAME,
    };
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
