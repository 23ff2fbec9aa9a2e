//! Changes of access as plain forms, for browsers without WASM: the page that answers shows what the change gave.

use axum::{
    Extension, Form,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, header},
    response::Response,
};
use serde::Deserialize;

use super::{App, pages, problem::Refusal};
use crate::{
    api::access::{Outcome, apply, origin},
    domain::{
        Problem, Role,
        nouns::access::{Change, Principal},
    },
};

#[derive(Deserialize)]
pub struct Fields {
    change: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    role: Option<Role>,
    #[serde(default)]
    id: String,
    /// Empty for a token without end.
    #[serde(default)]
    expires: String,
}

impl Fields {
    fn change(self) -> Result<Change, Problem> {
        let Self {
            change,
            name,
            role,
            id,
            expires,
        } = self;
        let role = role.ok_or_else(|| Problem::invalid("role", "is missing"));
        Ok(match change.as_str() {
            "add_user" => Change::AddUser { name, role: role? },
            "new_link" => Change::NewLink { name },
            "disable_user" => Change::DisableUser { name },
            "create_token" => Change::CreateToken {
                name,
                role: role?,
                expires: match expires.as_str() {
                    "" => None,
                    span => Some(
                        span.parse()
                            .map_err(|why: String| Problem::invalid("expires", why))?,
                    ),
                },
            },
            "revoke_token" => Change::RevokeToken { id },
            _ => return Err(Problem::invalid("change", "is none that this page makes")),
        })
    }
}

pub async fn change(
    State(app): State<App>,
    Extension(who): Extension<Option<Principal>>,
    headers: HeaderMap,
    Form(fields): Form<Fields>,
) -> Result<Response, Refusal> {
    let who =
        who.ok_or_else(|| Problem::new(crate::domain::Code::Unauthorized, "sign in first"))?;
    let change = fields.change()?;
    let origin = origin(app.reached(), Some(headers.clone()));
    let answer = apply(&app.store, &who, &origin, change.clone()).await;
    app.access.forget();
    let outcome: Outcome = (change, answer.map_err(|error| error.problem().into()));
    let mut page = Request::new(axum::body::Body::empty());
    *page.uri_mut() = http::Uri::from_static("/settings");
    *page.headers_mut() = headers;
    page.headers_mut().remove(header::CONTENT_LENGTH);
    page.headers_mut().remove(header::CONTENT_TYPE);
    page.extensions_mut().insert(Some(who));
    let mut response = pages::with_outcome(app, page, outcome).await;
    let secret = HeaderValue::from_static("no-store");
    response.headers_mut().insert(header::CACHE_CONTROL, secret);
    Ok(response)
}
