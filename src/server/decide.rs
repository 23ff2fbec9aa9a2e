//! Decisions as plain forms, for browsers without WASM: the resume plan and the edit page. What is refused is answered
//! with a page that says why; nothing was changed then.

use axum::{
    Extension, Form,
    extract::{Path, State},
    response::{IntoResponse, Redirect, Response},
};

use super::{App, problem::Refusal};
use crate::domain::{
    Code, Problem, RunId,
    nouns::access::Principal,
    rules::plan::PlanQuery,
    views::{edit::EditSheet, pick},
    wire::protocol::{Check as _, Decide},
};

/// Names and values, in the order of the form.
type Fields = Vec<(String, String)>;

fn field<'a>(fields: &'a Fields, name: &str) -> &'a str {
    let found = fields.iter().find(|(it, _)| it == name);
    found.map_or("", |(_, value)| value.as_str())
}

fn number(fields: &Fields, name: &str) -> Result<i64, Problem> {
    field(fields, name)
        .parse()
        .map_err(|_| Problem::invalid(name, "must be a number"))
}

fn signed_in(who: Option<Principal>) -> Result<Principal, Problem> {
    who.ok_or_else(|| Problem::new(Code::Unauthorized, "sign in first"))
}

async fn decided(
    app: &App,
    run: RunId,
    who: Principal,
    order: Decide,
) -> Result<Response, Refusal> {
    if order
        .reason
        .as_deref()
        .is_none_or(|it| it.trim().is_empty())
    {
        return Err(Problem::invalid("reason", "say why: it is kept with the decision").into());
    }
    order.check()?;
    let home = format!("/runs/{run}");
    app.store.decide(run, who, order).await?;
    Ok(Redirect::to(&home).into_response())
}

/// Carries out the plan that was shown.
pub async fn resume(
    State(app): State<App>,
    Path(run): Path<RunId>,
    Extension(who): Extension<Option<Principal>>,
    Form(fields): Form<Fields>,
) -> Result<Response, Refusal> {
    let who = signed_in(who)?;
    let shown = app.store.plan(&run, &PlanQuery::default()).await?;
    let picks = pick::posted(
        fields
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str())),
    );
    let order = pick::order(&shown, &picks, field(&fields, "reason").trim())
        .map_err(|why| Problem::invalid("plan", why))?;
    let hash = serde_json::from_value(field(&fields, "plan").into())
        .map_err(|_| Problem::invalid("plan", "is not the hash of a plan"))?;
    let order = Decide {
        if_version: Some(number(&fields, "version")?),
        plan: Some(hash),
        ..order
    };
    decided(&app, run, who, order).await
}

/// Saves an edited state.
pub async fn edit(
    State(app): State<App>,
    Path(run): Path<RunId>,
    Extension(who): Extension<Option<Principal>>,
    Form(fields): Form<Fields>,
) -> Result<Response, Refusal> {
    let who = signed_in(who)?;
    let mut current = app.store.run(&run).await?.run;
    current.version = number(&fields, "version")?;
    let sheet = EditSheet {
        run: current,
        text: String::new(),
        path: field(&fields, "path").to_owned(),
        schema: false,
        next: 0,
    };
    let order = sheet
        .order(field(&fields, "state"), field(&fields, "reason"))
        .map_err(|wrong| {
            Problem::invalid("state", format!("line {}: {}", wrong.line, wrong.what))
        })?;
    decided(&app, run, who, order).await
}
