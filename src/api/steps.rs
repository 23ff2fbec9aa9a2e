//! A run's steps: the rows of its list, one step in full, and what is looked for among them.

use leptos::prelude::*;

use super::{AppError, json::Json};
use crate::domain::{
    AsOf, Event, RunId,
    views::{outline::StepWindow, sheet::StepSheet},
    wire::{protocol::StepPage, step_query::Direction},
};

door!(Window: Needs(Read));
/// The rows around the step `at`, or from the row `base` on; without both, where the run is.
#[server(endpoint = "steps/window", input = Json, output = Json)]
pub async fn window(
    run: RunId,
    at: Option<i64>,
    base: Option<i64>,
) -> Result<AsOf<StepWindow>, AppError> {
    super::authorise::<Window>()?;
    let store = super::store()?;
    super::as_of(&store, store.step_window(&run, at, base)).await
}

door!(Page: Needs(Read));
/// The page of steps after `after`.
#[server(endpoint = "steps/page", input = Json, output = Json)]
pub async fn page(run: RunId, after: i64) -> Result<StepPage, AppError> {
    super::authorise::<Page>()?;
    let store = super::store()?;
    Ok(store
        .steps(&run, after.max(0), crate::domain::views::outline::PAGE)
        .await?)
}

door!(One: Needs(Read));
/// The step `seq`; without it the one where the run is.
#[server(endpoint = "steps/one", input = Json, output = Json)]
pub async fn one(run: RunId, seq: Option<i64>) -> Result<AsOf<Option<StepSheet>>, AppError> {
    super::authorise::<One>()?;
    let store = super::store()?;
    super::as_of(&store, async {
        let seq = match seq {
            Some(seq) => Some(seq),
            None => store.opens_at(&run).await?,
        };
        Ok(match seq {
            Some(seq) => {
                let mut step = StepSheet::of(store.step(&run, seq).await?);
                let epoch = step.by_worker().map(|it| it.epoch);
                if let Some(epoch) = epoch {
                    step.lease_end = store.lease_end(&run, epoch).await?;
                }
                Some(step)
            }
            None => None,
        })
    })
    .await
}

door!(OpensAt: Needs(Read));
/// The step that the run's page opens at.
#[server(OpensAt, endpoint = "steps/opens_at", input = Json, output = Json)]
pub async fn opens_at(run: RunId) -> Result<Option<i64>, AppError> {
    super::authorise::<OpensAt>()?;
    Ok(super::store()?.opens_at(&run).await?)
}

door!(Find: Needs(Read));
/// Steps that the words of `text` fit, after `after`.
#[server(endpoint = "steps/find", input = Json, output = Json)]
pub async fn find(run: RunId, text: String, after: i64) -> Result<StepPage, AppError> {
    super::authorise::<Find>()?;
    let store = super::store()?;
    let query = crate::domain::wire::step_query::StepQuery::of(&text);
    Ok(store.find_steps(&run, &query, after.max(0)).await?)
}

door!(Problem: Needs(Read));
/// The next step from `seq` in this direction that went wrong, was tried again or waits.
#[server(endpoint = "steps/problem", input = Json, output = Json)]
pub async fn problem(run: RunId, seq: i64, direction: Direction) -> Result<Option<i64>, AppError> {
    super::authorise::<Problem>()?;
    Ok(super::store()?.next_problem(&run, seq, direction).await?)
}

door!(Change: Needs(Read));
/// The next step from `seq` in this direction that changed the state.
#[server(endpoint = "steps/change", input = Json, output = Json)]
pub async fn change(run: RunId, seq: i64, direction: Direction) -> Result<Option<i64>, AppError> {
    super::authorise::<Change>()?;
    Ok(super::store()?.next_change(&run, seq, direction).await?)
}

door!(Events: Needs(Read));
/// What happened to one step, oldest first.
#[server(endpoint = "steps/events", input = Json, output = Json)]
pub async fn events(run: RunId, seq: i64) -> Result<Vec<Event>, AppError> {
    super::authorise::<Events>()?;
    Ok(super::store()?.step_events(&run, seq).await?)
}
