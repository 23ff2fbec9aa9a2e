//! Opening a run: create or find it, take its lease, restore its state.

use std::time::{Duration, Instant};

use super::{error::Error, http::Client, session::Session, state::State};
use crate::domain::{
    Code, Problem, RunId, Time,
    wire::protocol::{CreateRun, LeaseAnswer, LeaseRun},
};

/// How often a held lease is looked at while its holder may be dead.
const LOOK: Duration = Duration::from_millis(500);

impl From<&str> for LeaseRun {
    /// A lease for the worker of this name, with everything else left to its default.
    fn from(worker: &str) -> Self {
        Self::from(worker.to_owned())
    }
}

impl From<String> for LeaseRun {
    fn from(worker: String) -> Self {
        Self {
            worker,
            ttl_ms: 30_000,
            version: None,
            model: None,
            state_schema: None,
            takeover: false,
            reopen: false,
        }
    }
}

impl Client {
    /// Creates the run or finds it by its id, and takes its lease as the worker of this name.
    ///
    /// A run that another worker holds is waited for until that lease should end; if it was renewed
    /// meanwhile, its worker is alive, and the refusal (`lease_held`) is returned.
    pub async fn open<S: State>(
        &self,
        create: CreateRun,
        lease: impl Into<LeaseRun>,
    ) -> Result<Session<S>, Error> {
        let mut lease = lease.into();
        lease.version = lease.version.or_else(|| create.version.clone());
        lease.model = lease.model.or_else(|| create.model.clone());
        let run = self.create(&create).await?.run;
        let (answer, asked) = self.lease_when_free(&run.id, &lease).await?;
        let ttl = Duration::from_millis(lease.ttl_ms.max(0) as u64);
        Session::start(self, answer, asked, ttl).await
    }

    /// The lease, and when the request that got it was sent.
    async fn lease_when_free(
        &self,
        id: &RunId,
        lease: &LeaseRun,
    ) -> Result<(LeaseAnswer, Instant), Error> {
        let mut held_until = None;
        loop {
            let asked = Instant::now();
            let problem = match self.lease(id, lease).await {
                Ok(answer) => return Ok((answer, asked)),
                Err(Error::Refused(problem)) if problem.code == Code::LeaseHeld => problem,
                Err(error) => return Err(error),
            };
            let Some(until) = expires_at(&problem) else {
                return Err(problem.into());
            };
            if until > *held_until.get_or_insert(until) {
                return Err(problem.into());
            }
            tracing::info!(run = %id, %until, "held by another worker; waiting for its lease to end");
            tokio::time::sleep(LOOK).await;
        }
    }
}

fn expires_at(problem: &Problem) -> Option<Time> {
    serde_json::from_value(problem.fields.get("expires_at")?.clone()).ok()
}
