//! Workers: who holds leases, who asks for work.

use leptos::prelude::*;

use super::{AppError, json::Json};
use crate::domain::nouns::worker::{Asking, WorkerPage};

/// Workers on one page.
#[cfg(feature = "ssr")]
const ON_A_PAGE: i64 = 50;

door!(ReadWorkers: Needs(Read));
/// Workers that were heard of lately, the last heard first.
#[server(ReadWorkers, endpoint = "workers/page", input = Json, output = Json)]
pub async fn page(cursor: Option<String>) -> Result<WorkerPage, AppError> {
    super::authorise::<ReadWorkers>()?;
    Ok(super::store()?
        .workers(cursor.as_deref(), ON_A_PAGE)
        .await?)
}

door!(ReadAsking: Needs(Read));
/// Who asks for this agent's runs: for a run that waits for a worker.
#[server(ReadAsking, endpoint = "workers/asking", input = Json, output = Json)]
pub async fn asking(agent: String) -> Result<Asking, AppError> {
    super::authorise::<ReadAsking>()?;
    Ok(super::store()?.asking(&agent).await?)
}
