//! The table `attempts`.

mod partial;

pub use partial::StoredPartial;

use serde_json::Value;

use super::{
    super::{
        bulk::Bulk,
        content::Content,
        engine::{Connection, Param, Row, params},
        seal,
        table::table,
    },
    sealed,
};
use crate::{
    domain::{
        AgentError, Attempt, Epoch, Hash, Outcome, RunId, Time, Usage, nouns::attempt::Evidence,
    },
    store::Error,
};

/// Attempts shown with a step; older ones stay in the store.
const SHOWN: i64 = 100;

table! {
    /// An attempt as it is stored.
    pub struct AttemptRow in attempts by (run, seq, attempt), listed by sealed_columns, (copied by statements);

    since 7 {
        run: RunId,                    once,    given;
        seq: i64,                      once,    copied;
        attempt: i64,                  once,    copied;
        worker: String,                once,    copied;
        epoch: Epoch,                  changes, fresh;
        /// The snapshot that was current when it began.
        base: i64,                     once,    copied;
        begun_at: Time,                once,    copied;
        heartbeat_at: Option<Time>,    later,   copied;
        ended_at: Option<Time>,        later,   copied;
        outcome: Outcome,              changes, given;
        /// What ended it, as a hash: a repeat is known by it.
        body: Option<Hash>,            later,   copied;
        /// The answer that a repeat gets again. For a given result: the snapshot at which a worker heard of it.
        answer: Option<Value>,         later,   copied;
        usage(input_tokens output_tokens cost_usd): Option<Usage>, later, copied;
        log_lines: i64,                changes, fresh;
    }
    since 9 {
        /// The key that it was given for the outside provider; attempts that no worker made have none.
        idempotency_key: Option<String>, once, copied;
    }
    beside {
        input: Text,    sealed, copied;
        error: Text,    sealed, copied;
        partial: Text,  sealed, fresh;
        evidence: Text, sealed, fresh;
    }
    noted {
        has_evidence: bool;
    }
}

/// The columns for [`AttemptRow::read`].
macro_rules! columns {
    () => {
        concat!(
            sealed_columns!(),
            ", CASE WHEN evidence IS NULL THEN CAST(0 AS BIGINT) ELSE CAST(1 AS BIGINT) END"
        )
    };
}

pub static INSERT: Bulk = Bulk::insert(&TABLE, &["input"]);
pub static END: Bulk = Bulk::update(&TABLE, &["error"]);
static PROGRESS: Bulk = Bulk::update(&TABLE, &[]);
static PARTIAL: Bulk = Bulk::update(&TABLE, &["partial"]);

impl AttemptRow {
    /// The row as it was written; whether there is evidence is not asked.
    pub fn sound(row: &mut Row) -> Result<Self, Error> {
        match Self::held(row)? {
            (attempt, true) => Ok(attempt),
            (attempt, false) => Err(Error::damaged(format!(
                "the row of attempt {} at step {} of run {}",
                attempt.attempt, attempt.seq, attempt.run
            ))),
        }
    }

    fn read(row: &mut Row) -> Result<Self, Error> {
        let mut attempt = Self::sound(row)?;
        attempt.has_evidence = row.flag()?;
        Ok(attempt)
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
    pub fn inserted(&self, input: Option<&Content>) -> Vec<Param> {
        INSERT.row(self.values(), params![input.map(Content::sealed)])
    }

    /// The attempt is over, with what a repeat must hear again; for [`END`].
    pub fn ended(&self, error: Option<&AgentError>) -> Vec<Param> {
        END.row(self.values(), params![error.map(sealed)])
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
        // `base` stays: a rewind goes back to the snapshot at which the step began.
        let heard = vec![
            ("epoch", epoch.0.into()),
            ("answer", base.to_string().into()),
        ];
        TABLE.amend(conn, key, heard).await?;
        Ok(())
    }

    /// What was sent while it works. A partial result stays until the next one.
    pub async fn set_progress(
        &self,
        conn: &mut dyn Connection,
        partial: Option<&Content>,
    ) -> Result<(), Error> {
        let (bulk, beside) = match partial {
            Some(partial) => (&PARTIAL, params![partial.sealed()]),
            None => (&PROGRESS, params![]),
        };
        bulk.execute(conn, vec![bulk.row(self.values(), beside)])
            .await
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
