//! The one writer: it groups the commands that wait into one transaction, so that they share one sync to disk.
//!
//! A command decides first and writes then, so a refusal leaves the group untouched. Trouble with the database
//! spoils the whole group: it is rolled back and each command runs again alone.

use async_trait::async_trait;
use futures::FutureExt;
use std::{panic::AssertUnwindSafe, sync::Arc};
use tokio::sync::{mpsc, oneshot, watch};

use super::{
    engine::{CommitError, Engine},
    error::Error,
    tx::Tx,
    warm::Warm,
};

const QUEUE: usize = 4_096;
const GROUP: usize = 256;

/// One change of the store: what it needs, and how it is made. It may be applied more than once.
#[async_trait]
pub trait Command: Send + Sync + 'static {
    type Answer: Send + 'static;
    async fn apply(&self, tx: &mut Tx) -> Result<Self::Answer, Error>;
}

/// A command on its way, whatever its answer is.
#[async_trait]
trait Job: Send {
    /// Applies the command and keeps its answer; an error means that the transaction is spoilt.
    async fn apply(&mut self, tx: &mut Tx) -> Result<(), Error>;
    fn answer(self: Box<Self>);
    fn refuse(self: Box<Self>, error: Error);
}

struct Pending<C: Command> {
    command: C,
    answer: Option<Result<C::Answer, Error>>,
    reply: oneshot::Sender<Result<C::Answer, Error>>,
}

#[async_trait]
impl<C: Command> Job for Pending<C> {
    async fn apply(&mut self, tx: &mut Tx) -> Result<(), Error> {
        match self.command.apply(tx).await {
            Err(error) if error.spoils_transaction() => Err(error),
            answer => {
                self.answer = Some(answer);
                Ok(())
            }
        }
    }

    fn answer(self: Box<Self>) {
        // A caller that went away does not want the answer; what it asked for stays done.
        let _ = self.reply.send(self.answer.unwrap_or(Err(Error::Busy)));
    }

    fn refuse(self: Box<Self>, error: Error) {
        let _ = self.reply.send(Err(error));
    }
}

#[derive(Clone)]
pub struct Writer {
    queue: mpsc::Sender<Box<dyn Job>>,
}

impl Writer {
    /// Starts the writer; `head` tells the newest event number after each transaction.
    pub fn start(engine: Arc<dyn Engine>, head: watch::Sender<i64>, state_max: usize) -> Self {
        let (queue, jobs) = mpsc::channel(QUEUE);
        let group = Group {
            engine,
            warm: Arc::default(),
            head,
            state_max,
        };
        tokio::spawn(group.serve(jobs));
        Self { queue }
    }

    pub async fn write<C: Command>(&self, command: C) -> Result<C::Answer, Error> {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(Pending {
            command,
            answer: None,
            reply,
        });
        self.queue.send(job).await.map_err(|_| Error::Busy)?;
        answer.await.map_err(|_| Error::Busy)?
    }
}

struct Group {
    engine: Arc<dyn Engine>,
    warm: Arc<Warm>,
    head: watch::Sender<i64>,
    state_max: usize,
}

impl Group {
    async fn serve(self, mut jobs: mpsc::Receiver<Box<dyn Job>>) {
        let mut waiting = Vec::with_capacity(GROUP);
        while jobs.recv_many(&mut waiting, GROUP).await > 0 {
            metrics::histogram!("step47_group_size").record(waiting.len() as f64);
            let group = std::mem::take(&mut waiting);
            let Err((group, error)) = self.guarded(group).await else {
                continue;
            };
            if group.len() == 1 {
                refuse(group, error);
                continue;
            }
            tracing::warn!(%error, "a group of writes failed; each runs again alone");
            for job in group {
                if let Err((alone, error)) = self.guarded(vec![job]).await {
                    refuse(alone, error);
                }
            }
        }
    }

    /// A command that panics takes its group down with it, never the writer: the callers hear "busy".
    async fn guarded(&self, jobs: Vec<Box<dyn Job>>) -> Result<(), (Vec<Box<dyn Job>>, Error)> {
        let ran = AssertUnwindSafe(self.run(jobs)).catch_unwind().await;
        ran.unwrap_or_else(|_| {
            tracing::error!("a command panicked; its group was rolled back");
            Ok(())
        })
    }

    /// Runs all jobs in one transaction and answers them, or gives them back with what went wrong.
    async fn run(&self, mut jobs: Vec<Box<dyn Job>>) -> Result<(), (Vec<Box<dyn Job>>, Error)> {
        let mut tx = match Tx::begin(&*self.engine, self.warm.clone(), self.state_max).await {
            Ok(tx) => tx,
            Err(error) => return Err((jobs, error)),
        };
        for job in &mut jobs {
            if let Err(error) = job.apply(&mut tx).await {
                tx.rollback().await;
                return Err((jobs, error));
            }
        }
        match tx.commit().await {
            Ok(event) => {
                self.head.send_if_modified(|head| {
                    let grown = event > *head;
                    *head = event.max(*head);
                    grown
                });
                jobs.into_iter().for_each(Job::answer);
                Ok(())
            }
            Err(CommitError::RolledBack(error)) => Err((jobs, error)),
            Err(CommitError::Unknown(error)) => {
                tracing::error!(%error, "nobody knows whether a group was committed: callers must ask again");
                jobs.into_iter().for_each(|job| job.refuse(Error::Busy));
                Ok(())
            }
        }
    }
}

/// Gives the error to the one job it belongs to.
fn refuse(mut alone: Vec<Box<dyn Job>>, error: Error) {
    if let Some(job) = alone.pop() {
        job.refuse(error);
    }
}
