//! The states of a run: rebuilt one after the other from the first, each held against the chain.

use super::Walk;
use crate::store::{
    Error,
    engine::params,
    rows::RunRow,
    snapshots::{
        self,
        builder::{Builder, Built},
        stored::{Stored, snapshot_columns},
    },
};

/// Snapshots read at once: their bodies may be large.
const PAGE: i64 = 16;

impl Walk<'_> {
    pub async fn states(&mut self, run: &RunRow) -> Result<(), Error> {
        let sql = concat!(
            "SELECT ",
            snapshot_columns!(),
            " FROM snapshots WHERE run = $1 AND n > $2 ORDER BY n LIMIT $3"
        );
        let mut last = -1;
        let mut builder = Builder::default();
        loop {
            let page = params![run.id.as_str(), last, PAGE];
            let rows = match self.conn.fetch(sql, page).await {
                Ok(rows) => rows,
                Err(error) => {
                    return self.trouble(Some(&run.id), &format!("snapshot {}", last + 1), error);
                }
            };
            let count = rows.len() as i64;
            for row in rows {
                let n = last + 1;
                let stored = match Stored::read(row) {
                    Ok(stored) => stored,
                    Err(error) => {
                        self.damaged_state(run, n, &builder, error);
                        last = n;
                        continue;
                    }
                };
                if last < 0 && stored.n > 0 {
                    // The states before are another run's, which this one shares.
                    if let Some(built) = self.shared(run, stored.n - 1).await? {
                        builder = Builder::from(built);
                    }
                } else if stored.n != n {
                    let why = format!("it is missing: the next one is {}", stored.n);
                    self.damaged_state(run, n, &builder, Error::damaged(why));
                }
                let reached = builder.reached() == Some(stored.n - 1);
                let whole = stored.keyframe == stored.n;
                if let Err(error) = builder.checked(&stored)
                    // States that are made from a damaged one cannot be rebuilt either: the damage is named once.
                    && (reached || whole)
                {
                    self.damaged_state(run, stored.n, &builder, error);
                }
                last = stored.n;
            }
            self.found.checked.snapshots += count;
            self.done(count);
            if count < PAGE || self.found.more {
                break;
            }
        }
        self.newest(run, last, &builder).await
    }

    /// The newest state is the one that the run knows.
    async fn newest(&mut self, run: &RunRow, last: i64, builder: &Builder) -> Result<(), Error> {
        let sql = "SELECT hash FROM snapshots WHERE run = $1 AND n = $2";
        if last < 0 && self.shared(run, run.snapshot).await?.is_some() {
            return Ok(());
        }
        let row = self
            .conn
            .fetch_one(sql, params![run.id.as_str(), run.snapshot])
            .await;
        let known = match row {
            Ok(row) => row.map(|mut row| row.hash()).transpose(),
            Err(error) => Err(error),
        };
        match known {
            Ok(Some(hash)) if hash == run.hash => Ok(()),
            Ok(_) => {
                let why = Error::damaged("it is not the one that the run knows");
                self.damaged_state(run, run.snapshot, builder, why);
                Ok(())
            }
            Err(error) => self.trouble(Some(&run.id), "its newest snapshot", error),
        }
    }

    fn damaged_state(&mut self, run: &RunRow, n: i64, builder: &Builder, why: Error) {
        let last_good = builder.good().filter(|good| *good < n);
        let why = why.what();
        self.damage(Some(&run.id), format!("snapshot {n}"), why, last_good);
    }

    /// A state that another run keeps for this one.
    async fn shared(&mut self, run: &RunRow, n: i64) -> Result<Option<Built>, Error> {
        match snapshots::built(&mut *self.conn, &run.id, n).await {
            Ok((_, built)) => Ok(Some(built)),
            Err(error) => {
                self.trouble(Some(&run.id), &format!("snapshot {n}"), error)?;
                Ok(None)
            }
        }
    }
}
