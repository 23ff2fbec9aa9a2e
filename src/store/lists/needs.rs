//! What waits for a person: causes that stopped several runs, counted, and the single runs beside them.

use std::collections::HashSet;

use super::super::{
    Error, Store,
    engine::{Connection, params},
    rows::{RunRow, run_columns},
};
use crate::domain::{
    Problem,
    rules::needs::{Alike, Cause, GROUP_MIN, NeedsYou},
    views::counts::COUNT_MAX,
};

/// Causes that are looked at, and those that are shown.
const CAUSES_READ: usize = 200;
const CAUSES_SHOWN: usize = 20;
/// Runs read to find the single ones.
const BUDGET: usize = 2_000;
const STRIDE: i64 = 200;

pub const NEXT_CAUSE: &str = "SELECT cause FROM runs WHERE cause > $1 ORDER BY cause LIMIT 1";
pub const SIZE: &str = "SELECT COUNT(*), COUNT(c.cost_usd), SUM(c.cost_usd), MAX(c.updated_at) FROM \
     (SELECT cost_usd, updated_at FROM runs WHERE cause = $1 LIMIT $2) AS c";
pub const ONE: &str = concat!(
    "SELECT ",
    run_columns!(),
    " FROM runs WHERE cause = $1 LIMIT 1"
);
/// Effects unknown first, then oldest; the run itself settles a tie.
pub const IN_NEED: &str = concat!(
    "SELECT ",
    run_columns!(),
    " FROM runs WHERE needs = $1 AND updated_at >= $2 ORDER BY needs, updated_at LIMIT $3"
);

impl Store {
    /// How many runs stopped for one cause, counted no further than anyone reads.
    pub async fn size(&self, alike: &Alike) -> Result<i64, Problem> {
        let read = async {
            let mut conn = self.engine.read().await?;
            let size = conn.fetch_one(SIZE, params![alike.id(), COUNT_MAX]).await?;
            Ok(size.map(|mut row| row.int()).transpose()?.unwrap_or(0))
        };
        read.await.map_err(Error::problem)
    }

    /// At most `rows_max` single runs, effects unknown first, then oldest; runs alike are one cause.
    pub async fn needs_you(&self, rows_max: usize) -> Result<NeedsYou, Problem> {
        let read = async {
            let mut conn = self.engine.read().await?;
            let causes = causes(&mut *conn).await?;
            let grouped = causes.iter().map(|cause| cause.alike.id()).collect();
            let mut singles = singles(&mut *conn, &grouped, rows_max + 1).await?;
            let more = singles.len() > rows_max;
            singles.truncate(rows_max);
            Ok(NeedsYou {
                runs: singles.iter().map(RunRow::to_run).collect(),
                causes,
                more,
            })
        };
        read.await.map_err(Error::problem)
    }
}

/// Causes of several runs: effects unknown first, then the largest.
async fn causes(conn: &mut dyn Connection) -> Result<Vec<Cause>, Error> {
    let mut causes = Vec::new();
    let mut last = String::new();
    for _ in 0..CAUSES_READ {
        let row = conn.fetch_one(NEXT_CAUSE, params![last.as_str()]).await?;
        let Some(mut row) = row else { break };
        // From a damaged one there is no way on: runs whose cause comes after it are shown one by one.
        let Ok(cause) = row.text() else { break };
        last = cause;
        let size = conn
            .fetch_one(SIZE, params![last.as_str(), COUNT_MAX])
            .await?;
        let Some(mut size) = size else { continue };
        let (runs, priced, cost_usd) = (size.int()?, size.int()?, size.opt_real()?);
        let newest = size.opt_time()?.unwrap_or_default();
        if runs < GROUP_MIN {
            continue;
        }
        let one = RunRow::listed(conn.fetch(ONE, params![last.as_str()]).await?)?;
        if let Some(alike) = one.first().and_then(|run| Alike::of(&run.to_run())) {
            causes.push(Cause {
                alike,
                runs,
                newest,
                cost_usd: cost_usd.filter(|_| priced == runs && runs < COUNT_MAX),
            });
        }
    }
    causes.sort_by_key(|cause| (!cause.alike.effects_unknown, -cause.runs));
    causes.truncate(CAUSES_SHOWN);
    Ok(causes)
}

/// Runs of no group, in the order they shall be seen.
async fn singles(
    conn: &mut dyn Connection,
    grouped: &HashSet<String>,
    wanted: usize,
) -> Result<Vec<RunRow>, Error> {
    let (mut singles, mut seen, mut read) = (Vec::new(), HashSet::new(), 0);
    for needs in [0, 1] {
        let mut from = i64::MIN;
        loop {
            let rows = conn.fetch(IN_NEED, params![needs, from, STRIDE]).await?;
            let end = (rows.len() as i64) < STRIDE;
            read += rows.len();
            let before = from;
            for run in RunRow::listed(rows)? {
                // The time of an unreadable one is not known: it never leads back.
                from = from.max(run.updated_at.0);
                let cause = Alike::of(&run.to_run()).map(|alike| alike.id());
                let new = seen.insert(run.ord);
                if new && !cause.is_some_and(|cause| grouped.contains(&cause)) {
                    singles.push(run);
                }
                if singles.len() == wanted {
                    return Ok(singles);
                }
            }
            // Hundreds at one instant: what is left of them is among the more.
            if end || from == before {
                break;
            }
            if read >= BUDGET {
                return Ok(singles);
            }
        }
    }
    Ok(singles)
}
