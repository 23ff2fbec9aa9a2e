//! A run as it is written: once when it is created, then what changes.

use super::{RunRow, TABLE};
use crate::store::{
    Error,
    bulk::Bulk,
    content::Content,
    engine::{Connection, Param, params},
};

static INSERT: Bulk = Bulk::insert(&TABLE, &["input", "state_schema"]);
pub static UPDATE: Bulk = Bulk::update(&TABLE, &["needs", "cause"]);

impl RunRow {
    pub async fn insert(
        &self,
        conn: &mut dyn Connection,
        input: &Content,
        state_schema: Option<&Content>,
    ) -> Result<(), Error> {
        let beside = params![input.sealed(), state_schema.map(Content::sealed)];
        let row = INSERT.row(self.values(), beside);
        INSERT.execute(conn, vec![row]).await?;
        let label = "INSERT INTO run_labels (run, key, value, ord) VALUES ($1, $2, $3, $4)";
        for (key, value) in &self.labels {
            conn.execute(
                label,
                params![self.id.as_str(), key.as_str(), value.as_str(), self.ord],
            )
            .await?;
        }
        Ok(())
    }

    /// What changes in a run's life, for [`UPDATE`]; its origin never does.
    pub fn updated(&self) -> Vec<Param> {
        UPDATE.row(self.values(), params![self.needs(), self.cause()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::table::InFork;

    /// A fork is inserted like any run: what lies beside its row and is not fresh must be among what an insert writes.
    #[test]
    fn a_forked_run_gets_all_that_lies_beside_its_row() {
        let given = TABLE.beside.iter().filter(|it| it.fork != InFork::Fresh);
        let given: Vec<_> = given.map(|it| it.name).collect();
        assert_eq!(given, INSERT.beside());
    }
}
