//! Who is signed in.

use leptos::prelude::*;

use super::{AppError, json::Json};
use crate::domain::{Principal, Trouble};

#[server(endpoint = "session/me", input = Json, output = Json)]
pub async fn me() -> Result<Principal, AppError> {
    super::authorise(crate::domain::Action::Read)
}

/// What keeps the store from writing now.
#[server(ReadTrouble, endpoint = "session/trouble", input = Json, output = Json)]
pub async fn trouble() -> Result<Option<Trouble>, AppError> {
    super::authorise(crate::domain::Action::Read)?;
    Ok(super::store()?.trouble())
}

/// Whose one-time link this is, if it still opens. Whoever holds the link may know.
#[server(endpoint = "session/link_owner", input = Json, output = Json)]
pub async fn link_owner(token: String) -> Result<Option<Principal>, AppError> {
    let owner = super::store()?.link_owner(&token).await;
    Ok(owner.map_err(crate::store::Error::problem)?)
}
