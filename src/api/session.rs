//! Who is signed in.

use leptos::prelude::*;

use super::{AppError, json::Json};
use crate::domain::{Principal, Trouble, nouns::access::Session};

door!(Me: Needs(Read));
#[server(endpoint = "session/me", input = Json, output = Json)]
pub async fn me() -> Result<Principal, AppError> {
    super::authorise::<Me>()
}

door!(Mine: Needs(Read));
/// Where the person who asks is signed in; nothing for a token.
#[server(endpoint = "session/mine", input = Json, output = Json)]
pub async fn mine() -> Result<Vec<Session>, AppError> {
    use crate::{domain::nouns::access::Caller, store::access::Credential};
    let me = super::authorise::<Mine>()?;
    if me.kind == Caller::Token {
        return Ok(Vec::new());
    }
    let parts = use_context::<http::request::Parts>();
    let current = parts.and_then(|parts| parts.extensions.get::<Credential>().copied());
    let sessions = super::store()?.sessions(&me.name, current).await;
    Ok(sessions.map_err(crate::store::Error::problem)?)
}

door!(ReadTrouble: Needs(Read));
/// What keeps the store from writing now.
#[server(ReadTrouble, endpoint = "session/trouble", input = Json, output = Json)]
pub async fn trouble() -> Result<Option<Trouble>, AppError> {
    super::authorise::<ReadTrouble>()?;
    Ok(super::store()?.trouble())
}

// By HTTP. The sign-in page is open to everybody and asks in process, for whoever holds the link.
door!(LinkOwner: Needs(Read));
/// Whose one-time link this is, if it still opens. Whoever holds the link may know.
#[server(endpoint = "session/link_owner", input = Json, output = Json)]
pub async fn link_owner(token: String) -> Result<Option<Principal>, AppError> {
    let owner = super::store()?.link_owner(&token).await;
    Ok(owner.map_err(crate::store::Error::problem)?)
}
