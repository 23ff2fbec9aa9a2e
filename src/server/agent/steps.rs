//! Steps: begin, commit, fail, progress, read.

use axum::{
    Extension, Json,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use serde::Deserialize;
use std::time::Duration;
use tokio::{sync::broadcast::error::RecvError, time::Instant};
use utoipa::IntoParams;

use super::{advance, caller, once};
use crate::{
    domain::{
        Problem,
        nouns::{access::Principal, ordered_json::OrderedJson},
        wire::protocol::{
            BeginAnswer, BeginStep, Check, CommitAnswer, CommitStep, FailAnswer, FailStep,
            NextStep, Progress, StepAnswer, StepPage,
            limits::{PAGE, WAIT_MS, range},
        },
    },
    server::{
        App,
        auth::{Standing, unauthorized},
        body::{NumberPath, Query, RunPath, Strict},
        live::News,
        problem::Refusal,
    },
    store::commands::{Begin, Commit, Fail, RecordProgress},
};

impl Check for BeginStep {
    fn check(&self) -> Result<(), Problem> {
        self.clone().split().1.check()
    }
}

/// A gate whose schema cannot be used could never be answered.
async fn gate_is_usable(app: &App, path: &str, step: &NextStep) -> Result<(), Problem> {
    let gate = step.gate.as_ref();
    let schema = gate.and_then(|gate| gate.schema.as_ref());
    app.store
        .schema_is_usable(path, schema.map(OrderedJson::value))
        .await
}

/// Begins a step, or tells what is known of it.
#[utoipa::path(post, path = "/v1/runs/{id}/steps", tag = "steps", params(("id" = String, Path)),
    request_body = BeginStep, responses(
    (status = 200, body = BeginAnswer), (status = 409, description = "lease_lost, key_conflict", body = Problem),
))]
pub async fn begin(
    State(app): State<App>,
    RunPath(run): RunPath,
    Strict { body, .. }: Strict<BeginStep>,
) -> Result<Json<BeginAnswer>, Refusal> {
    let (epoch, step) = body.split();
    gate_is_usable(&app, "gate/schema", &step).await?;
    let (lease, what) = ((run.clone(), epoch), format!("begin of {}", step.name));
    let begin = Begin::new(run, epoch, step);
    Ok(Json(advance(&app, lease, what, begin).await?))
}

/// Commits a step's result and the new state.
#[utoipa::path(post, path = "/v1/runs/{id}/steps/{seq}/commit", tag = "steps",
    params(("id" = String, Path), ("seq" = i64, Path)), request_body = CommitStep, responses(
    (status = 200, body = CommitAnswer),
    (status = 409, description = "lease_lost, commit_conflict, state_conflict, tag_conflict, attempt_over", body = Problem),
    (status = 422, description = "patch_failed", body = Problem),
))]
pub async fn commit(
    State(app): State<App>,
    NumberPath(run, seq): NumberPath,
    Strict { body, .. }: Strict<CommitStep>,
) -> Result<Json<CommitAnswer>, Refusal> {
    if let Some(next) = &body.next {
        gate_is_usable(&app, "next/gate/schema", next).await?;
    }
    let (lease, what) = ((run.clone(), body.epoch), format!("commit of step {seq}"));
    let commit = Commit::new(run, seq, body);
    Ok(Json(advance(&app, lease, what, commit).await?))
}

/// The attempt failed.
#[utoipa::path(post, path = "/v1/runs/{id}/steps/{seq}/fail", tag = "steps",
    params(("id" = String, Path), ("seq" = i64, Path)), request_body = FailStep, responses(
    (status = 200, body = FailAnswer), (status = 409, description = "lease_lost, attempt_over", body = Problem),
    (status = 422, description = "patch_failed", body = Problem),
))]
pub async fn fail(
    State(app): State<App>,
    NumberPath(run, seq): NumberPath,
    Strict { body, .. }: Strict<FailStep>,
) -> Result<Json<FailAnswer>, Refusal> {
    let (lease, what) = ((run.clone(), body.epoch), format!("failure of step {seq}"));
    let fail = Fail::new(run, seq, body);
    Ok(Json(advance(&app, lease, what, fail).await?))
}

/// How far the attempt got.
#[utoipa::path(post, path = "/v1/runs/{id}/steps/{seq}/progress", tag = "steps",
    params(("id" = String, Path), ("seq" = i64, Path)), request_body = Progress, responses(
    (status = 204), (status = 409, description = "lease_lost, attempt_over", body = Problem),
))]
pub async fn progress(
    State(app): State<App>,
    Extension(who): Extension<Option<Principal>>,
    NumberPath(run, seq): NumberPath,
    headers: HeaderMap,
    Strict { body, hash }: Strict<Progress>,
) -> Result<StatusCode, Refusal> {
    let scope = format!("progress {run} {seq}");
    let (lease, what) = ((run.clone(), body.epoch), format!("progress of step {seq}"));
    let command = once(
        RecordProgress::new(run, seq, body),
        &caller(who)?,
        &headers,
        scope,
        hash,
    )?;
    advance(&app, lease, what, command).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct StepQuery {
    /// The `next` of the page before.
    #[serde(default)]
    after: i64,
    #[serde(default = "hundred")]
    limit: i64,
}

fn hundred() -> i64 {
    100
}

/// A run's steps in order.
#[utoipa::path(get, path = "/v1/runs/{id}/steps", tag = "steps",
    params(("id" = String, Path), StepQuery), responses(
    (status = 200, body = StepPage),
))]
pub async fn list(
    State(app): State<App>,
    RunPath(run): RunPath,
    Query(query): Query<StepQuery>,
) -> Result<Json<StepPage>, Refusal> {
    range("after", query.after, (0, i64::MAX))?;
    range("limit", query.limit, PAGE)?;
    Ok(Json(app.store.steps(&run, query.after, query.limit).await?))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct WaitQuery {
    /// Waits this long for the step to settle: 0…60000.
    #[serde(default)]
    wait_ms: i64,
}

/// One step with its attempts and log.
#[utoipa::path(get, path = "/v1/runs/{id}/steps/{seq}", tag = "steps",
    params(("id" = String, Path), ("seq" = i64, Path), WaitQuery), responses(
    (status = 200, body = StepAnswer),
))]
pub async fn read(
    State(app): State<App>,
    Extension(standing): Extension<Standing>,
    Extension(who): Extension<Option<Principal>>,
    NumberPath(run, seq): NumberPath,
    Query(query): Query<WaitQuery>,
) -> Result<Json<StepAnswer>, Refusal> {
    range("wait_ms", query.wait_ms, WAIT_MS)?;
    let until = Instant::now() + Duration::from_millis(query.wait_ms.unsigned_abs());
    let mut news = app.live.listen();
    let mut revoked = std::pin::pin!(standing.ended());
    let mut seat = None;
    loop {
        let step = app.store.step(&run, seq).await?;
        if !step.step.status.is_awaited() || Instant::now() >= until {
            return Ok(Json(StepAnswer { step }));
        }
        if seat.is_none() {
            seat = Some(app.rooms.waits.seat(who.as_ref())?);
        }
        let changed = async {
            loop {
                match news.recv().await {
                    Ok(News::Event(event)) if event.run == run => return,
                    Err(RecvError::Lagged(_) | RecvError::Closed) => return,
                    Ok(_) => {}
                }
            }
        };
        tokio::select! {
            () = changed => {}
            () = &mut revoked => return Err(unauthorized(true).into()),
            () = tokio::time::sleep_until(until) => {}
            () = app.stop.cancelled() => return Ok(Json(StepAnswer { step })),
        }
    }
}
