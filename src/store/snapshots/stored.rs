//! Rows of the table `snapshots`.

use crate::{
    domain::{Hash, RunId, Time},
    store::{
        Error,
        engine::{Connection, Row, params},
        table::{Declared as _, table},
    },
};

table! {
    /// One stored snapshot, not yet decoded.
    pub struct Stored in snapshots by (run, n), listed by snapshot_columns, stays;

    since 7 {
        run: RunId,         once;
        n: i64,             once;
        seq: Option<i64>,   once;
        created_at: Time,   once;
        keyframe: i64,      once;
        weight: i64,        once;
        encoding: String,   once;
        body: Vec<u8>,      once;
        state_hash: Hash,   once;
        hash: Hash,         once;
    }
}
pub(in crate::store) use snapshot_columns;

impl Stored {
    pub fn read(row: Row) -> Result<Self, Error> {
        Self::opened(row)
    }
}

/// The rows that the state `n` is made of: from its keyframe up to it. No other code knows which run holds them.
pub async fn chain(conn: &mut dyn Connection, run: &RunId, n: i64) -> Result<Vec<Row>, Error> {
    let run = owner(conn, run, n).await?;
    let sql = concat!(
        "SELECT ",
        snapshot_columns!(),
        " FROM snapshots WHERE run = $1 AND n <= $2 \
         AND n >= (SELECT keyframe FROM snapshots WHERE run = $1 AND n = $2) ORDER BY n"
    );
    conn.fetch(sql, params![run.as_str(), n]).await
}

/// The run that holds the state `n`: a fork shares those before it with its origin.
pub async fn owner(conn: &mut dyn Connection, run: &RunId, n: i64) -> Result<RunId, Error> {
    let sql = "SELECT parent_run FROM runs WHERE id = $1 AND forked_at >= $2";
    let mut owner = run.clone();
    while let Some(mut row) = conn.fetch_one(sql, params![owner.as_str(), n]).await? {
        owner = row.word()?;
    }
    Ok(owner)
}
