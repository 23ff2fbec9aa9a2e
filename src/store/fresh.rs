//! What live pages are sent: some runs and some steps as they are now, many by one statement.

use std::borrow::Cow;

use super::{
    Error, Store,
    engine::{Connection, Param, Row},
    rows::{RunRow, StepRow, run_columns, step_columns},
};
use crate::domain::{Problem, Run, RunId, Step};

impl Store {
    /// These runs as they are now; one that is gone is left out.
    pub async fn some_runs(&self, ids: &[RunId]) -> Result<Vec<Run>, Problem> {
        let read = async {
            let sql = concat!("SELECT ", run_columns!(), " FROM runs WHERE id IN ");
            let ids = ids.iter().map(|id| Param::from(id.as_str())).collect();
            let mut conn = self.engine.read().await?;
            let rows = among(&mut *conn, sql, Vec::new(), ids).await?;
            rows.into_iter()
                .map(|mut row| Ok(RunRow::read(&mut row)?.to_run()))
                .collect::<Result<Vec<_>, Error>>()
        };
        read.await.map_err(Error::problem)
    }

    /// These steps of a run as they are now, in order.
    pub async fn some_steps(&self, run: &RunId, seqs: &[i64]) -> Result<Vec<Step>, Problem> {
        let read = async {
            let sql = concat!(
                "SELECT ",
                step_columns!(),
                " FROM steps WHERE run = $1 AND seq IN "
            );
            let seqs = seqs.iter().map(|seq| Param::from(*seq)).collect();
            let mut conn = self.engine.read().await?;
            let rows = among(&mut *conn, sql, vec![Param::from(run.as_str())], seqs).await?;
            let mut steps = rows
                .into_iter()
                .map(|mut row| Ok(StepRow::read(&mut row)?.to_step(run)))
                .collect::<Result<Vec<_>, Error>>()?;
            steps.sort_unstable_by_key(|step| step.seq);
            Ok(steps)
        };
        read.await.map_err(Error::problem)
    }
}

/// Rows whose key is among `keys`. The list is filled up to a power of two, so that few statements are prepared.
async fn among(
    conn: &mut dyn Connection,
    sql: &'static str,
    mut params: Vec<Param>,
    mut keys: Vec<Param>,
) -> Result<Vec<Row>, Error> {
    let Some(last) = keys.last().cloned() else {
        return Ok(Vec::new());
    };
    keys.resize(keys.len().next_power_of_two(), last);
    let first = params.len() + 1;
    let places: Vec<_> = (first..first + keys.len())
        .map(|n| format!("${n}"))
        .collect();
    params.extend(keys);
    let sql = format!("{sql}({})", places.join(", "));
    conn.fetch_built(Cow::Owned(sql), params).await
}
