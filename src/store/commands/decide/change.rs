//! A state that an operator changes: checked by the run's schema, kept as new snapshots.

use serde_json::Value;

use super::{Decision, vetted::Back};
use crate::store::{
    Error,
    engine::{Param, params},
    rows::RunRow,
    snapshots::{self, NewestState},
    tx::Tx,
};

/// New snapshots that are ready to be written.
pub struct Edited {
    held: NewestState,
    rows: Vec<Vec<Param>>,
}

impl Decision {
    /// The states that were made before the transaction, if they still follow from the current one and its schema;
    /// none, if no change is asked for. Nothing is written yet.
    pub(super) async fn edited(&self, tx: &mut Tx, run: &RunRow) -> Result<Option<Edited>, Error> {
        let sql = "SELECT state_schema FROM runs WHERE id = $1";
        let Some(new) = &self.vetted.edit else {
            if self.changes().is_empty() {
                return Ok(None);
            }
            // No state was made before the transaction: state or schema could not be read. Reading them here names the damage.
            let held = tx.state(run).await?;
            tx.hold(&run.id, held);
            let row = tx.conn().fetch_one(sql, params![run.id.as_str()]).await?;
            row.map(|mut row| row.opt_sealed::<Value>()).transpose()?;
            return Err(Error::Outdated);
        };
        let row = tx.conn().fetch_one(sql, params![run.id.as_str()]).await?;
        let schema = row.map(|mut row| row.opt_text()).transpose()?.flatten();
        if new.base != run.hash || new.schema != schema {
            return Err(Error::Outdated);
        }
        let made = new.made.as_ref().map_err(Clone::clone)?;
        let Some((held, _)) = made.last() else {
            return Ok(None);
        };
        let row = |(held, packed): &(NewestState, snapshots::Packed)| {
            held.row(&run.id, None, tx.now, packed.clone())
        };
        Ok(Some(Edited {
            held: held.clone(),
            rows: made.iter().map(row).collect(),
        }))
    }
}

impl Edited {
    /// The state as it was once, made before the transaction: it counts if the state that it follows is still current.
    pub fn back(tx: &Tx, run: &RunRow, to: i64, back: &Back) -> Result<Self, Error> {
        if (back.to, back.base) != (to, run.hash) {
            return Err(Error::Outdated);
        }
        let (held, packed) = back.made.clone();
        let row = held.row(&run.id, None, tx.now, packed);
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
