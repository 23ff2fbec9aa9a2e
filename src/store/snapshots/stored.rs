//! Rows of the table `snapshots`.

use crate::{
    domain::{Hash, RunId, Time},
    store::{
        Error,
        engine::{Connection, Row, params},
        seal::Table,
    },
};

pub static TABLE: Table = Table {
    name: "snapshots",
    key: "run, n",
    columns: "run, n, seq, created_at, keyframe, weight, encoding, body, state_hash, hash",
    earlier: &[],
    sealed: &[],
    checked: &[],
};

/// One stored snapshot, not yet decoded.
pub struct Stored {
    pub n: i64,
    pub seq: Option<i64>,
    pub created_at: Time,
    pub keyframe: i64,
    pub weight: i64,
    pub encoding: String,
    pub body: Vec<u8>,
    pub state_hash: Hash,
    pub hash: Hash,
}

impl Stored {
    pub fn read(row: Row) -> Result<Self, Error> {
        let mut row = TABLE.open(row)?;
        let _run = row.text()?;
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
}

/// The rows that the state `n` is made of: from its keyframe up to it. The one place that knows where they lie.
pub async fn chain(conn: &mut dyn Connection, run: &RunId, n: i64) -> Result<Vec<Row>, Error> {
    let run = owner(conn, run, n).await?;
    let sql = "SELECT run, n, seq, created_at, keyframe, weight, encoding, body, state_hash, hash, seal FROM snapshots \
         WHERE run = $1 AND n <= $2 AND n >= (SELECT keyframe FROM snapshots WHERE run = $1 AND n = $2) ORDER BY n";
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
