//! Steps by their number, their key and their place.

use std::collections::{BTreeMap, HashMap};

use super::StepRow;
use crate::{
    domain::{Outcome, RunId, StepKey},
    store::{
        Error,
        engine::{Connection, Param, params},
        rows::AttemptRow,
    },
};

/// The columns of a step, of those that the rest of the statement chooses.
macro_rules! steps {
    ($which:literal) => {
        concat!(
            "SELECT ",
            $crate::store::rows::step_columns!(),
            " FROM steps WHERE run = $1 AND ",
            $which
        )
    };
}
pub(in crate::store) use steps;

/// Steps that are more than committed at the first try, as their index has them.
macro_rules! notable_steps {
    () => {
        "(status IN ('failed', 'crashed', 'waiting', 'skipped', 'superseded') OR attempts > 1 OR decision IS NOT NULL)"
    };
}
pub(in crate::store) use notable_steps;

const OPEN: &str = steps!("status IN ('running', 'crashed', 'waiting') ORDER BY seq");

/// Steps that are read one by one on the way back, and at once.
const NEAR: i64 = 500;
const STRIDE: i64 = 50;

/// The last attempts of superseded steps that ever failed, in one statement for all steps that were read.
const LAST_TRIES: &str = "WHERE run = $1 AND seq >= $2 AND seq <= $3 AND attempt = (SELECT s.attempts FROM steps s \
     WHERE s.run = attempts.run AND s.seq = attempts.seq AND s.status = 'superseded' AND s.failures > 0)";

impl StepRow {
    /// A damaged step is nothing to act on.
    pub async fn one(
        conn: &mut dyn Connection,
        sql: &'static str,
        params: Vec<Param>,
    ) -> Result<Option<Self>, Error> {
        let Some(mut row) = conn.fetch_one(sql, params).await? else {
            return Ok(None);
        };
        let mut found = [Self::read(&mut row)?.undamaged()?];
        Self::endings(conn, &mut found).await?;
        let [step] = found;
        Ok(Some(step))
    }

    /// Damaged ones too: they are shown as such.
    pub async fn all(
        conn: &mut dyn Connection,
        sql: &'static str,
        params: Vec<Param>,
    ) -> Result<Vec<Self>, Error> {
        let mut steps = Self::listed(conn.fetch(sql, params).await?)?;
        Self::endings(conn, &mut steps).await?;
        Ok(steps)
    }

    /// Reads how the last attempts ended, of the steps whose rows cannot tell.
    pub async fn endings(conn: &mut dyn Connection, steps: &mut [Self]) -> Result<(), Error> {
        let hidden = || steps.iter().filter(|step| step.hides_its_end());
        let (first, last) = (
            hidden().min_by_key(|step| step.seq),
            hidden().map(|step| step.seq).max(),
        );
        let (Some(first), Some(last)) = (first, last) else {
            return Ok(());
        };
        let params = params![first.run.as_str(), first.seq, last];
        let rows = AttemptRow::sound_ones(conn, LAST_TRIES, params).await?;
        let ends: HashMap<i64, Outcome> = rows.iter().map(|it| (it.seq, it.outcome)).collect();
        for step in steps.iter_mut().filter(|step| step.hides_its_end()) {
            step.last = ends.get(&step.seq).copied();
        }
        Ok(())
    }

    pub async fn load(
        conn: &mut dyn Connection,
        run: &RunId,
        seq: i64,
    ) -> Result<Option<Self>, Error> {
        Self::one(conn, steps!("seq = $2"), params![run.as_str(), seq]).await
    }

    pub async fn by_key(
        conn: &mut dyn Connection,
        run: &RunId,
        key: &StepKey,
    ) -> Result<Option<Self>, Error> {
        let sql = steps!("key = $2 AND status <> 'superseded'");
        Self::one(conn, sql, params![run.as_str(), key.as_str()]).await
    }

    /// The newest step before this one that counts.
    pub async fn last_before(
        conn: &mut dyn Connection,
        run: &RunId,
        seq: i64,
    ) -> Result<Option<Self>, Error> {
        let sql = steps!("seq < $2 AND status <> 'superseded' ORDER BY seq DESC LIMIT 1");
        Self::one(conn, sql, params![run.as_str(), seq]).await
    }

    /// Steps that are neither settled nor failed: what a lease's end has to look at.
    pub async fn open(conn: &mut dyn Connection, run: &RunId) -> Result<Vec<Self>, Error> {
        let found = Self::open_listed(conn, run).await?;
        found.into_iter().map(Self::undamaged).collect()
    }

    /// The same to look at, damaged ones too.
    pub async fn open_listed(conn: &mut dyn Connection, run: &RunId) -> Result<Vec<Self>, Error> {
        Self::all(conn, OPEN, params![run.as_str()]).await
    }

    /// The newest step up to `from` for which `wanted` holds. A damaged step met on the way is refused: it might be the
    /// wanted one. Beyond the newest `NEAR` steps the statement `far` finds it, without reading those between.
    pub async fn newest(
        conn: &mut dyn Connection,
        run: &RunId,
        from: i64,
        wanted: impl Fn(&Self) -> bool,
        far: &'static str,
    ) -> Result<Option<Self>, Error> {
        let mut last = from;
        while last > (from - NEAR).max(0) {
            let first = (last - STRIDE).max(0) + 1;
            let near = Self::between(conn, run, first, last).await?;
            for step in near.into_iter().rev() {
                let step = step.undamaged()?;
                if wanted(&step) {
                    return Ok(Some(step));
                }
            }
            last = first - 1;
        }
        Self::one(conn, far, params![run.as_str(), last]).await
    }

    /// The steps from `first` to `last`, all of which the run has: one that is not found stands there as damaged.
    pub async fn between(
        conn: &mut dyn Connection,
        run: &RunId,
        first: i64,
        last: i64,
    ) -> Result<Vec<Self>, Error> {
        let sql = steps!("seq >= $2 AND seq <= $3 ORDER BY seq");
        let found = Self::all(conn, sql, params![run.as_str(), first, last]).await?;
        let mut found: BTreeMap<i64, Self> = found.into_iter().map(|it| (it.seq, it)).collect();
        (first..=last)
            .map(|seq| match found.remove(&seq) {
                Some(step) => Ok(step),
                None => Self::unreadable(run.clone(), seq),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{domain::StepStatus, store::Store};

    /// Whether a statement's list of statuses, which begins with `status IN (`, has this one.
    fn lists(sql: &str, status: StepStatus) -> bool {
        let (_, list) = sql.split_once("status IN (").expect("a list");
        let (list, _) = list.split_once(')').expect("its end");
        list.split(", ").any(|it| it == format!("'{status}'"))
    }

    #[tokio::test]
    async fn what_statements_and_indexes_list_is_what_the_statuses_say() {
        let store = Store::open("sqlite::memory:").await.unwrap();
        let mut conn = store.engine.write().await.unwrap();
        let mut indexes = Vec::new();
        for name in ["steps_notable", "steps_open"] {
            let sql = "SELECT sql FROM sqlite_schema WHERE name = $1";
            let row = conn.fetch_one(sql, params![name]).await.unwrap();
            indexes.push(row.unwrap().text().unwrap());
        }
        for &status in StepStatus::ALL {
            for sql in [notable_steps!(), indexes[0].as_str()] {
                assert_eq!(lists(sql, status), status.is_notable(), "{status}: {sql}");
            }
            for sql in [OPEN, indexes[1].as_str()] {
                assert_eq!(lists(sql, status), status.is_open(), "{status}: {sql}");
            }
        }
    }
}
