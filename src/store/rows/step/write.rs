//! A step as it is written: when it begins, while it lives, and when it settles.

use super::{StepRow, TABLE};
use crate::{
    domain::{AgentError, RunId, nouns::run::Link, rules::decision::DecisionKind},
    store::{
        Error,
        bulk::Bulk,
        content::Content,
        engine::{Connection, Param, params},
        rows::{RunRow, opt_text, sealed, text},
    },
};

pub static INSERT: Bulk = Bulk {
    before: "INSERT INTO steps (run, seq, key, name, kind, tool, input, input_hash, effect, recovery, \
         max_attempts, backoff_ms, gate, refs, links, status, attempts, failures, generation, told, epoch, \
         unknown, given, begun_at, ord, seal) VALUES ",
    columns: 26,
    after: "",
};

pub static SETTLE: Bulk = Bulk {
    before: "UPDATE steps SET status = v.column3, attempts = v.column4, epoch = v.column5, \
         unknown = v.column6, given = v.column7, decision = v.column8, snapshot = v.column9, \
         retry_at = v.column10, cost_usd = v.column11, ended_at = v.column12, result = v.column13, \
         result_hash = v.column14, state_change = v.column15, error = NULL, seal = v.column16 FROM (VALUES ",
    columns: 16,
    after: ") AS v WHERE steps.run = v.column1 AND steps.seq = v.column2",
};

impl StepRow {
    /// The row of a new step, for [`INSERT`].
    pub fn inserted(
        &self,
        run: &RunRow,
        input: &Content,
        gate: Option<&str>,
        links: &[Link],
    ) -> Vec<Param> {
        params![
            run.id.as_str(),
            self.seq,
            self.key.as_str(),
            self.name.as_str(),
            self.kind.as_str(),
            self.tool.as_deref(),
            input.text.as_str(),
            self.input_hash,
            opt_text(self.effect.as_ref()),
            self.recovery.as_str(),
            self.retry.max_attempts,
            self.retry.backoff_ms,
            gate,
            text(&self.refs),
            sealed(&links),
            self.status.as_str(),
            self.attempts,
            self.failures,
            self.generation,
            self.told.as_str(),
            self.epoch.0,
            self.unknown,
            self.given,
            self.begun_at,
            run.ord,
            TABLE.seal(&self.values()),
        ]
    }

    /// Writes what changes in a step's life; what it is never does.
    pub async fn update(&self, conn: &mut dyn Connection, run: &RunId) -> Result<(), Error> {
        let sql = "UPDATE steps SET status = $3, attempts = $4, failures = $5, generation = $6, told = $7, \
             epoch = $8, unknown = $9, given = $10, decision = $11, snapshot = $12, retry_at = $13, \
             cost_usd = $14, ended_at = $15, recovery = $16, state_change = $17, \
             keyed_at = $18, seal = $19 WHERE run = $1 AND seq = $2";
        conn.execute(
            sql,
            params![
                run.as_str(),
                self.seq,
                self.status.as_str(),
                self.attempts,
                self.failures,
                self.generation,
                self.told.as_str(),
                self.epoch.0,
                self.unknown,
                self.given,
                self.decision.map(DecisionKind::as_str),
                self.snapshot,
                self.retry_at,
                self.cost_usd,
                self.ended_at,
                self.recovery.as_str(),
                self.state_change,
                self.keyed_at,
                TABLE.seal(&self.values()),
            ],
        )
        .await?;
        Ok(())
    }

    /// A step settles: its row and its result, for [`SETTLE`].
    pub fn settled(&self, run: &RunId, result: &Content) -> Vec<Param> {
        params![
            run.as_str(),
            self.seq,
            self.status.as_str(),
            self.attempts,
            self.epoch.0,
            self.unknown,
            self.given,
            self.decision.map(DecisionKind::as_str),
            self.snapshot,
            self.retry_at,
            self.cost_usd,
            self.ended_at,
            result.text.as_str(),
            result.hash,
            self.state_change,
            TABLE.seal(&self.values()),
        ]
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
