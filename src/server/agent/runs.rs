//! Runs: create, lease, heartbeat, finish, release, read.

use axum::{
    Extension, Json,
    extract::State,
    http::{HeaderMap, StatusCode},
};

use super::{advance, caller, once};
use crate::{
    domain::{
        Problem, RunQuery,
        nouns::access::Principal,
        wire::protocol::{
            Check, CreateRun, FinishRun, Heartbeat, HeartbeatAnswer, LeaseAnswer, LeaseRun,
            ReleaseRun, RunAnswer, RunPage,
        },
    },
    server::{
        App,
        body::{Query, RunPath, Strict},
        problem::Refusal,
    },
    store::commands::{Beat, Create, Created, Finish, Granted, Lease, Release},
};

/// Creates a run, or finds the one of this id.
#[utoipa::path(post, path = "/v1/runs", tag = "runs", request_body = CreateRun, responses(
    (status = 201, body = RunAnswer), (status = 200, description = "It exists.", body = RunAnswer),
    (status = 409, description = "run_conflict", body = Problem),
))]
pub async fn create(
    State(app): State<App>,
    Extension(who): Extension<Option<Principal>>,
    headers: HeaderMap,
    Strict { body, hash }: Strict<CreateRun>,
) -> Result<(StatusCode, Json<RunAnswer>), Refusal> {
    let schema = body.state_schema.clone();
    app.store.schema_is_usable("state_schema", schema).await?;
    let named = body.id.is_some();
    let id = match &body.id {
        Some(id) => id.clone(),
        None => uuid::Uuid::now_v7()
            .to_string()
            .try_into()
            .map_err(|why| Problem::invalid("id", why))?,
    };
    let command = Create::new(id, body);
    let once = once(command, &caller(who)?, &headers, "create".into(), hash)?;
    let Created { run, new } = match named {
        // Its id tells a repeat already.
        true => app.store.write(once.command).await?,
        false => app.store.write(once).await?,
    };
    let status = if new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    let run = run.into();
    Ok((status, Json(RunAnswer { run })))
}

/// Runs, newest first.
#[utoipa::path(get, path = "/v1/runs", tag = "runs", params(RunQuery), responses(
    (status = 200, body = RunPage),
))]
pub async fn list(
    State(app): State<App>,
    Extension(who): Extension<Option<Principal>>,
    Query(query): Query<RunQuery>,
) -> Result<Json<RunPage>, Refusal> {
    query.check()?;
    let query = query.asked_by(&caller(who)?.name);
    Ok(Json(app.store.runs(&query).await?))
}

/// One run.
#[utoipa::path(get, path = "/v1/runs/{id}", tag = "runs", params(("id" = String, Path)), responses(
    (status = 200, body = RunAnswer),
))]
pub async fn read(
    State(app): State<App>,
    RunPath(id): RunPath,
) -> Result<Json<RunAnswer>, Refusal> {
    let run = app.store.run(&id).await?;
    Ok(Json(RunAnswer { run }))
}

/// Takes the right to advance a run.
#[utoipa::path(post, path = "/v1/runs/{id}/lease", tag = "runs", params(("id" = String, Path)),
    request_body = LeaseRun, responses(
    (status = 200, body = LeaseAnswer),
    (status = 409, description = "lease_held, run_not_runnable", body = Problem),
))]
pub async fn lease(
    State(app): State<App>,
    Extension(who): Extension<Option<Principal>>,
    RunPath(run): RunPath,
    headers: HeaderMap,
    Strict { body, hash }: Strict<LeaseRun>,
) -> Result<Json<Granted>, Refusal> {
    let schema = body.state_schema.clone();
    app.store.schema_is_usable("state_schema", schema).await?;
    let scope = format!("lease {run}");
    let asked = body.clone();
    let command = once(Lease::new(run, body), &caller(who)?, &headers, scope, hash)?;
    let lease = app.store.write(command).await?;
    app.workers.given(&asked, &lease);
    Ok(Json(lease))
}

/// Keeps a lease alive.
#[utoipa::path(post, path = "/v1/runs/{id}/heartbeat", tag = "runs", params(("id" = String, Path)),
    request_body = Heartbeat, responses(
    (status = 200, body = HeartbeatAnswer), (status = 409, description = "lease_lost", body = Problem),
))]
pub async fn heartbeat(
    State(app): State<App>,
    RunPath(run): RunPath,
    Strict { body, .. }: Strict<Heartbeat>,
) -> Result<Json<HeartbeatAnswer>, Refusal> {
    let lease = (run.clone(), body.epoch);
    let beat = Beat { run, body };
    Ok(Json(advance(&app, lease, "heartbeat".into(), beat).await?))
}

/// The run is over.
#[utoipa::path(post, path = "/v1/runs/{id}/finish", tag = "runs", params(("id" = String, Path)),
    request_body = FinishRun, responses(
    (status = 200, body = RunAnswer), (status = 409, description = "lease_lost, step_in_flight", body = Problem),
))]
pub async fn finish(
    State(app): State<App>,
    RunPath(run): RunPath,
    Strict { body, .. }: Strict<FinishRun>,
) -> Result<Json<RunAnswer>, Refusal> {
    let lease = (run.clone(), body.epoch);
    let finish = Finish::new(run, body);
    let run = advance(&app, lease, "finish".into(), finish).await?.into();
    Ok(Json(RunAnswer { run }))
}

/// Gives the run back, at once or after a durable sleep.
#[utoipa::path(post, path = "/v1/runs/{id}/release", tag = "runs", params(("id" = String, Path)),
    request_body = ReleaseRun, responses(
    (status = 200, body = RunAnswer), (status = 409, description = "lease_lost", body = Problem),
))]
pub async fn release(
    State(app): State<App>,
    RunPath(run): RunPath,
    Strict { body, .. }: Strict<ReleaseRun>,
) -> Result<Json<RunAnswer>, Refusal> {
    let lease = (run.clone(), body.epoch);
    let release = Release { run, body };
    let run = advance(&app, lease, "release".into(), release)
        .await?
        .into();
    Ok(Json(RunAnswer { run }))
}
