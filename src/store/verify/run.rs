//! One run: its row, its steps and attempts, its leases, announcements, log and decisions.

use serde_json::Value;

use super::{PAGE, Walk};
use crate::{
    domain::{Hash, RunId},
    store::{
        Error,
        engine::{Connection, Param, Row, params, read_json},
        rows::{
            RunRow, StepRow,
            decision::{self, DecisionRow, decision_columns},
            run, step, text,
        },
        seal,
        table::{Declared as _, Table},
        tables,
    },
};

/// The steps of a run with all that lies in them, for [`step_of`].
pub(super) async fn steps_page(
    conn: &mut dyn Connection,
    run: &RunId,
    after: i64,
    limit: i64,
) -> Result<Vec<Row>, Error> {
    let wanted = "WHERE run = $1 AND seq > $2 ORDER BY seq LIMIT $3";
    let sql = format!("{} {wanted}", step::TABLE.whole_text());
    conn.fetch_built(sql.into(), params![run.as_str(), after, limit])
        .await
}

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
            for table in tables::by_seals().filter(|it| it.is_key("run")) {
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
            let rows = match steps_page(&mut *self.conn, &run.id, last, PAGE).await {
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
        let sql = concat!(
            "SELECT ",
            decision_columns!(),
            ", (SELECT e.run FROM events e WHERE e.id = decisions.id), \
             (SELECT e.kind FROM events e WHERE e.id = decisions.id), \
             (SELECT a.ord FROM decided a WHERE a.author = decisions.author AND a.ord = $3) \
             FROM decisions WHERE run = $1 AND id > $2 ORDER BY id LIMIT 200"
        );
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
fn row_of(run: &RunRow, row: Row) -> Result<(), Error> {
    if run.damaged {
        return Err(Error::damaged("it does not match its seal"));
    }
    let unchecked = run::TABLE.beside_sound(row.rest());
    for (column, value) in unchecked.map_err(unfit)? {
        let mut value = Row::new(vec![value]);
        let same = match column.name {
            "needs" => {
                let needs = value.opt_int()?;
                needs == run.needs() || needs == run.needed()
            }
            "cause" => value.opt_text()? == run.cause(),
            name => return Err(unknown(name)),
        };
        if !same {
            return Err(Error::damaged("its place in the list of those in need"));
        }
    }
    Ok(())
}

fn unfit(column: &str) -> Error {
    Error::damaged(format!("its {column} does not match its hash"))
}

/// A column that is declared as checked, and that nobody checks.
fn unknown(column: &str) -> Error {
    Error::damaged(format!("nothing checks its {column}"))
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
    let unchecked = step::TABLE.beside_sound(row.rest());
    let (mut result, mut result_hash) = (None, None);
    for (column, value) in unchecked.map_err(unfit)? {
        let mut value = Row::new(vec![value]);
        match column.name {
            "input" if hash_of(&value.text()?)? == step.input_hash => {}
            "input" => return Err(unfit("input")),
            "result" => result = value.opt_text()?.as_deref().map(hash_of).transpose()?,
            "result_hash" => result_hash = value.opt_hash()?,
            "ord" if value.int()? == run.ord => {}
            "ord" => return Err(Error::damaged("its place in the list of keys")),
            name => return Err(unknown(name)),
        }
    }
    match result == result_hash {
        true => Ok(step.seq),
        false => Err(unfit("result")),
    }
}

fn decision_of(run: &RunRow, row: Row) -> Result<i64, (i64, Error)> {
    let mut values = row.rest();
    let id = match values.first() {
        Some(Param::Int(Some(id))) => *id,
        _ => 0,
    };
    let known = values.split_off(decision::TABLE.columns.len() + 1);
    let checked = || -> Result<(), Error> {
        let decision = DecisionRow::opened(Row::new(values))?;
        seal::open::<Value>(&decision.body)?;
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
