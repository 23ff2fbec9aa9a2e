//! The states of a run.

use leptos::prelude::*;
use server_fn::codec::Json;

use super::AppError;
use crate::domain::{RunId, sheet::StateSheet};

/// The state after the step `seq`, or the newest one before it if it committed none.
#[server(endpoint = "snapshots/after_step", input = Json)]
pub async fn after_step(run: RunId, seq: i64) -> Result<StateSheet, AppError> {
    super::authorise(crate::domain::Action::Read)?;
    let store = super::store()?;
    let snapshot = store.snapshot_after(&run, seq).await?;
    let own = snapshot.seq == Some(seq);
    Ok(StateSheet::of(snapshot, own))
}
