//! How a lease ended, for the pages: "lease lost" is said only where it was lost.

use super::{
    Error, Store,
    engine::{Connection, params},
    rows::lease::LeaseRow,
    table::Declared as _,
};
use crate::domain::{Epoch, Problem, RunId, rules::lease::LeaseEnd};

/// Runs of one cause whose leases are looked at; of a larger group it is not claimed how all of them ended.
const LOOKED_AT: i64 = 100;

impl Store {
    /// How the run's lease of this epoch ended, if it did.
    pub async fn lease_end(&self, run: &RunId, epoch: Epoch) -> Result<Option<LeaseEnd>, Problem> {
        let read = async {
            let mut conn = self.engine.read().await?;
            ended_by(&mut *conn, run, epoch).await
        };
        read.await.map_err(Error::problem)
    }
}

/// How the run's lease of this epoch ended. Of a damaged row nothing is said.
pub async fn ended_by(
    conn: &mut dyn Connection,
    run: &RunId,
    epoch: Epoch,
) -> Result<Option<LeaseEnd>, Error> {
    let this = "WHERE run = $1 AND epoch = $2";
    let leases = LeaseRow::sound_ones(conn, this, params![run.as_str(), epoch.0]).await?;
    Ok(leases.first().and_then(by))
}

/// How the newest leases of so many runs that stopped for one cause ended, if all of them ended alike.
pub async fn of_cause(
    conn: &mut dyn Connection,
    cause: &str,
    runs: i64,
) -> Result<Option<LeaseEnd>, Error> {
    if runs > LOOKED_AT {
        return Ok(None);
    }
    let newest = "WHERE (run, epoch) IN (SELECT id, epoch FROM runs WHERE cause = $1 LIMIT $2)";
    let leases = LeaseRow::sound_ones(conn, newest, params![cause, LOOKED_AT]).await?;
    let ends: Vec<_> = leases.iter().filter_map(by).collect();
    let first = ends.first().copied();
    let alike = ends
        .iter()
        .all(|it| first.is_some_and(|first| first.lost() == it.lost()));
    // A damaged lease is missing here, and may have ended in another way.
    let all = ends.len() as i64 == runs;
    Ok(first.filter(|_| alike && all))
}

fn by(lease: &LeaseRow) -> Option<LeaseEnd> {
    lease.ended_by.as_deref()?.parse().ok()
}
