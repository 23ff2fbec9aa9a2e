//! A run's timeline, as fine as the page can draw it.

use leptos::prelude::*;
use server_fn::codec::Json;

use super::AppError;
use crate::domain::{
    RunId,
    timeline::{Timeline, TimelineQuery},
};

#[server(endpoint = "timeline/read", input = Json)]
pub async fn read(run: RunId, query: TimelineQuery) -> Result<Timeline, AppError> {
    use crate::domain::protocol::Check as _;
    super::authorise(crate::domain::Action::Read)?;
    query.check()?;
    Ok(super::store()?.timeline(&run, &query).await?)
}
