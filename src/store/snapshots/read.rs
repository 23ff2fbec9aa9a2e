//! States read back: rebuilt from their keyframe and checked on the way; a damaged one is never served.

use super::{
    builder::{Builder, Built},
    newest_state::NewestState,
    stored::{self, Stored},
};
use crate::{
    domain::{Code, Hash, Problem, RunId, Time, tree::Tree, wire::protocol::SnapshotAnswer},
    store::{
        Error,
        engine::{Connection, params},
    },
};

/// The state `n`, from its keyframe on; only the last state is held against its hash: it vouches for the ones before.
async fn rebuild(
    conn: &mut dyn Connection,
    run: &RunId,
    n: i64,
) -> Result<Result<(Stored, Built), Option<i64>>, Error> {
    let mut builder = Builder::default();
    let mut stored = Vec::new();
    for row in stored::chain(conn, run, n).await? {
        let Ok(next) = Stored::read(row) else {
            return Ok(Err(last_sound(&stored)));
        };
        let added = builder.push(&next).map(drop);
        stored.push(next);
        if let Err(error) = added {
            tracing::error!(%run, snapshot = n, %error, "a snapshot is damaged");
            return Ok(Err(last_sound(&stored)));
        }
    }
    match (builder.finish(), stored.pop()) {
        (Some(built), Some(last)) if last.n == n && built.tree.hash() == last.state_hash => {
            Ok(Ok((last, built)))
        }
        (Some(_), Some(last)) => {
            tracing::error!(%run, snapshot = n, "a snapshot does not match its hash");
            stored.push(last);
            Ok(Err(last_sound(&stored)))
        }
        _ => Ok(Err(None)),
    }
}

/// The last of these that is good: each is checked.
fn last_sound(stored: &[Stored]) -> Option<i64> {
    let mut builder = Builder::default();
    for next in stored {
        if builder.checked(next).is_err() {
            break;
        }
    }
    builder.good()
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
) -> Result<(Stored, Built), Error> {
    let good = match rebuild(conn, run, n).await? {
        Ok(found) => return Ok(found),
        Err(Some(good)) => Some(good),
        Err(None) => last_good(conn, run, n).await?,
    };
    let detail = format!("snapshot {n} of run {run} is damaged in the store");
    Err(Problem::new(Code::Corrupt, detail)
        .with("run", run)
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
) -> Result<NewestState, Error> {
    let (stored, built) = built(conn, run, snapshot).await?;
    if stored.hash != hash {
        return Err(Error::damaged(format!(
            "the hash chain of run {run} at snapshot {snapshot}"
        )));
    }
    let Stored {
        keyframe, weight, ..
    } = stored;
    let weight = match stored::owner(conn, run, snapshot).await? == *run {
        true => weight,
        false => super::newest_state::BEFORE_A_KEYFRAME,
    };
    Ok(NewestState {
        snapshot,
        hash,
        tree: built.tree,
        keyframe,
        weight,
        window: built.window,
    })
}

/// One state, checked, with what is known of its snapshot.
#[derive(Debug, Clone)]
pub struct StateAt {
    pub snapshot: i64,
    pub seq: Option<i64>,
    pub hash: Hash,
    pub created_at: Time,
    pub tree: Tree,
}

impl StateAt {
    fn of(stored: &Stored, tree: Tree) -> Self {
        Self {
            snapshot: stored.n,
            seq: stored.seq,
            hash: stored.hash,
            created_at: stored.created_at,
            tree,
        }
    }
}

/// One snapshot as people look at it.
pub async fn state(conn: &mut dyn Connection, run: &RunId, n: i64) -> Result<StateAt, Error> {
    let (stored, built) = built(conn, run, n).await?;
    Ok(StateAt::of(&stored, built.tree))
}

/// The states from a keyframe up to `n`, in order; what they share is in memory once.
pub async fn stretch(
    conn: &mut dyn Connection,
    run: &RunId,
    n: i64,
) -> Result<Vec<StateAt>, Error> {
    let (mut builder, mut states) = (Builder::default(), Vec::new());
    for row in stored::chain(conn, run, n).await? {
        let stored = Stored::read(row)?;
        let built = builder.checked(&stored)?;
        states.push(StateAt::of(&stored, built.tree.clone()));
    }
    Ok(states)
}

/// One snapshot as it is read by people and agents.
pub async fn read(conn: &mut dyn Connection, run: &RunId, n: i64) -> Result<SnapshotAnswer, Error> {
    let state = state(conn, run, n).await?;
    Ok(SnapshotAnswer {
        snapshot: n,
        seq: state.seq,
        hash: state.hash,
        created_at: state.created_at,
        tags: Vec::new(),
        state: state.tree.to_value(),
    })
}
