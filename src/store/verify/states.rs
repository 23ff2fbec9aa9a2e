//! The states of a run: rebuilt one after the other from the first, each held against the chain.

use super::Walk;
use crate::{
    domain::{Hash, tree::Tree},
    store::{
        Error,
        engine::params,
        rows::RunRow,
        snapshots::{self, stored::Stored},
    },
};

/// Snapshots read at once: their bodies may be large.
const PAGE: i64 = 16;

impl Walk<'_> {
    pub async fn states(&mut self, run: &RunRow) -> Result<(), Error> {
        let sql = "SELECT run, n, seq, created_at, keyframe, weight, encoding, body, state_hash, hash, seal \
             FROM snapshots WHERE run = $1 AND n > $2 ORDER BY n LIMIT $3";
        let mut last = -1;
        let mut good: Option<(i64, Tree, Hash)> = None;
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
                        self.damaged_state(run, n, &good, error.to_string());
                        last = n;
                        continue;
                    }
                };
                if last < 0 && stored.n > 0 {
                    // The states before are another run's, which this one shares.
                    good = self.shared(run, stored.n - 1).await?;
                } else if stored.n != n {
                    let why = format!("it is missing: the next one is {}", stored.n);
                    self.damaged_state(run, n, &good, why);
                }
                let before = good
                    .take_if(|(at, ..)| *at == stored.n - 1)
                    .map(|(_, tree, hash)| (tree, hash));
                let reached = before.is_some();
                match stored.build(before.clone()) {
                    Ok(tree) if stored.n == 0 && stored.hash != first(&stored) => {
                        drop(tree);
                        self.damaged_state(run, 0, &good, "it begins another chain".to_owned());
                    }
                    Ok(tree) => good = Some((stored.n, tree, stored.hash)),
                    // A state that is made from a damaged one is not to be had either: named once.
                    Err(error) if reached || stored.keyframe == stored.n => {
                        let last_good = before
                            .map(|_| stored.n - 1)
                            .or(good.as_ref().map(|it| it.0));
                        let place = format!("snapshot {}", stored.n);
                        self.damage(Some(&run.id), place, error.to_string(), last_good);
                    }
                    Err(_) => {}
                }
                last = stored.n;
            }
            self.found.checked.snapshots += count;
            self.done(count);
            if count < PAGE || self.found.more {
                break;
            }
        }
        self.newest(run, last, good).await
    }

    /// The newest state is the one that the run knows.
    async fn newest(
        &mut self,
        run: &RunRow,
        last: i64,
        good: Option<(i64, Tree, Hash)>,
    ) -> Result<(), Error> {
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
                let why = "it is not the one that the run knows".to_owned();
                self.damaged_state(run, run.snapshot, &good, why);
                Ok(())
            }
            Err(error) => self.trouble(Some(&run.id), "its newest snapshot", error),
        }
    }

    fn damaged_state(
        &mut self,
        run: &RunRow,
        n: i64,
        good: &Option<(i64, Tree, Hash)>,
        why: String,
    ) {
        let last_good = good.as_ref().map(|it| it.0).filter(|at| *at < n);
        self.damage(Some(&run.id), format!("snapshot {n}"), why, last_good);
    }

    /// A state that another run keeps for this one.
    async fn shared(&mut self, run: &RunRow, n: i64) -> Result<Option<(i64, Tree, Hash)>, Error> {
        match snapshots::built(&mut *self.conn, &run.id, n).await {
            Ok((stored, tree)) => Ok(Some((n, tree, stored.hash))),
            Err(error) => {
                self.trouble(Some(&run.id), &format!("snapshot {n}"), error)?;
                Ok(None)
            }
        }
    }
}

/// The first link of a chain.
fn first(stored: &Stored) -> Hash {
    crate::domain::hash::link(Hash::default(), 0, stored.state_hash)
}
