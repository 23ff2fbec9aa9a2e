//! The one writer: it groups the commands that wait into one transaction, so that they share one sync to disk.
//!
//! A refused command leaves nothing in the group's transaction (`tx/whole.rs`); where only a rollback can see to that,
//! the others run again without it. Trouble with the database spoils the whole group: it is rolled back and each
//! command runs again alone.
//!
//! Commands that bring megabytes wait in a queue of their own and run alone, one after each group of the others: a
//! heartbeat never waits for more than one of them.

use async_trait::async_trait;
use futures::FutureExt;
use std::{
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};
use tokio::sync::{mpsc, oneshot, watch};

use super::{
    Store,
    commands::Grace,
    engine::{CommitError, Engine},
    error::Error,
    follow::ALIVE_MS,
    health::Health,
    tx::{Tx, Undone},
    warm::Warm,
};
use crate::domain::{Time, tree::StateMax};

const QUEUE: usize = 4_096;
/// Heavy commands that may wait; each holds megabytes.
const HEAVY_QUEUE: usize = 64;
const GROUP: usize = 256;
/// When a group's transaction failed, its commands run one by one. After this many of them failed in a row, the rest get
/// the same error: one command that is too large for a nearly full disk must not take the others with it, and a disk
/// that takes nothing must not be asked 256 times. A group that is rolled back because a command was refused is run
/// again as often, before its commands run one by one.
const IN_VAIN: usize = 3;
/// A server that has not written for this long was away: its ticks alone come every second.
const AWAY_MS: i64 = 2_500;

/// One change of the store: what it needs, and how it is made. It may be applied more than once.
#[async_trait]
pub trait Command: Send + Sync + 'static {
    type Answer: Send + 'static;

    /// What takes long and needs no transaction, done before the command is queued: to parse, hash, compare, compress
    /// and check. What the command relies on then has to be looked at again when it is applied.
    async fn prepare(&mut self, _store: &Store) -> Result<(), Error> {
        Ok(())
    }

    /// It writes or reads so much that others should not share its transaction.
    fn heavy(&self) -> bool {
        false
    }

    async fn apply(&self, tx: &mut Tx) -> Result<Self::Answer, Error>;
}

/// A command on its way, whatever its answer is.
#[async_trait]
trait Job: Send {
    /// Applies the command and keeps its answer, unless it has its final one.
    async fn apply(&mut self, tx: &mut Tx) -> Result<(), Spoilt>;
    fn answer(self: Box<Self>);
    fn refuse(self: Box<Self>, error: Error);
}

/// Why a group's transaction has to be rolled back.
enum Spoilt {
    /// One command was refused after it had written, and has its answer: the others run again.
    Refused,
    Failed(Error),
}

impl From<Error> for Spoilt {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// A group that was rolled back.
type Unfinished = (Vec<Box<dyn Job>>, Spoilt);

struct Pending<C: Command> {
    command: C,
    answer: Option<Result<C::Answer, Error>>,
    /// The answer is a refusal that stands: it is not applied again.
    refused: bool,
    reply: oneshot::Sender<Written<C>>,
}

/// What became of a command, which comes back with its answer: it may have to be prepared again.
pub struct Written<C: Command> {
    pub answer: Result<C::Answer, Error>,
    pub command: C,
}

#[async_trait]
impl<C: Command> Job for Pending<C> {
    async fn apply(&mut self, tx: &mut Tx) -> Result<(), Spoilt> {
        if self.refused {
            return Ok(());
        }
        let (answer, applied) = match tx.whole(&self.command).await {
            Ok(answer) => (Ok(answer), Ok(())),
            Err(Undone::Refused(error)) => (Err(error), Ok(())),
            Err(Undone::Halfway(error)) => {
                self.refused = true;
                (Err(error), Err(Spoilt::Refused))
            }
            Err(Undone::Failed(error)) => return Err(error.into()),
        };
        self.answer = Some(answer);
        applied
    }

    fn answer(self: Box<Self>) {
        let answer = self.answer.unwrap_or(Err(Error::Busy));
        let command = self.command;
        // The caller may have gone away; what it asked for stays done.
        let _ = self.reply.send(Written { answer, command });
    }

    fn refuse(self: Box<Self>, error: Error) {
        let answer = self.answer.filter(|_| self.refused);
        let answer = answer.unwrap_or(Err(error));
        let command = self.command;
        let _ = self.reply.send(Written { answer, command });
    }
}

#[derive(Clone)]
pub struct Writer {
    queue: mpsc::Sender<Box<dyn Job>>,
    lived: Arc<AtomicI64>,
    heavy: mpsc::Sender<Box<dyn Job>>,
}

impl Writer {
    /// Starts the writer; `head` tells the newest event number after each transaction.
    pub fn start(
        engine: Arc<dyn Engine>,
        head: watch::Sender<i64>,
        health: Arc<Health>,
        warm: Arc<Warm>,
        state_max: StateMax,
    ) -> Self {
        let (queue, jobs) = mpsc::channel(QUEUE);
        let (heavy, heavy_jobs) = mpsc::channel(HEAVY_QUEUE);
        let lived = Arc::new(AtomicI64::new(0));
        let group = Group {
            engine,
            warm,
            head,
            health,
            lived: lived.clone(),
            state_max,
        };
        tokio::spawn(group.serve(jobs, heavy_jobs));
        Self {
            queue,
            lived,
            heavy,
        }
    }

    /// From now on a gap between two writes means that this server was away; leases get their grace before anything
    /// else is written.
    pub fn notices_absence(&self, now: Time) {
        self.lived.store(now.0, Ordering::Release);
    }

    pub async fn write<C: Command>(&self, command: C) -> Result<Written<C>, Error> {
        let (reply, answer) = oneshot::channel();
        let queue = match command.heavy() {
            true => &self.heavy,
            false => &self.queue,
        };
        let job = Box::new(Pending {
            command,
            answer: None,
            refused: false,
            reply,
        });
        queue.send(job).await.map_err(|_| Error::Busy)?;
        answer.await.map_err(|_| Error::Busy)
    }
}

struct Group {
    engine: Arc<dyn Engine>,
    warm: Arc<Warm>,
    head: watch::Sender<i64>,
    health: Arc<Health>,
    /// When this server last wrote; 0 for a process that is no server.
    lived: Arc<AtomicI64>,
    state_max: StateMax,
}

impl Group {
    async fn serve(
        self,
        mut jobs: mpsc::Receiver<Box<dyn Job>>,
        mut heavy: mpsc::Receiver<Box<dyn Job>>,
    ) {
        let mut waiting = Vec::with_capacity(GROUP);
        loop {
            let quick = tokio::select! {
                biased;
                some = jobs.recv_many(&mut waiting, GROUP) => match some {
                    0 => return,
                    _ => true,
                },
                Some(alone) = heavy.recv() => {
                    waiting.push(alone);
                    false
                }
            };
            self.turn(std::mem::take(&mut waiting)).await;
            // However many quick ones come, a heavy one gets its turn.
            if quick && let Ok(alone) = heavy.try_recv() {
                self.turn(vec![alone]).await;
            }
        }
    }

    /// Runs a group. If the database fails, each of its commands runs alone.
    async fn turn(&self, mut group: Vec<Box<dyn Job>>) {
        metrics::histogram!("step47_group_size").record(group.len() as f64);
        for _ in 0..IN_VAIN {
            match self.guarded(group).await {
                Ok(()) => return,
                Err((rest, Spoilt::Refused)) => group = rest,
                Err((alone, Spoilt::Failed(error))) if alone.len() == 1 => {
                    return self.refuse(alone, error);
                }
                Err((rest, Spoilt::Failed(error))) => {
                    if error.trouble().is_none() {
                        tracing::warn!(%error, "a group of writes failed; each runs again alone");
                    }
                    return self.one_by_one(rest).await;
                }
            }
        }
        self.one_by_one(group).await;
    }

    async fn one_by_one(&self, group: Vec<Box<dyn Job>>) {
        let mut in_vain = 0;
        let mut trouble = None;
        for job in group {
            if let Some(trouble) = trouble.filter(|_| in_vain >= IN_VAIN) {
                self.refuse(vec![job], Error::Unwritable(trouble));
                continue;
            }
            in_vain = match self.guarded(vec![job]).await {
                Ok(()) => 0,
                // The job has its refusal already, which is sent instead of this error.
                Err((alone, Spoilt::Refused)) => {
                    self.refuse(alone, Error::Busy);
                    0
                }
                Err((alone, Spoilt::Failed(error))) => {
                    trouble = error.trouble();
                    self.refuse(alone, error);
                    trouble.map_or(0, |_| in_vain + 1)
                }
            };
        }
    }

    /// Gives the error to the one job it belongs to.
    fn refuse(&self, mut alone: Vec<Box<dyn Job>>, error: Error) {
        if let Some(trouble) = error.trouble() {
            self.health.failed(trouble, &error);
        }
        if let Some(job) = alone.pop() {
            job.refuse(error);
        }
    }

    /// A command that panics takes its group down with it, never the writer: the callers hear "busy".
    async fn guarded(&self, jobs: Vec<Box<dyn Job>>) -> Result<(), Unfinished> {
        let ran = AssertUnwindSafe(self.run(jobs)).catch_unwind().await;
        ran.unwrap_or_else(|_| {
            tracing::error!("a command panicked; its group was rolled back");
            Ok(())
        })
    }

    /// Runs all jobs in one transaction and answers them, or gives them back with what went wrong.
    async fn run(&self, mut jobs: Vec<Box<dyn Job>>) -> Result<(), Unfinished> {
        let mut tx = match Tx::begin(&*self.engine, self.warm.clone(), self.state_max).await {
            Ok(tx) => tx,
            Err(error) => return Err((jobs, error.into())),
        };
        let now = tx.now;
        let known = self.lived.load(Ordering::Acquire);
        if known != 0
            && now.ms_since(Time(known)) > AWAY_MS
            && let Err(error) = self.come_back(&mut tx).await
        {
            tx.rollback().await;
            return Err((jobs, error.into()));
        }
        for job in &mut jobs {
            if let Err(spoilt) = job.apply(&mut tx).await {
                tx.rollback().await;
                return Err((jobs, spoilt));
            }
        }
        match tx.commit().await {
            Ok(event) => {
                if known != 0 {
                    self.lived.fetch_max(now.0, Ordering::AcqRel);
                }
                self.health.worked();
                self.head.send_if_modified(|head| {
                    let grown = event > *head;
                    *head = event.max(*head);
                    grown
                });
                jobs.into_iter().for_each(Job::answer);
                Ok(())
            }
            Err(CommitError::RolledBack(error)) => Err((jobs, error.into())),
            Err(CommitError::Unknown(error)) => {
                tracing::error!(%error, "nobody knows whether a group was committed: callers must ask again");
                let trouble = error.trouble();
                if let Some(trouble) = trouble {
                    self.health.failed(trouble, &error);
                }
                let why = || trouble.map_or(Error::Busy, Error::Unwritable);
                jobs.into_iter().for_each(|job| job.refuse(why()));
                Ok(())
            }
        }
    }

    /// Nobody could renew a lease while this server was away: those that were live get one more term, in the same
    /// transaction and before the first command looks at one. Not if another server was there meanwhile.
    async fn come_back(&self, tx: &mut Tx) -> Result<(), Error> {
        let now = tx.now;
        let others = self
            .engine
            .others(tx.conn(), now.plus_ms(-ALIVE_MS))
            .await?;
        if others.is_some() {
            return Ok(());
        }
        let grace = Grace {
            server: self.engine.id().to_owned(),
            forget_before: now.plus_ms(-ALIVE_MS),
        };
        match tx.whole(&grace).await {
            Err(Undone::Failed(error) | Undone::Halfway(error)) => Err(error),
            Err(Undone::Refused(error)) => {
                tracing::error!(%error, "leases got no grace after this server was away");
                Ok(())
            }
            Ok(0) => Ok(()),
            Ok(leases) => {
                tracing::info!(
                    leases,
                    "this server was away: live leases get one more term"
                );
                Ok(())
            }
        }
    }
}
