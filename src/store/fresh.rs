//! What live pages are sent: some runs and some steps as they are now, many by one statement.

use std::borrow::Cow;

use super::{
    Error, Store,
    engine::{Connection, Param, Row},
    rows::{RunRow, StepRow, run_columns, steps},
};
use crate::domain::{Problem, Run, RunId, Step};

/// Keys in one statement.
const AMONG_MAX: usize = 1_024;

impl Store {
    /// These runs as they are now; one that is gone is left out.
    pub async fn some_runs(&self, ids: &[RunId]) -> Result<Vec<Run>, Problem> {
        let read = async {
            let mut conn = self.engine.read().await?;
            let ids: Vec<&str> = ids.iter().map(RunId::as_str).collect();
            let runs = runs_among(&mut *conn, &ids).await?;
            Ok(runs.iter().map(RunRow::to_run).collect())
        };
        read.await.map_err(Error::problem)
    }

    /// These steps of a run as they are now, in order.
    pub async fn some_steps(&self, run: &RunId, seqs: &[i64]) -> Result<Vec<Step>, Problem> {
        let read = async {
            let mut conn = self.engine.read().await?;
            let steps = steps_among(&mut *conn, run, seqs).await?;
            Ok(steps.iter().map(|step| step.to_step(run)).collect())
        };
        read.await.map_err(Error::problem)
    }
}

pub(super) async fn runs_among(
    conn: &mut dyn Connection,
    ids: &[&str],
) -> Result<Vec<RunRow>, Error> {
    let sql = concat!("SELECT ", run_columns!(), " FROM runs WHERE id IN ");
    let ids = ids.iter().map(|id| Param::from(*id)).collect();
    RunRow::listed(among(conn, sql, Vec::new(), ids).await?)
}

/// These steps of a run, in order.
pub(super) async fn steps_among(
    conn: &mut dyn Connection,
    run: &RunId,
    seqs: &[i64],
) -> Result<Vec<StepRow>, Error> {
    let mut steps = Vec::with_capacity(seqs.len());
    for some in seqs.chunks(AMONG_MAX) {
        let some = some.iter().map(|seq| Param::from(*seq)).collect();
        let rows = among(
            conn,
            steps!("seq IN "),
            vec![Param::from(run.as_str())],
            some,
        );
        steps.extend(StepRow::listed(rows.await?)?);
    }
    StepRow::endings(conn, &mut steps).await?;
    steps.sort_unstable_by_key(|step| step.seq);
    Ok(steps)
}

/// Rows whose key is among `keys`. The list is filled up to a power of two, so that few statements are prepared.
pub(super) async fn among(
    conn: &mut dyn Connection,
    sql: &str,
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
