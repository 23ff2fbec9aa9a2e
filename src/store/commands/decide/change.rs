//! A state that an operator changes: checked by the run's schema, kept as new snapshots.

use serde_json::Value;

use crate::{
    domain::patch::Op,
    store::{
        Error,
        engine::{Param, params},
        rows::RunRow,
        schema,
        snapshots::{self, Change, Held},
        tx::Tx,
    },
};

/// New snapshots that are ready to be written.
pub struct Edited {
    held: Held,
    rows: Vec<Vec<Param>>,
}

impl Edited {
    /// Applies these changes in order; none, if there is none. Nothing is written yet.
    pub async fn checked(
        tx: &mut Tx,
        run: &RunRow,
        changes: &[(Option<&Value>, Option<&Vec<Op>>)],
    ) -> Result<Option<Self>, Error> {
        let changes: Vec<_> = changes
            .iter()
            .filter_map(|change| match change {
                (Some(state), _) => Some(Change::Whole((*state).clone())),
                (None, Some(patch)) => Some(Change::Patch((*patch).clone())),
                (None, None) => None,
            })
            .collect();
        if changes.is_empty() {
            return Ok(None);
        }
        let sql = "SELECT state_schema FROM runs WHERE id = $1";
        let row = tx.conn().fetch_one(sql, params![run.id.as_str()]).await?;
        let schema: Option<Value> = row.map(|mut row| row.opt_sealed()).transpose()?.flatten();
        let mut held = tx.state(run).await?;
        let mut rows = Vec::new();
        for change in changes {
            rows.push(held.advance(&run.id, None, tx.now, change, tx.state_max)?);
            if let Some(schema) = &schema {
                schema::check("state", schema, &held.tree.to_value())?;
            }
        }
        Ok(Some(Self { held, rows }))
    }

    /// The state as it was once: whatever the schema says now.
    pub async fn back(tx: &mut Tx, run: &RunRow, state: Value) -> Result<Self, Error> {
        let mut held = tx.state(run).await?;
        let whole = Change::Whole(state);
        let row = held.advance(&run.id, None, tx.now, whole, tx.state_max)?;
        Ok(Self {
            held,
            rows: vec![row],
        })
    }

    /// The newest that it makes.
    pub fn snapshot(&self) -> i64 {
        self.held.snapshot
    }

    pub fn save(self, tx: &mut Tx, run: &mut RunRow) {
        for row in self.rows {
            tx.later(&run.id, &snapshots::INSERT, row);
        }
        (run.snapshot, run.hash) = (self.held.snapshot, self.held.hash);
        tx.hold(&run.id, self.held);
    }
}
