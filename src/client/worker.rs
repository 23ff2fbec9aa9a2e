//! A worker: claims runs of the agents it knows and carries them on, several at a time.

use serde::Serialize;
use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    sync::{Semaphore, watch},
    task::JoinSet,
};

use super::{error::Error, http::Client, session::Session, state::State};
use crate::domain::wire::protocol::{ClaimRun, LeaseAnswer};

/// How long one claim waits for a run to become runnable.
const CLAIM_WAIT_MS: i64 = 20_000;
/// How long to rest when the server cannot be asked for work.
const REST: Duration = Duration::from_secs(2);

/// Resolves when this process is asked to end.
type Leave = watch::Receiver<bool>;
type Carry = Arc<dyn Fn(Claimed) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// Claims runs and calls the agent's function for each.
///
/// ```no_run
/// # use step47::client::{Client, Error, Session, Worker};
/// async fn count(session: Session<u64>) -> Result<u64, Error> {
///     for n in 0..3 {
///         let step = session.step(format!("add:{n}"), "add");
///         step.run(|_| async { Ok(1) }, |sum, one| *sum += one).await?;
///     }
///     Ok(*session.state())
/// }
///
/// # async fn main_() -> Result<(), Error> {
/// let client = Client::new("http://127.0.0.1:3047", "the agent's token")?;
/// Worker::new(client, "w-1").agent("counter", "1.0.0", count).run().await;
/// # Ok(())
/// # }
/// ```
pub struct Worker {
    client: Client,
    name: String,
    ttl: Duration,
    concurrency: usize,
    agents: Vec<Agent>,
}

/// A run that was just handed out.
struct Claimed {
    client: Client,
    answer: LeaseAnswer,
    asked: Instant,
    ttl: Duration,
    leave: Leave,
}

struct Agent {
    name: String,
    version: String,
    carry: Carry,
}

impl Worker {
    pub fn new(client: Client, name: impl Into<String>) -> Self {
        Self {
            client,
            name: name.into(),
            ttl: Duration::from_secs(30),
            concurrency: 1,
            agents: Vec::new(),
        }
    }

    /// How long a run is held without a heartbeat.
    pub fn ttl(self, ttl: Duration) -> Self {
        Self { ttl, ..self }
    }

    /// How many runs of each agent are carried on at the same time.
    pub fn concurrency(self, concurrency: usize) -> Self {
        Self {
            concurrency: concurrency.max(1),
            ..self
        }
    }

    /// An agent by its name, its code version, and the function that carries a run of it to its end. What the
    /// function returns becomes the run's result; what it fails with, the run's error.
    pub fn agent<S, R, A, F>(
        mut self,
        name: impl Into<String>,
        version: impl Into<String>,
        agent: A,
    ) -> Self
    where
        S: State,
        R: Serialize + Send + 'static,
        A: Fn(Session<S>) -> F + Send + Sync + 'static,
        F: Future<Output = Result<R, Error>> + Send + 'static,
    {
        let agent = Arc::new(agent);
        let carry: Carry = Arc::new(move |claimed| {
            let agent = agent.clone();
            Box::pin(async move {
                let Claimed {
                    client,
                    answer,
                    asked,
                    ttl,
                    leave,
                } = claimed;
                match Session::start(&client, answer, asked, ttl).await {
                    Ok(session) => carry_on(&*agent, session, leave).await,
                    Err(why) => tracing::error!(%why, "a claimed run did not start"),
                }
            })
        });
        self.agents.push(Agent {
            name: name.into(),
            version: version.into(),
            carry,
        });
        self
    }

    /// Works until the process is asked to end (ctrl-c or SIGTERM): runs under way are released between two steps.
    pub async fn run(self) {
        self.run_until(asked_to_end()).await;
    }

    /// Works until `leave` resolves; returns when all runs under way are released or ended.
    pub async fn run_until(self, leave: impl Future<Output = ()>) {
        let (leaving, seen) = watch::channel(false);
        let mut claims = JoinSet::new();
        for agent in self.agents {
            tracing::info!(
                worker = self.name,
                agent = agent.name,
                version = agent.version,
                "waiting for runs"
            );
            let claim = ClaimRun {
                worker: self.name.clone(),
                agents: Some(vec![agent.name]),
                ttl_ms: self.ttl.as_millis() as i64,
                wait_ms: CLAIM_WAIT_MS,
                version: Some(agent.version),
                model: None,
            };
            let client = self.client.clone();
            claims.spawn(claim_runs(
                client,
                claim,
                agent.carry,
                self.concurrency,
                seen.clone(),
            ));
        }
        leave.await;
        leaving.send_replace(true);
        claims.join_all().await;
    }
}

/// Claims runs of one agent, as many at a time as there is room for.
async fn claim_runs(
    client: Client,
    claim: ClaimRun,
    carry: Carry,
    concurrency: usize,
    mut leave: Leave,
) {
    let room = Arc::new(Semaphore::new(concurrency));
    let mut runs = JoinSet::new();
    loop {
        while runs.try_join_next().is_some() {}
        let next = async {
            // The semaphore is never closed.
            let place = room.clone().acquire_owned().await.ok();
            let asked = Instant::now();
            (client.claim(&claim).await, asked, place)
        };
        let (claimed, asked, place) = tokio::select! {
            biased;
            () = told_to_leave(&mut leave) => break,
            next = next => next,
        };
        match claimed {
            Ok(None) => {}
            Ok(Some(answer)) => {
                let carried = carry(Claimed {
                    client: client.clone(),
                    answer,
                    asked,
                    ttl: Duration::from_millis(claim.ttl_ms.unsigned_abs()),
                    leave: leave.clone(),
                });
                runs.spawn(async move {
                    carried.await;
                    drop(place);
                });
            }
            Err(why) => {
                tracing::warn!(%why, "no runs can be claimed now");
                tokio::time::sleep(REST).await;
            }
        }
    }
    runs.join_all().await;
}

/// One run, from its checkpoint to wherever it gets. A panic is no end: the run is released, and what was in
/// flight has crashed.
async fn carry_on<S, R, A, F>(agent: &A, session: Session<S>, mut leave: Leave)
where
    S: State,
    R: Serialize + Send + 'static,
    A: Fn(Session<S>) -> F,
    F: Future<Output = Result<R, Error>> + Send + 'static,
{
    let id = session.id().clone();
    let mut work = tokio::spawn(agent(session.clone()));
    let ended = tokio::select! {
        ended = &mut work => ended,
        () = told_to_leave(&mut leave) => {
            session.interrupt();
            work.await
        }
    };
    let settled = match ended {
        Ok(outcome) => session.settle(outcome).await,
        Err(panicked) => {
            tracing::error!(run = %id, %panicked, "the agent panicked; its run is released");
            session.release().await
        }
    };
    match settled {
        Ok(()) => {}
        Err(
            error @ (Error::Failed(_) | Error::Refused(_) | Error::Shape { .. } | Error::Setup(_)),
        ) => {
            tracing::error!(run = %id, %error, "the run failed");
        }
        Err(error) => tracing::info!(run = %id, %error, "the run was left"),
    }
}

async fn told_to_leave(leave: &mut Leave) {
    // A worker that is gone itself has left, too.
    let _ = leave.wait_for(|leave| *leave).await;
}

/// Resolves on ctrl-c, and on SIGTERM where there is one.
pub async fn asked_to_end() {
    let interrupt = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let terminate = async {
            match signal(SignalKind::terminate()) {
                Ok(mut terminate) => terminate.recv().await,
                Err(_) => std::future::pending().await,
            }
        };
        tokio::select! {
            () = interrupt => {}
            _ = terminate => {}
        }
    }
    #[cfg(not(unix))]
    interrupt.await;
}
