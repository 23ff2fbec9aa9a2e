//! One run: its row, its steps and attempts, its leases, announcements, log and decisions.

use serde_json::Value;

use super::{PAGE, Walk};
use crate::{
    domain::{Hash, RunId},
    store::{
        Error,
        engine::{Param, Row, params, read_json},
        rows::{RunRow, StepRow, announced, attempt, log_line, step_columns, text},
        seal::{self, Table},
        tables,
    },
};

/// A run's row with all that lies in it.
macro_rules! columns {
    () => {
        concat!(
            $crate::store::rows::run_columns!(),
            ", needs, cause, input, state_schema, result, error"
        )
    };
}
pub(super) use columns;

/// Rows of runs that need no more than their seals; all of them at once where everything is verified, so that one
/// that has lost its run is met, too.
pub const OF_RUNS: [&Table; 5] = [
    &tables::LEASES,
    &announced::TABLE,
    &attempt::TABLE,
    &log_line::TABLE,
    &tables::REFS,
];

/// The steps of a run with all that lies in them, for [`step_of`].
pub(super) const STEPS: &str = concat!(
    "SELECT ",
    step_columns!(),
    ", input, result, result_hash, gate, links, error, ord FROM steps \
     WHERE run = $1 AND seq > $2 ORDER BY seq LIMIT $3"
);
/// Steps up to a number that have fewer attempts than they say.
pub(super) const ATTEMPTS_MISSING: &str = "SELECT s.seq FROM steps s WHERE s.run = $1 AND s.seq <= $2 AND s.attempts > \
     (SELECT COUNT(*) FROM attempts a WHERE a.run = s.run AND a.seq = s.seq) ORDER BY s.seq LIMIT 20";

impl Walk<'_> {
    /// Verifies the run of this row and all that belongs to it; answers its place in the list.
    pub async fn run(&mut self, mut row: Row) -> Result<Option<i64>, Error> {
        let run = match RunRow::read(&mut row) {
            Ok(run) => run,
            Err(error) => {
                self.trouble(None, "a row of runs", error)?;
                return Ok(None);
            }
        };
        self.found.checked.runs += 1;
        let id = run.id.clone();
        if let Err(error) = row_of(&run, row) {
            self.trouble(Some(&id), "its row", error)?;
        }
        self.labels(&run).await?;
        if self.found.run.is_some() {
            for table in OF_RUNS {
                self.seals(table, Some(&id)).await?;
            }
        }
        self.steps(&run).await?;
        self.attempts(&run).await?;
        self.decisions(&run).await?;
        self.states(&run).await?;
        self.done(1);
        Ok(Some(run.ord))
    }

    /// Each label has its place in the index.
    async fn labels(&mut self, run: &RunRow) -> Result<(), Error> {
        let sql = "SELECT run FROM run_labels WHERE key = $1 AND value = $2 AND ord = $3";
        for (key, value) in &run.labels {
            let found = self
                .conn
                .fetch_one(sql, params![key.as_str(), value.as_str(), run.ord])
                .await;
            let sound = match found {
                Ok(Some(mut row)) => row.text()? == run.id.as_str(),
                Ok(None) => false,
                Err(error) => return self.trouble(Some(&run.id), "its labels", error),
            };
            if !sound {
                let why = "lists do not find the run by it".to_owned();
                self.damage(Some(&run.id), format!("label {key}"), why, None);
            }
        }
        Ok(())
    }

    async fn steps(&mut self, run: &RunRow) -> Result<(), Error> {
        let mut last = 0;
        loop {
            let page = params![run.id.as_str(), last, PAGE];
            let rows = match self.conn.fetch(STEPS, page).await {
                Ok(rows) => rows,
                Err(error) => {
                    return self.trouble(Some(&run.id), &format!("step {}", last + 1), error);
                }
            };
            let count = rows.len() as i64;
            for row in rows {
                let place = format!("step {}", last + 1);
                last = match step_of(run, row) {
                    Ok(seq) if seq == last + 1 => seq,
                    Ok(seq) => {
                        let why = format!("it is missing: the next one is {seq}");
                        self.damage(Some(&run.id), place, why, None);
                        seq
                    }
                    Err(error) => {
                        self.trouble(Some(&run.id), &place, error)?;
                        last + 1
                    }
                };
            }
            self.found.checked.steps += count;
            self.done(count);
            if count < PAGE || self.found.more {
                break;
            }
        }
        if last < run.steps && !self.found.more {
            let why = format!("the run says that it has {} steps", run.steps);
            self.damage(Some(&run.id), format!("step {}", last + 1), why, None);
        }
        Ok(())
    }

    /// As many attempts as their steps say.
    async fn attempts(&mut self, run: &RunRow) -> Result<(), Error> {
        let of = params![run.id.as_str(), run.steps];
        match self.conn.fetch(ATTEMPTS_MISSING, of).await {
            Ok(rows) => {
                for mut row in rows {
                    let place = format!("the attempts at step {}", row.int()?);
                    self.damage(Some(&run.id), place, "one is missing".to_owned(), None);
                }
                Ok(())
            }
            Err(error) => self.trouble(Some(&run.id), "its attempts", error),
        }
    }

    /// Each decision is sealed, in the history, and found by its author.
    async fn decisions(&mut self, run: &RunRow) -> Result<(), Error> {
        let sql = "SELECT d.id, d.run, d.kind, d.author, d.reason, d.step, d.version, d.body, d.at, d.snapshot, d.new_run, \
             d.seal, e.run, e.kind, a.ord FROM decisions d LEFT JOIN events e ON e.id = d.id \
             LEFT JOIN decided a ON a.author = d.author AND a.ord = $3 \
             WHERE d.run = $1 AND d.id > $2 ORDER BY d.id LIMIT 200";
        let mut last = 0;
        loop {
            let page = params![run.id.as_str(), last, run.ord];
            let rows = match self.conn.fetch(sql, page).await {
                Ok(rows) => rows,
                Err(error) => return self.trouble(Some(&run.id), "its decisions", error),
            };
            let count = rows.len();
            for row in rows {
                match decision_of(run, row) {
                    Ok(id) => last = id,
                    Err((id, error)) => {
                        self.trouble(Some(&run.id), &format!("decision {id}"), error)?;
                        last = id.max(last + 1);
                    }
                }
            }
            if count < PAGE as usize || self.found.more {
                return Ok(());
            }
        }
    }

    /// All rows of a table, or those of one run: each matches its seal, and so does the JSON in it.
    pub async fn seals(&mut self, table: &'static Table, run: Option<&RunId>) -> Result<(), Error> {
        let mut after = Vec::new();
        loop {
            let rows = match table.page(&mut *self.conn, run, &after, PAGE).await {
                Ok(rows) => rows,
                Err(error) => {
                    return self.trouble(run, &format!("the table {}", table.name), error);
                }
            };
            let count = rows.len();
            for row in rows {
                let values = row.rest();
                let last = table.key_of(&values);
                if let Err(error) = table.sound(values) {
                    self.trouble(run, &format!("the table {}", table.name), error)?;
                }
                after = last;
            }
            if count < PAGE as usize || self.found.more {
                return Ok(());
            }
        }
    }
}

/// The row of a run against its seal, its other columns against what they are made from.
fn row_of(run: &RunRow, mut row: Row) -> Result<(), Error> {
    if run.damaged {
        return Err(Error::damaged("it does not match its seal"));
    }
    let needs = row.opt_int()?;
    let listed = needs == run.needs() || needs == run.needed();
    if !listed || row.opt_text()? != run.cause() {
        return Err(Error::damaged("its place in the list of those in need"));
    }
    let input: Value = row.sealed()?;
    for _ in ["state_schema", "result", "error"] {
        row.opt_sealed::<Value>()?;
    }
    drop(input);
    Ok(())
}

/// A step's row and all that lies in it; answers its number.
pub(super) fn step_of(run: &RunRow, mut row: Row) -> Result<i64, Error> {
    let step = StepRow::read(&mut row)?;
    if step.damaged {
        return Err(Error::damaged("its row does not match its seal"));
    }
    let hash_of = |stored: &str| -> Result<Hash, Error> {
        let value: Value = read_json(stored)?;
        match text(&value) == stored {
            true => Ok(Hash::of(&value)),
            false => Err(Error::damaged("a value is not as it was written")),
        }
    };
    if hash_of(&row.text()?)? != step.input_hash {
        return Err(Error::damaged("its input does not match its hash"));
    }
    let (result, result_hash) = (row.opt_text()?, row.opt_hash()?);
    if result.as_deref().map(hash_of).transpose()? != result_hash {
        return Err(Error::damaged("its result does not match its hash"));
    }
    for _ in ["gate", "links", "error"] {
        row.opt_sealed::<Value>()?;
    }
    match row.int()? == run.ord {
        true => Ok(step.seq),
        false => Err(Error::damaged("its place in the list of keys")),
    }
}

fn decision_of(run: &RunRow, row: Row) -> Result<i64, (i64, Error)> {
    let mut values = row.rest();
    let id = match values.first() {
        Some(Param::Int(Some(id))) => *id,
        _ => 0,
    };
    let known = values.split_off(tables::DECISIONS.columns().count() + 1);
    let checked = || -> Result<(), Error> {
        let mut decision = tables::DECISIONS.open(Row::new(values))?;
        let (_, _) = (decision.int()?, decision.text()?);
        let (_, _, _) = (decision.text()?, decision.text()?, decision.opt_text()?);
        let (_, _) = (decision.opt_int()?, decision.int()?);
        seal::open::<Value>(&decision.text()?)?;
        let mut known = Row::new(known);
        if known.opt_text()?.as_deref() != Some(run.id.as_str())
            || known.opt_text()?.as_deref() != Some("decision")
        {
            return Err(Error::damaged("the history does not have it"));
        }
        match known.opt_int()? {
            Some(_) => Ok(()),
            None => Err(Error::damaged("its author does not find it")),
        }
    };
    checked().map(|()| id).map_err(|error| (id, error))
}
