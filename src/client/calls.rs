//! The protocol `/v1`, one method per call: for those who want the wire, and what a session is made of.

use super::{
    error::Error,
    http::{Client, Request},
};
use crate::domain::{
    Code, Problem, RunDetail, RunId, RunQuery, StepDetail,
    rules::plan::Plan,
    wire::protocol::{
        BeginAnswer, BeginStep, ClaimRun, CommitAnswer, CommitStep, CreateRun, Decide,
        DecideAnswer, FailAnswer, FailStep, FinishRun, Heartbeat, HeartbeatAnswer, LeaseAnswer,
        LeaseRun, Progress, ReleaseRun, RunAnswer, RunPage, SaveAnswer, SaveState, SnapshotAnswer,
        StepAnswer, StepPage, TagPage, TagQuery,
    },
};

type Answer<T> = Result<T, Error>;

impl Client {
    /// Creates a run, or finds the one that has this id already.
    pub async fn create(&self, run: &CreateRun) -> Answer<RunDetail> {
        let mut request = Request::post("v1/runs".into(), run)?;
        if run.id.is_none() {
            request = request.keyed();
        }
        self.one::<RunAnswer>(request)
            .await
            .map(|answer| answer.run)
    }

    pub async fn lease(&self, id: &RunId, lease: &LeaseRun) -> Answer<LeaseAnswer> {
        self.one(Request::post(format!("v1/runs/{id}/lease"), lease)?.keyed())
            .await
    }

    /// Takes the oldest runnable run, if there is one before `wait_ms` is over.
    pub async fn claim(&self, claim: &ClaimRun) -> Answer<Option<LeaseAnswer>> {
        let request = Request::post("v1/claims".into(), claim)?;
        self.ask(request.keyed().waiting(claim.wait_ms)).await
    }

    pub async fn heartbeat(&self, id: &RunId, beat: &Heartbeat) -> Answer<HeartbeatAnswer> {
        self.one(Request::post(format!("v1/runs/{id}/heartbeat"), beat)?)
            .await
    }

    pub async fn begin(&self, id: &RunId, step: &BeginStep) -> Answer<BeginAnswer> {
        self.one(Request::post(format!("v1/runs/{id}/steps"), step)?)
            .await
    }

    pub async fn commit(&self, id: &RunId, seq: i64, commit: &CommitStep) -> Answer<CommitAnswer> {
        let path = format!("v1/runs/{id}/steps/{seq}/commit");
        self.one(Request::post(path, commit)?).await
    }

    /// Saves a checkpoint between steps.
    pub async fn save(&self, id: &RunId, state: &SaveState) -> Answer<SaveAnswer> {
        let path = format!("v1/runs/{id}/snapshots");
        self.one(Request::post(path, state)?.keyed()).await
    }

    /// Tags of snapshots, newest first.
    pub async fn tags(&self, query: &TagQuery) -> Answer<TagPage> {
        let query = query_string([
            ("run", query.run.as_ref().map(ToString::to_string)),
            ("space", query.space.clone()),
            ("id", query.id.clone()),
            ("before", query.before.clone()),
            ("meta", query.meta.clone()),
            ("limit", Some(query.limit.to_string())),
            ("full", Some(query.full.to_string())),
        ])?;
        self.one(Request::get(format!("v1/tags?{query}"))).await
    }

    pub async fn fail(&self, id: &RunId, seq: i64, failure: &FailStep) -> Answer<FailAnswer> {
        let path = format!("v1/runs/{id}/steps/{seq}/fail");
        self.one(Request::post(path, failure)?).await
    }

    pub async fn progress(&self, id: &RunId, seq: i64, progress: &Progress) -> Answer<()> {
        let path = format!("v1/runs/{id}/steps/{seq}/progress");
        self.ask::<()>(Request::post(path, progress)?.keyed())
            .await
            .map(drop)
    }

    pub async fn finish(&self, id: &RunId, finish: &FinishRun) -> Answer<RunDetail> {
        let request = Request::post(format!("v1/runs/{id}/finish"), finish)?;
        self.one::<RunAnswer>(request)
            .await
            .map(|answer| answer.run)
    }

    pub async fn release(&self, id: &RunId, release: &ReleaseRun) -> Answer<RunDetail> {
        let request = Request::post(format!("v1/runs/{id}/release"), release)?;
        self.one::<RunAnswer>(request)
            .await
            .map(|answer| answer.run)
    }

    /// What an operator's token may do; pause and cancel are requests to a live worker.
    pub async fn decide(&self, id: &RunId, decision: &Decide) -> Answer<DecideAnswer> {
        self.one(Request::post(format!("v1/runs/{id}/decisions"), decision)?.keyed())
            .await
    }

    /// What will happen when a worker takes the run.
    pub async fn plan(&self, id: &RunId) -> Answer<Plan> {
        self.one(Request::get(format!("v1/runs/{id}/plan"))).await
    }

    pub async fn runs(&self, query: &RunQuery) -> Answer<RunPage> {
        let query = query_string([
            ("status", query.status.map(|s| s.to_string())),
            ("agent", query.agent.clone()),
            ("label", query.label.clone()),
            ("q", query.q.clone()),
            ("limit", Some(query.limit.to_string())),
            ("cursor", query.cursor.clone()),
        ])?;
        self.one(Request::get(format!("v1/runs?{query}"))).await
    }

    pub async fn run(&self, id: &RunId) -> Answer<RunDetail> {
        self.one::<RunAnswer>(Request::get(format!("v1/runs/{id}")))
            .await
            .map(|answer| answer.run)
    }

    /// A page of steps after `after`, in order.
    pub async fn steps(&self, id: &RunId, after: i64, limit: i64) -> Answer<StepPage> {
        let path = format!("v1/runs/{id}/steps?after={after}&limit={limit}");
        self.one(Request::get(path)).await
    }

    /// One step; with `wait_ms`, answered once it changes or the time is over.
    pub async fn step(&self, id: &RunId, seq: i64, wait_ms: i64) -> Answer<StepDetail> {
        let path = format!("v1/runs/{id}/steps/{seq}?wait_ms={wait_ms}");
        self.one::<StepAnswer>(Request::get(path).waiting(wait_ms))
            .await
            .map(|answer| answer.step)
    }

    pub async fn snapshot(&self, id: &RunId, n: i64) -> Answer<SnapshotAnswer> {
        self.one(Request::get(format!("v1/runs/{id}/snapshots/{n}")))
            .await
    }

    pub(super) async fn one<T: serde::de::DeserializeOwned>(&self, request: Request) -> Answer<T> {
        self.ask(request)
            .await?
            .ok_or_else(|| Problem::new(Code::Internal, "the server's answer has no body").into())
    }
}

/// What is given, as the part of a URL behind the `?`.
pub(super) fn query_string<const N: usize>(
    given: [(&str, Option<String>); N],
) -> Result<String, Error> {
    let mut url = reqwest::Url::parse("query:").map_err(|e| Error::Setup(e.to_string()))?;
    let given = given.into_iter().filter_map(|(k, v)| Some((k, v?)));
    url.query_pairs_mut().extend_pairs(given);
    Ok(url.query().unwrap_or_default().to_owned())
}
