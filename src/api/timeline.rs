//! A run's timeline, as fine as the page can draw it.

use leptos::prelude::*;

use super::{AppError, json::Json};
use crate::domain::{
    RunId,
    views::timeline::{Timeline, TimelineQuery},
};

door!(Read: Needs(Read));
#[server(endpoint = "timeline/read", input = Json, output = Json)]
pub async fn read(run: RunId, query: TimelineQuery) -> Result<Timeline, AppError> {
    use crate::domain::wire::protocol::Check as _;
    super::authorise::<Read>()?;
    query.check()?;
    Ok(super::store()?.timeline(&run, &query).await?)
}
