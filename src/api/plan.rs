//! The resume plan of a run.

use leptos::prelude::*;

use super::{AppError, json::Json};
use crate::domain::{
    AsOf, RunId,
    rules::plan::{Plan, PlanQuery},
};

door!(ReadPlan: Needs(Read));
/// What will happen when a worker takes the run: as it is, or after choices, a rewind or a fork.
#[server(ReadPlan, endpoint = "plan/read", input = Json, output = Json)]
pub async fn read(run: RunId, query: PlanQuery) -> Result<AsOf<Plan>, AppError> {
    super::authorise::<ReadPlan>()?;
    let store = super::store()?;
    super::as_of(&store, store.plan(&run, &query)).await
}
