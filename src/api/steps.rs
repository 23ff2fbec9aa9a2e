//! A run's steps: pages of the list, and one step in full.

use leptos::prelude::*;
use server_fn::codec::Json;

use super::AppError;
use crate::domain::{AsOf, RunId, protocol::StepPage, sheet::StepSheet};

/// Steps on one page of a run.
pub const STEPS_ON_A_PAGE: i64 = 100;

/// Steps shown before the one that matters: it is on the first screen.
pub const STEPS_BEFORE: i64 = 10;

/// The page of steps after `after`; without it the page where the run is, or the first one of a run that is over.
#[server(endpoint = "steps/page", input = Json)]
pub async fn page(run: RunId, after: Option<i64>) -> Result<AsOf<StepPage>, AppError> {
    super::authorise(crate::domain::Action::Read)?;
    let store = super::store()?;
    super::as_of(&store, async {
        let after = match after {
            Some(after) => after,
            None => {
                let run = store.run(&run).await?.run;
                let last = if run.status.over() { 0 } else { run.steps };
                last - STEPS_BEFORE
            }
        };
        store.steps(&run, after.max(0), STEPS_ON_A_PAGE).await
    })
    .await
}

/// The step `seq`; without it the one where the run is.
#[server(endpoint = "steps/one", input = Json)]
pub async fn one(run: RunId, seq: Option<i64>) -> Result<AsOf<Option<StepSheet>>, AppError> {
    super::authorise(crate::domain::Action::Read)?;
    let store = super::store()?;
    super::as_of(&store, async {
        let seq = match seq {
            Some(seq) => Some(seq),
            None => store.run(&run).await?.run.at.map(|at| at.seq),
        };
        Ok(match seq {
            Some(seq) => Some(StepSheet::of(store.step(&run, seq).await?)),
            None => None,
        })
    })
    .await
}
