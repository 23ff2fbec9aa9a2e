//! What a tab of the inspector shows beside the step itself, read when it is opened.

use crate::{
    api::{self, AppError},
    components::inspector::{Extra, Tab},
    domain::RunId,
};

pub async fn read(run: RunId, seq: Option<i64>, tab: Tab) -> Result<Extra, AppError> {
    let Some(seq) = seq else {
        return Ok(Extra::Nothing);
    };
    Ok(match tab {
        Tab::Events => Extra::Events(api::steps::events(run, seq).await?),
        Tab::Diff => Extra::Diff(Box::new(api::diffs::of_step(run, seq).await?)),
        Tab::State => Extra::State(Box::new(api::snapshots::after_step(run, seq).await?)),
        Tab::Call | Tab::Attempts | Tab::Log => Extra::Nothing,
    })
}
