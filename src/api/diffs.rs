//! What changed between two states.

use leptos::prelude::*;

use super::{AppError, json::Json};
use crate::domain::{
    RunId,
    views::{
        diff_sheet::{DiffQuery, DiffSheet},
        sheet::Excerpt,
        state_view::BranchPage,
    },
};

door!(Read: Needs(Read));
/// A page of what differs, from row `after` on; with `find`, only what holds this text.
#[server(endpoint = "diffs/read", input = Json, output = Json)]
pub async fn read(
    run: RunId,
    query: DiffQuery,
    after: i64,
    find: Option<String>,
) -> Result<DiffSheet, AppError> {
    super::authorise::<Read>()?;
    let store = super::store()?;
    Ok(store
        .diff_sheet(&run, &query, after, find.as_deref())
        .await?)
}

door!(OfStep: Needs(Read));
/// The change that the step `seq` made, or the last one before it.
#[server(endpoint = "diffs/of_step", input = Json, output = Json)]
pub async fn of_step(run: RunId, seq: i64) -> Result<DiffSheet, AppError> {
    super::authorise::<OfStep>()?;
    Ok(super::store()?.diff_of_step(&run, seq).await?)
}

door!(Raw: Needs(Read));
/// The changes as the API gives them.
#[server(endpoint = "diffs/raw", input = Json, output = Json)]
pub async fn raw(run: RunId, query: DiffQuery) -> Result<Excerpt, AppError> {
    super::authorise::<Raw>()?;
    let answer = super::store()?.compare(&run, &query).await?.answer();
    let text = serde_json::to_string_pretty(&answer).unwrap_or_default();
    Ok(Excerpt::cut(&text))
}

door!(Unchanged: Needs(Read));
/// What is the same below a place in both states.
#[server(endpoint = "diffs/unchanged", input = Json, output = Json)]
pub async fn unchanged(
    run: RunId,
    query: DiffQuery,
    path: String,
    old_path: String,
    after: i64,
) -> Result<BranchPage, AppError> {
    super::authorise::<Unchanged>()?;
    let store = super::store()?;
    Ok(store
        .unchanged(&run, &query, &path, &old_path, after)
        .await?)
}
