//! People and tokens: who may come in. Changes arrive here from WASM, and as plain forms from browsers without it.

use leptos::prelude::*;

use super::{AppError, json::Json};
use crate::domain::nouns::access::{AccessSheet, Change, Changed, Integrity};

door!(ReadAccess: Needs(Read));
/// Who may come in, as far as the reader may know it.
#[server(ReadAccess, endpoint = "access/sheet", input = Json, output = Json)]
pub async fn sheet() -> Result<AccessSheet, AppError> {
    use crate::{
        domain::{Action, nouns::access::Managed},
        store::Error,
    };
    let me = super::authorise::<ReadAccess>()?;
    let store = super::store()?;
    let managed = match me.role.may(Action::Administer) {
        true => Some(Managed {
            users: store.users().await.map_err(Error::problem)?,
            tokens: store.tokens().await.map_err(Error::problem)?,
        }),
        false => None,
    };
    let admins = store.admins().await.map_err(Error::problem)?;
    Ok(AccessSheet {
        me,
        admins,
        managed,
    })
}

door!(ChangeAccess: Needs(Administer));
#[server(ChangeAccess, endpoint = "access/change", input = Json, output = Json)]
pub async fn change(change: Change) -> Result<Changed, AppError> {
    let me = super::authorise::<ChangeAccess>()?;
    let reached = use_context::<Reached>().unwrap_or_default();
    let headers = use_context::<http::request::Parts>().map(|parts| parts.headers);
    let origin = origin(reached, headers);
    Ok(apply(&super::store()?, &me, &origin, change)
        .await
        .map_err(crate::store::Error::problem)?)
}

door!(ReadOutcome: Needs(Read));
/// What a form that was posted without WASM gave.
#[server(ReadOutcome, endpoint = "access/outcome", input = Json, output = Json)]
pub async fn outcome() -> Result<Option<Outcome>, AppError> {
    Ok(use_context::<Outcome>())
}

/// A change that was asked for, and its answer.
pub type Outcome = (Change, Result<Changed, AppError>);

door!(ReadIntegrity: Needs(Read));
#[server(ReadIntegrity, endpoint = "access/integrity", input = Json, output = Json)]
pub async fn integrity() -> Result<Integrity, AppError> {
    super::authorise::<ReadIntegrity>()?;
    Ok(super::store()?.integrity().await?)
}

/// Makes a change that was authorised.
#[cfg(feature = "ssr")]
pub async fn apply(
    store: &crate::store::Store,
    by: &crate::domain::Principal,
    origin: &str,
    change: Change,
) -> Result<Changed, crate::store::Error> {
    use crate::{domain::nouns::audit::AuditKind, store::audit};
    let mut detail = serde_json::json!(change);
    let action = detail["change"].as_str().unwrap_or_default().to_owned();
    tracing::info!(by = by.name, action, "access changes");
    if let Change::RevokeToken { id } = &change {
        // The trail says which one it was in words, also when nobody lists it any more.
        let known = store.live_tokens(id).await?;
        if let Some(token) = known.into_iter().find(|it| it.id == *id) {
            detail["name"] = serde_json::json!(token.name);
            detail["role"] = serde_json::json!(token.role);
        }
    }
    let changed = carry_out(store, by, origin, change).await;
    let kind = match &changed {
        // Which of the tokens of this name it is.
        Ok(Changed::Secret { id, .. }) => {
            detail["id"] = serde_json::json!(id);
            AuditKind::Access
        }
        Ok(_) => AuditKind::Access,
        Err(crate::store::Error::Refused(problem)) => {
            detail["refused"] = serde_json::json!(problem.detail);
            AuditKind::Refused
        }
        Err(_) => return changed,
    };
    let entry = audit::by(by, kind, &action, detail);
    match kind {
        AuditKind::Refused => store.noted_or_counted("access", entry).await,
        _ => store.noted(entry).await,
    }
    changed
}

#[cfg(feature = "ssr")]
async fn carry_out(
    store: &crate::store::Store,
    by: &crate::domain::Principal,
    origin: &str,
    change: Change,
) -> Result<Changed, crate::store::Error> {
    use crate::domain::Problem;
    let link = |name: String, secret: String| Changed::Link {
        name,
        url: format!("{origin}/signin?token={secret}"),
    };
    Ok(match change {
        Change::AddUser { name, role } => {
            let secret = store.add_user(&name, role).await?;
            link(name, secret)
        }
        Change::NewLink { name } => {
            let secret = store.new_link(&name).await?;
            link(name, secret)
        }
        Change::DisableUser { name } => match store.disable_user(&name, Some(&by.name)).await? {
            true => Changed::Disabled { name },
            false => return Err(Problem::not_found("person, or they are disabled").into()),
        },
        Change::CreateToken {
            name,
            role,
            expires,
        } => {
            // A token that a token made ends with the same person.
            let owner = by.person();
            let (id, secret) = store.create_token(&name, role, owner, expires).await?;
            Changed::Secret { id, name, secret }
        }
        Change::RevokeToken { id } => match store.revoke_token_id(&id).await? {
            true => Changed::Revoked,
            false => return Err(Problem::not_found("token, or it is revoked").into()),
        },
    })
}

/// How people reach this server, as far as its settings tell.
#[cfg(feature = "ssr")]
#[derive(Debug, Clone, Default)]
pub struct Reached {
    pub public_url: Option<String>,
    /// TLS is in front.
    pub tls: bool,
}

/// What links begin with: the public URL, else where the browser that asks reached this server.
#[cfg(feature = "ssr")]
pub fn origin(reached: Reached, headers: Option<http::HeaderMap>) -> String {
    if let Some(url) = reached.public_url {
        return url;
    }
    let headers = headers.unwrap_or_default();
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let scheme = if reached.tls { "https" } else { "http" };
    match (text("origin"), text("host")) {
        (Some(origin), _) if origin.contains("://") => origin.to_owned(),
        (_, Some(host)) => format!("{scheme}://{host}"),
        _ => String::new(),
    }
}
