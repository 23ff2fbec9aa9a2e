//! Where the stream of events stands.

use leptos::prelude::*;
use server_fn::codec::Json;

use super::AppError;

/// The id of the newest event.
#[server(endpoint = "events/head", input = Json)]
pub async fn head() -> Result<i64, AppError> {
    super::authorise(crate::domain::Action::Read)?;
    Ok(super::store()?.head().await?)
}
