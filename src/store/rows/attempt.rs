//! The table `attempts`.

use serde_json::Value;

use super::{
    super::{
        bulk::Bulk,
        content::Content,
        engine::{Connection, Param, Row, params},
        seal::{self, Table},
    },
    opt_text, sealed,
};
use crate::{
    domain::{
        AgentError, Attempt, Epoch, Hash, Outcome, RunId, Time, Usage, nouns::attempt::Evidence,
    },
    store::Error,
};

/// Attempts shown with a step; older ones stay in the store.
const SHOWN: i64 = 100;

#[derive(Debug, Clone)]
pub struct AttemptRow {
    pub run: RunId,
    pub seq: i64,
    pub attempt: i64,
    pub worker: String,
    pub epoch: Epoch,
    /// The snapshot that was current when it began.
    pub base: i64,
    pub begun_at: Time,
    pub heartbeat_at: Option<Time>,
    pub ended_at: Option<Time>,
    pub outcome: Outcome,
    /// What ended it, as a hash: a repeat is known by it.
    pub body: Option<Hash>,
    /// What a repeat must hear again; of a given result, the snapshot at which a worker heard of it.
    pub answer: Option<Value>,
    pub usage: Option<Usage>,
    pub log_lines: i64,
    /// The key that it was given for the outside provider; attempts that no worker made have none.
    pub idempotency_key: Option<String>,
    pub has_evidence: bool,
}

macro_rules! sealed_columns {
    () => {
        "run, seq, attempt, worker, epoch, base, begun_at, heartbeat_at, ended_at, outcome, body, answer, \
         input_tokens, output_tokens, cost_usd, log_lines, idempotency_key"
    };
}
macro_rules! columns {
    () => {
        concat!(
            sealed_columns!(),
            ", seal, \
         CASE WHEN evidence IS NULL THEN CAST(0 AS BIGINT) ELSE CAST(1 AS BIGINT) END"
        )
    };
}

pub static TABLE: Table = Table {
    name: "attempts",
    key: "run, seq, attempt",
    columns: sealed_columns!(),
    earlier: &[16],
    sealed: &["input", "error", "partial", "evidence"],
    checked: &[],
};

pub static INSERT: Bulk = Bulk {
    before: "INSERT INTO attempts (run, seq, attempt, worker, epoch, base, begun_at, outcome, input, \
         log_lines, idempotency_key, seal) VALUES ",
    columns: 12,
    after: "",
};

pub static END: Bulk = Bulk {
    before: "UPDATE attempts SET heartbeat_at = v.column4, ended_at = v.column5, outcome = v.column6, \
         body = v.column7, answer = v.column8, input_tokens = v.column9, output_tokens = v.column10, \
         cost_usd = v.column11, error = v.column12, seal = v.column13 FROM (VALUES ",
    columns: 13,
    after: ") AS v WHERE attempts.run = v.column1 AND attempts.seq = v.column2 \
         AND attempts.attempt = v.column3",
};

impl AttemptRow {
    fn read(row: &mut Row) -> Result<Self, Error> {
        row.begin_seal(&TABLE);
        let mut attempt = Self {
            run: row.word()?,
            seq: row.int()?,
            attempt: row.int()?,
            worker: row.text()?,
            epoch: Epoch(row.int()?),
            base: row.int()?,
            begun_at: row.time()?,
            heartbeat_at: row.opt_time()?,
            ended_at: row.opt_time()?,
            outcome: row.word()?,
            body: row.opt_hash()?,
            answer: row.opt_json()?,
            usage: match (row.opt_int()?, row.opt_int()?, row.opt_real()?) {
                (None, None, None) => None,
                (input_tokens, output_tokens, cost_usd) => Some(Usage {
                    input_tokens,
                    output_tokens,
                    cost_usd,
                }),
            },
            log_lines: row.int()?,
            idempotency_key: row.opt_text()?,
            has_evidence: false,
        };
        if !row.end_seal()? {
            return Err(Error::damaged(format!(
                "the row of attempt {} at step {} of run {}",
                attempt.attempt, attempt.seq, attempt.run
            )));
        }
        attempt.has_evidence = row.flag()?;
        Ok(attempt)
    }

    /// What the seal covers, in the order of its columns.
    pub fn values(&self) -> Vec<Param> {
        let usage = self.usage.unwrap_or_default();
        params![
            self.run.as_str(),
            self.seq,
            self.attempt,
            self.worker.as_str(),
            self.epoch.0,
            self.base,
            self.begun_at,
            self.heartbeat_at,
            self.ended_at,
            self.outcome.as_str(),
            self.body,
            opt_text(self.answer.as_ref()),
            usage.input_tokens,
            usage.output_tokens,
            usage.cost_usd,
            self.log_lines,
            self.idempotency_key.as_deref(),
        ]
    }

    pub async fn load(
        conn: &mut dyn Connection,
        run: &RunId,
        seq: i64,
        attempt: i64,
    ) -> Result<Option<Self>, Error> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM attempts WHERE run = $1 AND seq = $2 AND attempt = $3"
        );
        let row = conn
            .fetch_one(sql, params![run.as_str(), seq, attempt])
            .await?;
        row.map(|mut row| Self::read(&mut row)).transpose()
    }

    /// The attempts that the rest of the statement chooses, as far as they are sound: to be shown.
    pub async fn sound_ones(
        conn: &mut dyn Connection,
        rest: &str,
        params: Vec<Param>,
    ) -> Result<Vec<Self>, Error> {
        let sql = format!("SELECT {} FROM attempts {rest}", columns!());
        let rows = conn.fetch_built(sql.into(), params).await?;
        let read = rows.into_iter().map(|mut row| Self::read(&mut row));
        Ok(read.filter_map(seal::sound).collect())
    }

    /// The row of a new attempt, for [`INSERT`].
    pub fn inserted(&self, run: &RunId, input: Option<&Content>) -> Vec<Param> {
        params![
            run.as_str(),
            self.seq,
            self.attempt,
            self.worker.as_str(),
            self.epoch.0,
            self.base,
            self.begun_at,
            self.outcome.as_str(),
            input.map(Content::sealed),
            self.log_lines,
            self.idempotency_key.as_deref(),
            TABLE.seal(&self.values()),
        ]
    }

    /// The attempt is over, with what a repeat must hear again; for [`END`].
    pub fn ended(&self, run: &RunId, error: Option<&AgentError>) -> Vec<Param> {
        let usage = self.usage.unwrap_or_default();
        params![
            run.as_str(),
            self.seq,
            self.attempt,
            self.heartbeat_at,
            self.ended_at,
            self.outcome.as_str(),
            self.body,
            opt_text(self.answer.as_ref()),
            usage.input_tokens,
            usage.output_tokens,
            usage.cost_usd,
            error.map(sealed),
            TABLE.seal(&self.values()),
        ]
    }

    /// The snapshot that its state is made from, unless the agent says otherwise.
    pub fn state_base(&self) -> i64 {
        let heard = self.answer.as_ref().and_then(Value::as_i64);
        heard
            .filter(|_| self.outcome == Outcome::Given)
            .unwrap_or(self.base)
    }

    /// A worker hears of a given result: from here on it may fold it in, once, into the state that it has.
    pub async fn heard(
        conn: &mut dyn Connection,
        run: &RunId,
        (seq, attempt): (i64, i64),
        (epoch, base): (Epoch, i64),
    ) -> Result<(), Error> {
        let key = params![run.as_str(), seq, attempt];
        // Not its own base: a rewind goes back to where the step began.
        let heard = vec![
            ("epoch", epoch.0.into()),
            ("answer", base.to_string().into()),
        ];
        TABLE.amend(conn, key, heard).await?;
        Ok(())
    }

    pub async fn set_progress(
        &self,
        conn: &mut dyn Connection,
        run: &RunId,
        partial: Option<&Content>,
    ) -> Result<(), Error> {
        let sql = "UPDATE attempts SET partial = COALESCE($4, partial), log_lines = $5, seal = $6 \
             WHERE run = $1 AND seq = $2 AND attempt = $3";
        let params = params![
            run.as_str(),
            self.seq,
            self.attempt,
            partial.map(Content::sealed),
            self.log_lines,
            TABLE.seal(&self.values()),
        ];
        conn.execute(sql, params).await?;
        Ok(())
    }

    pub async fn set_evidence(
        &self,
        conn: &mut dyn Connection,
        run: &RunId,
        evidence: &Evidence,
    ) -> Result<(), Error> {
        let sql = "UPDATE attempts SET evidence = $4 WHERE run = $1 AND seq = $2 AND attempt = $3";
        let params = params![run.as_str(), self.seq, self.attempt, sealed(evidence)];
        conn.execute(sql, params).await?;
        Ok(())
    }

    /// The last words of the attempts before: the newest partial result that was sent.
    pub async fn last_partial(
        conn: &mut dyn Connection,
        run: &RunId,
        seq: i64,
    ) -> Result<Option<Value>, Error> {
        let sql = "SELECT partial FROM attempts WHERE run = $1 AND seq = $2 AND partial IS NOT NULL \
             ORDER BY attempt DESC LIMIT 1";
        let row = conn.fetch_one(sql, params![run.as_str(), seq]).await?;
        Ok(row.map(|mut row| row.opt_sealed()).transpose()?.flatten())
    }

    /// The newest attempts at a step with all that is known of them, oldest first.
    pub async fn of_step(
        conn: &mut dyn Connection,
        run: &RunId,
        seq: i64,
    ) -> Result<Vec<Attempt>, Error> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            ", error, partial, evidence, input FROM attempts \
             WHERE run = $1 AND seq = $2 ORDER BY attempt DESC LIMIT $3"
        );
        let rows = conn.fetch(sql, params![run.as_str(), seq, SHOWN]).await?;
        let read = |mut row: Row| {
            let known = Self::read(&mut row)?;
            Ok(Attempt {
                attempt: known.attempt,
                worker: known.worker,
                epoch: known.epoch,
                begun_at: known.begun_at,
                heartbeat_at: known.heartbeat_at,
                ended_at: known.ended_at,
                outcome: known.outcome,
                error: row.opt_sealed()?,
                partial: row.opt_sealed()?,
                usage: known.usage,
                evidence: row.opt_sealed()?,
                input: row.opt_sealed()?,
                idempotency_key: known.idempotency_key,
            })
        };
        rows.into_iter().rev().map(read).collect()
    }
}
