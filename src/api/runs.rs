//! Runs: the list, what needs a person, and single runs.

use leptos::prelude::*;
use server_fn::codec::Json;

use super::AppError;
use crate::domain::{
    AsOf, Counts, Run, RunId, RunQuery, needs::NeedsYou, protocol::RunPage, sheet::RunSheet,
};

/// Runs looked at to find the ones that stopped for one cause.
#[cfg(feature = "ssr")]
const NEEDS_MAX: i64 = 200;

/// Rows that a page may ask for again at once.
#[cfg(feature = "ssr")]
const SOME_MAX: usize = 200;

#[server(endpoint = "runs/list", input = Json)]
pub async fn list(query: RunQuery) -> Result<AsOf<RunPage>, AppError> {
    use crate::domain::protocol::Check as _;
    super::authorise(crate::domain::Action::Read)?;
    query.check()?;
    let store = super::store()?;
    super::as_of(&store, store.runs(&query)).await
}

/// What waits for a person: the few that fit on top of the list, or `all` of them.
#[server(ReadNeedsYou, endpoint = "runs/needs_you", input = Json)]
pub async fn needs_you(all: bool) -> Result<AsOf<NeedsYou>, AppError> {
    super::authorise(crate::domain::Action::Read)?;
    let store = super::store()?;
    super::as_of(&store, async {
        let rows = if all {
            NEEDS_MAX as usize
        } else {
            crate::domain::needs::ROWS_ON_TOP
        };
        Ok(NeedsYou::of(store.needs_you(NEEDS_MAX).await?, rows))
    })
    .await
}

#[server(ReadCounts, endpoint = "runs/counts", input = Json)]
pub async fn counts() -> Result<AsOf<Counts>, AppError> {
    super::authorise(crate::domain::Action::Read)?;
    let store = super::store()?;
    super::as_of(&store, store.counts()).await
}

/// These runs as they are now, for rows already on a screen; one that is gone is left out.
#[server(endpoint = "runs/some", input = Json)]
pub async fn some(ids: Vec<RunId>) -> Result<AsOf<Vec<Run>>, AppError> {
    super::authorise(crate::domain::Action::Read)?;
    let store = super::store()?;
    let ids = &ids[..ids.len().min(SOME_MAX)];
    super::as_of(&store, store.some_runs(ids)).await
}

#[server(endpoint = "runs/one", input = Json)]
pub async fn one(id: RunId) -> Result<AsOf<RunSheet>, AppError> {
    super::authorise(crate::domain::Action::Read)?;
    let store = super::store()?;
    super::as_of(&store, async { Ok(RunSheet::of(store.run(&id).await?)) }).await
}
