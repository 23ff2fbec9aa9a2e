//! A step as it is written: when it begins, while it lives, and when it settles.

use super::{StepRow, TABLE};
use crate::{
    domain::{AgentError, RunId, nouns::run::Link},
    store::{
        Error,
        bulk::Bulk,
        content::Content,
        engine::{Connection, Param, params},
        rows::{RunRow, sealed},
    },
};

pub static INSERT: Bulk = Bulk::insert(&TABLE, &["input", "gate", "links", "ord"]);
static UPDATE: Bulk = Bulk::update(&TABLE, &[]);
pub static SETTLE: Bulk = Bulk::update(&TABLE, &["result", "result_hash", "error"]);

impl StepRow {
    /// The row of a new step, for [`INSERT`].
    pub fn inserted(
        &self,
        run: &RunRow,
        input: &Content,
        gate: Option<&str>,
        links: &[Link],
    ) -> Vec<Param> {
        let beside = params![input.text.as_str(), gate, sealed(&links), run.ord];
        INSERT.row(self.values(), beside)
    }

    /// Writes what changes in a step's life; what it is never does.
    pub async fn update(&self, conn: &mut dyn Connection) -> Result<(), Error> {
        let row = UPDATE.row(self.values(), params![]);
        UPDATE.execute(conn, vec![row]).await
    }

    /// A step settles: its row and its result, for [`SETTLE`]. The error of an earlier attempt is no longer its own.
    pub fn settled(&self, result: &Content) -> Vec<Param> {
        let beside = params![result.text.as_str(), result.hash, None::<String>];
        SETTLE.row(self.values(), beside)
    }

    pub async fn set_error(
        conn: &mut dyn Connection,
        run: &RunId,
        seq: i64,
        error: &AgentError,
    ) -> Result<(), Error> {
        let sql = "UPDATE steps SET error = $3 WHERE run = $1 AND seq = $2";
        conn.execute(sql, params![run.as_str(), seq, sealed(error)])
            .await?;
        Ok(())
    }
}
