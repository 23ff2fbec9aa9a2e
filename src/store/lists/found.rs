//! What a pasted id or key stands for, where it stands for one thing only.

use super::super::{
    Error, Store,
    engine::{Connection, params},
};
use crate::domain::{Problem, RunId, nouns::ids::provider_key};

/// Older generations of a provider's key belong to the same step.
const GENERATION: &str = "SELECT generation FROM steps WHERE run = $1 AND seq = $2";
pub const RUN: &str = "SELECT id FROM runs WHERE id = $1";
pub const STEPS: &str = "SELECT run, seq FROM steps WHERE key = $1 LIMIT 2";

/// One run, or one step of it.
pub type Found = (RunId, Option<i64>);

impl Store {
    /// The one run of this id, or the one step of this key or of this key for its provider.
    pub async fn find_one(&self, text: &str) -> Result<Option<Found>, Problem> {
        self.read_one(text).await.map_err(Error::problem)
    }

    async fn read_one(&self, text: &str) -> Result<Option<Found>, Error> {
        let mut conn = self.engine.read().await?;
        if let Some(mut row) = conn.fetch_one(RUN, params![text]).await? {
            return Ok(Some((row.word()?, None)));
        }
        if let Some((run, seq)) = by_provider_key(&mut *conn, text).await? {
            return Ok(Some((run, Some(seq))));
        }
        let mut rows = conn.fetch(STEPS, params![text]).await?;
        match (rows.pop(), rows.is_empty()) {
            (Some(mut row), true) => Ok(Some((row.word()?, Some(row.int()?)))),
            _ => Ok(None),
        }
    }
}

/// The step that gave this key to its provider: `RUN:SEQ`, or `RUN:SEQ:GENERATION` after an operator ordered a new one.
pub async fn by_provider_key(
    conn: &mut dyn Connection,
    key: &str,
) -> Result<Option<(RunId, i64)>, Error> {
    let mut ends: Vec<usize> = key.rmatch_indices(':').map(|(at, _)| at).take(2).collect();
    ends.sort_unstable();
    for end in ends {
        let (Ok(run), rest) = (key[..end].parse::<RunId>(), &key[end + 1..]) else {
            continue;
        };
        let Ok(seq) = rest.split(':').next().unwrap_or_default().parse::<i64>() else {
            continue;
        };
        let row = conn
            .fetch_one(GENERATION, params![run.as_str(), seq])
            .await?;
        let newest = row.map(|mut row| row.int()).transpose()?.unwrap_or(0);
        if (1..=newest).any(|generation| provider_key(&run, seq, generation) == key) {
            return Ok(Some((run, seq)));
        }
    }
    Ok(None)
}
