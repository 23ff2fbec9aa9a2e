//! Leases that ran out are ended, also when nobody looks.

use async_trait::async_trait;

use crate::{
    domain::RunId,
    store::{Error, tx::Tx, writer::Command},
};

/// Ends the leases of these runs if they are over by now.
pub struct Reap {
    pub runs: Vec<RunId>,
}

#[async_trait]
impl Command for Reap {
    type Answer = ();

    async fn apply(&self, tx: &mut Tx) -> Result<(), Error> {
        for id in &self.runs {
            // `tx.run` ends a lease that ran out.
            tx.find_run(id).await?;
        }
        Ok(())
    }
}
