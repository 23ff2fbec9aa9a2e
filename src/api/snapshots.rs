//! The states of a run, branch by branch.

use leptos::prelude::*;
use serde_json::Value;

use super::{AppError, json::Json};
use crate::domain::{
    AsOf, RunId,
    diff::Change,
    views::{
        blame::Blame,
        edit::EditSheet,
        state_view::{BranchPage, StateView},
    },
};

door!(AfterStep: Needs(Read));
/// The state after the step `seq`, or the newest one before it if it committed none.
#[server(endpoint = "snapshots/after_step", input = Json, output = Json)]
pub async fn after_step(run: RunId, seq: i64) -> Result<StateView, AppError> {
    super::authorise::<AfterStep>()?;
    Ok(super::store()?.state_after(&run, seq).await?)
}

door!(Branches: Needs(Read));
/// What stands directly below a place; of a list also only the items from `items.0` on, `items.1` of them.
#[server(endpoint = "snapshots/branches", input = Json, output = Json)]
pub async fn branches(
    run: RunId,
    snapshot: i64,
    path: String,
    items: Option<(i64, i64)>,
    after: i64,
) -> Result<BranchPage, AppError> {
    super::authorise::<Branches>()?;
    let store = super::store()?;
    Ok(store.branches(&run, snapshot, &path, items, after).await?)
}

door!(Find: Needs(Read));
/// Values that hold this text, or whose key does.
#[server(endpoint = "snapshots/find", input = Json, output = Json)]
pub async fn find(
    run: RunId,
    snapshot: i64,
    text: String,
    after: i64,
) -> Result<BranchPage, AppError> {
    super::authorise::<Find>()?;
    let store = super::store()?;
    Ok(store.find_in_state(&run, snapshot, &text, after).await?)
}

door!(CopyValue: Needs(Read));
/// One value as JSON, to be copied.
#[server(CopyValue, endpoint = "snapshots/value", input = Json, output = Json)]
pub async fn value(run: RunId, snapshot: i64, path: String) -> Result<String, AppError> {
    super::authorise::<CopyValue>()?;
    Ok(super::store()?.value_at(&run, snapshot, &path).await?)
}

door!(Writes: Needs(Read));
/// Which step wrote a value, when, and what stood there before.
#[server(endpoint = "snapshots/writes", input = Json, output = Json)]
pub async fn writes(run: RunId, snapshot: i64, path: String) -> Result<Blame, AppError> {
    super::authorise::<Writes>()?;
    Ok(super::store()?.blame(&run, snapshot, &path).await?)
}

door!(ReadToEdit: Needs(Read));
/// What stands at `path` in the current state, to be edited.
#[server(ReadToEdit, endpoint = "snapshots/to_edit", input = Json, output = Json)]
pub async fn to_edit(run: RunId, path: String) -> Result<AsOf<EditSheet>, AppError> {
    super::authorise::<ReadToEdit>()?;
    let store = super::store()?;
    super::as_of(&store, async {
        let detail = store.run(&run).await?;
        let state = store.snapshot(&run, detail.run.snapshot).await?.state;
        let plan = store.plan(&run, &Default::default()).await?;
        let next = plan.from.unwrap_or(detail.run.steps + 1);
        EditSheet::of(
            detail.run,
            &state,
            path,
            detail.state_schema.is_some(),
            next,
        )
    })
    .await
}

door!(CheckEdit: Needs(Read));
/// What the run's schema says against this value at `path`: the place inside it, and why.
#[server(CheckEdit, endpoint = "snapshots/check", input = Json, output = Json)]
pub async fn check(
    run: RunId,
    path: String,
    value: Value,
) -> Result<Vec<(String, String)>, AppError> {
    use crate::domain::{Problem, wire::patch};
    super::authorise::<CheckEdit>()?;
    let store = super::store()?;
    let detail = store.run(&run).await?;
    let Some(schema) = detail.state_schema else {
        return Ok(Vec::new());
    };
    let state = match path.is_empty() {
        true => value,
        false => {
            let mut state = store.snapshot(&run, detail.run.snapshot).await?.state;
            patch::tokens(&path).map_err(|why| Problem::invalid("path", why))?;
            let place = state.pointer_mut(&path);
            *place.ok_or_else(|| Problem::not_found("value in the state"))? = value;
            state
        }
    };
    Ok(store.misfits(schema, state, ERRORS_MAX).await?)
}

/// What a schema says at most at once.
#[cfg(feature = "ssr")]
const ERRORS_MAX: usize = 20;

door!(ReadChange: Needs(Read));
/// What changed between two states of a run: enough to read, not to restore.
#[server(ReadChange, endpoint = "snapshots/change", input = Json, output = Json)]
pub async fn change(run: RunId, from: i64, to: i64) -> Result<Vec<Change>, AppError> {
    use crate::domain::{diff, tree::Tree};
    super::authorise::<ReadChange>()?;
    let store = super::store()?;
    let old = store.snapshot(&run, from).await?.state;
    let new = store.snapshot(&run, to).await?.state;
    let mut changes = diff::diff(&Tree::from(old), &Tree::from(new));
    changes.truncate(CHANGES_MAX);
    Ok(changes)
}

#[cfg(feature = "ssr")]
const CHANGES_MAX: usize = 100;
