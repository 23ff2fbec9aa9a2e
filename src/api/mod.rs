//! Server functions, one file per noun: authorise, call the store, return a domain type.
//!
//! Each declares beside its definition what it asks of its caller, by `door!`. The server does not start with one that does
//! not.

/// Declares what the server function of this name asks of its caller: `Open`, or `Needs` with an action.
macro_rules! door {
    ($function:ident: $door:ident $(($action:ident))?) => {
        #[cfg(feature = "ssr")]
        impl $crate::api::doors::Declared for $function {
            const DOOR: $crate::domain::nouns::access::Door =
                $crate::domain::nouns::access::Door::$door $(($crate::domain::Action::$action))?;
        }
        #[cfg(feature = "ssr")]
        server_fn::inventory::submit! {
            $crate::api::doors::FunctionDoor::of::<$function>()
        }
    };
}

pub mod access;
pub mod audit;
pub mod decisions;
pub mod diffs;
#[cfg(feature = "ssr")]
pub mod doors;
pub mod error;
pub mod groups;
pub mod integrity;
pub mod json;
pub mod plan;
pub mod runs;
pub mod session;
pub mod snapshots;
pub mod steps;
pub mod timeline;
pub mod workers;

pub use error::AppError;

#[cfg(feature = "ssr")]
use crate::{
    domain::{
        AsOf, Code, Principal, Problem,
        nouns::access::{Action, Door},
    },
    store::Store,
};

/// Who asks, if this function's declaration lets them. A call over HTTP was asked before; a page calls in process.
#[cfg(feature = "ssr")]
pub fn authorise<F: doors::Declared>() -> Result<Principal, AppError> {
    let action = match F::DOOR {
        Door::Needs(action) | Door::Page(action) => action,
        Door::Open => Action::Read,
    };
    let asking = leptos::prelude::use_context::<Option<Principal>>().flatten();
    let principal = asking.ok_or_else(|| Problem::new(Code::Unauthorized, "sign in first"))?;
    match principal.role.may(action) {
        true => Ok(principal),
        false => {
            kept(&principal, action);
            Err(Problem::new(
                Code::Forbidden,
                format!("the role {} may not do this: ask an admin", principal.role),
            )
            .into())
        }
    }
}

/// An attempt that the role does not allow goes to the audit trail; the answer does not wait for it.
#[cfg(feature = "ssr")]
fn kept(principal: &Principal, action: Action) {
    use crate::{domain::nouns::audit::AuditKind, store::audit};
    let Ok(store) = store() else {
        return;
    };
    let parts = leptos::prelude::use_context::<http::request::Parts>();
    let path = parts.map_or(String::new(), |parts| parts.uri.path().to_owned());
    let wanted = format!("{action:?}").to_lowercase();
    let detail = serde_json::json!({"action": wanted, "path": path});
    let entry = audit::by(principal, AuditKind::Refused, "forbidden", detail);
    // A page asks by its own path, which names a run: what is wanted tells refusals apart well enough there.
    let about = match path.starts_with("/api/") {
        true => path,
        false => wanted,
    };
    tokio::spawn(async move { store.noted_or_counted(&about, entry).await });
}

#[cfg(feature = "ssr")]
fn store() -> Result<Store, AppError> {
    leptos::prelude::use_context::<Store>().ok_or_else(|| {
        Problem::new(
            Code::Internal,
            "the store is not at hand: see the server's log",
        )
        .into()
    })
}

/// Reads with the newest event that the answer surely contains: the event is read first.
#[cfg(feature = "ssr")]
async fn as_of<T>(
    store: &Store,
    read: impl Future<Output = Result<T, Problem>>,
) -> Result<AsOf<T>, AppError> {
    let event = store.head().await?;
    let value = read.await?;
    Ok(AsOf { event, value })
}
