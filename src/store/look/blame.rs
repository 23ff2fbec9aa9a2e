//! Who wrote a value: the states are read back, one stretch after another, until enough is known.

use super::{StateAt, at, step_name, within};
use crate::{
    domain::{
        Problem, RunId,
        tree::Tree,
        views::{
            blame::{Blame, SNAPSHOTS_MAX, Trace, WRITES_MAX, Write, pointer, trace},
            state_view::Branch,
        },
        wire::patch::tokens,
    },
    store::{Error, Store, decisions, engine::Connection, snapshots},
};

impl Store {
    /// The writes of the value at `path` in snapshot `n`, newest first.
    pub async fn blame(&self, run: &RunId, n: i64, path: &str) -> Result<Blame, Problem> {
        self.follow_back(run, n, path).await.map_err(Error::problem)
    }

    async fn follow_back(&self, run: &RunId, n: i64, path: &str) -> Result<Blame, Error> {
        let keys = tokens(path).map_err(|why| Problem::invalid("path", why))?;
        let (mut conn, owner) = self.find(run).await?;
        within("snapshot", run, n, owner.snapshot)?;
        let mut history = History {
            conn: &mut *conn,
            run,
            path: keys,
            writes: Vec::new(),
        };
        let mut newer: Option<StateAt> = None;
        let mut next = n;
        loop {
            let mut states = snapshots::stretch(history.conn, run, next).await?;
            if newer.is_none() {
                let newest = states
                    .last()
                    .ok_or_else(|| Problem::not_found("snapshot"))?;
                at(&newest.tree, path)?;
            }
            while let Some(older) = states.pop() {
                let Some(now) = newer.replace(older.clone()) else {
                    continue;
                };
                if history.step(&older.tree, &now).await? {
                    return Ok(history.done(None));
                }
            }
            let Some(oldest) = &newer else {
                return Ok(history.done(None));
            };
            if oldest.snapshot == 0 {
                let oldest = oldest.clone();
                history.write(&oldest).await?;
                return Ok(history.done(None));
            }
            if history.writes.len() >= WRITES_MAX || n - oldest.snapshot >= SNAPSHOTS_MAX {
                let unread = Some(oldest.snapshot);
                return Ok(history.done(unread));
            }
            next = oldest.snapshot - 1;
        }
    }
}

struct History<'a> {
    conn: &'a mut dyn Connection,
    run: &'a RunId,
    /// Where the value stands in the state that is looked at.
    path: Vec<String>,
    writes: Vec<Write>,
}

impl History<'_> {
    /// From one state to the one before; true if the value begins here.
    async fn step(&mut self, older: &Tree, now: &StateAt) -> Result<bool, Error> {
        match trace(older, &now.tree, &self.path) {
            Trace::Same(was) => self.path = was,
            Trace::Changed(was) => {
                self.write(now).await?;
                self.path = was;
            }
            Trace::Added => {
                self.write(now).await?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn write(&mut self, state: &StateAt) -> Result<(), Error> {
        if self.writes.len() >= WRITES_MAX {
            return Ok(());
        }
        let name = step_name(self.conn, self.run, state.seq).await?;
        let between = state.seq.is_none() && state.snapshot > 0;
        let by_hand = between && decisions::made(self.conn, self.run, state).await?;
        let path = pointer(&self.path);
        self.writes.push(Write {
            snapshot: state.snapshot,
            seq: state.seq,
            by_hand,
            name,
            at: state.created_at,
            value: Branch::of(None, path.clone(), at(&state.tree, &path)?),
        });
        Ok(())
    }

    fn done(self, unread: Option<i64>) -> Blame {
        Blame {
            writes: self.writes,
            unread,
        }
    }
}
