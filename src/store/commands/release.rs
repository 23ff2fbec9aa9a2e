//! A worker gives a run back: at once, after a durable sleep, or paused.

use async_trait::async_trait;
use serde_json::json;

use super::holds;
use crate::{
    domain::{
        Epoch, Hash, Problem, RunId, RunStatus, rules::lease::LeaseEnd, wire::protocol::ReleaseRun,
    },
    store::{
        Error, Store,
        engine::params,
        lease_end::{self, Said},
        rows::{Detail, lease::LeaseRow},
        table::Declared as _,
        tx::Tx,
        writer::Command,
    },
};

pub struct Release {
    pub run: RunId,
    pub body: ReleaseRun,
}

#[async_trait]
impl Command for Release {
    type Answer = Detail;

    async fn prepare(&mut self, store: &Store) -> Result<(), Error> {
        store.open_content(&self.run).await
    }

    async fn apply(&self, tx: &mut Tx) -> Result<Detail, Error> {
        let mut run = tx.run(&self.run).await?;
        let body = Hash::of(&json!(self.body));
        if ended_with(tx, &run.id, self.body.epoch, LeaseEnd::Release, body).await? {
            return tx.detail(&run).await;
        }
        if !holds(&run, self.body.epoch) {
            return Err(Problem::lease_lost().into());
        }
        let said = Said {
            body: Some(body),
            pause: self.body.pause,
        };
        lease_end::end(tx, &mut run, LeaseEnd::Release, said).await?;
        if run.status == RunStatus::Ready {
            run.runnable_at = self
                .body
                .after_ms
                .filter(|ms| *ms > 0)
                .map(|ms| tx.now.plus_ms(ms));
        }
        tx.save(&run);
        tx.detail(&run).await
    }
}

/// The same request ended this very lease before.
pub async fn ended_with(
    tx: &mut Tx,
    run: &RunId,
    epoch: Epoch,
    by: LeaseEnd,
    body: Hash,
) -> Result<bool, Error> {
    let this = "WHERE run = $1 AND epoch = $2 AND ended_by = $3 AND body = $4";
    let params = params![run.as_str(), epoch.0, by.as_str(), body];
    let found = LeaseRow::select(tx.conn(), this, params).await?;
    Ok(!found.is_empty())
}
