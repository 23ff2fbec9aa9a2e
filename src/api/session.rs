//! Who is signed in.

use leptos::prelude::*;

use super::{AppError, json::Json};
use crate::domain::{Principal, Trouble, nouns::access::Session};

#[server(endpoint = "session/me", input = Json, output = Json)]
pub async fn me() -> Result<Principal, AppError> {
    super::authorise(crate::domain::Action::Read)
}

/// Where the person who asks is signed in; nothing for a token.
#[server(endpoint = "session/mine", input = Json, output = Json)]
pub async fn mine() -> Result<Vec<Session>, AppError> {
    use crate::{domain::nouns::access::Caller, store::access::Credential};
    let me = super::authorise(crate::domain::Action::Read)?;
    if me.kind == Caller::Token {
        return Ok(Vec::new());
    }
    let parts = use_context::<http::request::Parts>();
    let current = parts.and_then(|parts| parts.extensions.get::<Credential>().copied());
    let sessions = super::store()?.sessions(&me.name, current).await;
    Ok(sessions.map_err(crate::store::Error::problem)?)
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
