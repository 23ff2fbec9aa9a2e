//! A worker takes a run: a new epoch, an expiry by the database's clock, and the state to go on from.

use async_trait::async_trait;
use serde_json::json;

use super::{
    granted::{Granted, PackedState},
    once::Repeatable,
    reopen,
};
use crate::{
    domain::{
        Code, EventKind, Problem, RunId, RunStatus, rules::lease::LeaseEnd,
        wire::protocol::LeaseRun,
    },
    store::{
        Error, Store,
        engine::params,
        error::KeptByRefusal,
        lease_end::{self, Said},
        rows::{RunRow, lease::LeaseRow, sealed},
        table::Declared as _,
        tx::Tx,
        writer::Command,
    },
};

pub struct Lease {
    run: RunId,
    body: LeaseRun,
    packed: Option<PackedState>,
}

impl Lease {
    pub fn new(run: RunId, body: LeaseRun) -> Self {
        Self {
            run,
            body,
            packed: None,
        }
    }
}

#[async_trait]
impl Repeatable for Lease {
    async fn pack_ahead(&mut self, store: &Store) -> Result<(), Error> {
        self.packed = PackedState::of(store, &self.run).await?;
        Ok(())
    }

    fn pack(&self, answer: &Granted) -> Result<Option<Vec<u8>>, Error> {
        answer.packed(self.packed.as_ref()).map(Some)
    }
}

#[async_trait]
impl Command for Lease {
    type Answer = Granted;

    async fn prepare(&mut self, store: &Store) -> Result<(), Error> {
        store.open_content(&self.run).await?;
        store.warm_up(&self.run).await
    }

    fn heavy(&self) -> bool {
        self.packed.as_ref().is_some_and(PackedState::is_heavy)
    }

    async fn apply(&self, tx: &mut Tx) -> Result<Granted, Error> {
        let mut run = tx.run(&self.run).await?;
        let taken_over = run.lease().is_some();
        if let Some(lease) = run.lease() {
            if !(self.body.takeover && lease.worker == self.body.worker) {
                let detail = format!(
                    "worker {} holds this run until {}",
                    lease.worker, lease.expires_at
                );
                return Err(Problem::new(Code::LeaseHeld, detail)
                    .with("worker", lease.worker)
                    .with("expires_at", lease.expires_at)
                    .into());
            }
            lease_end::end(tx, &mut run, LeaseEnd::Takeover, Said::default()).await?;
            tx.save(&run);
        }
        let asleep = run.runnable_at.is_some_and(|at| at > tx.now);
        let reopens = self.body.reopen && reopen::may(&run);
        if !(run.status.runnable() || reopens) || asleep {
            let detail = format!(
                "the run is {}; a worker may take it when it is pending or ready{}",
                run.status,
                match reopen::may(&run) {
                    true => ", or with `reopen`",
                    false => "",
                }
            );
            let problem = Problem::new(Code::RunNotRunnable, detail)
                .with("status", run.status)
                .with("run_status", run.status);
            let problem = match asleep {
                true => problem.with("runnable_at", run.runnable_at),
                false => problem,
            };
            return Err(match taken_over {
                true => Error::RefusedBut(KeptByRefusal::Takeover, problem),
                false => problem.into(),
            });
        }
        if reopens {
            reopen::reopen(tx, &mut run).await?;
        }
        grant(tx, run, &self.body).await
    }
}

/// Hands the run to the worker.
pub async fn grant(tx: &mut Tx, mut run: RunRow, body: &LeaseRun) -> Result<Granted, Error> {
    // Read the state first: nothing damaged is ever handed to an agent.
    let held = tx.state(&run).await?;
    let state = held.tree.clone();
    tx.hold(&run.id, held);
    run.epoch.0 += 1;
    run.worker = Some(body.worker.clone());
    run.ttl_ms = body.ttl_ms;
    let expires_at = tx.now.plus_ms(body.ttl_ms);
    run.expires_at = Some(expires_at);
    if let Some(heard) = run.heartbeat_at {
        let unheld = (tx.now.0 - heard.0).max(0);
        run.unheld_us = Some(run.unheld_us.unwrap_or(0) + unheld);
    }
    run.heartbeat_at = Some(tx.now);
    run.updated_at = tx.now;
    run.started_at = run.started_at.or(Some(tx.now));
    run.runnable_at = None;
    run.effects_unknown = false;
    run.code_version = body.version.clone().or(run.code_version);
    run.model = body.model.clone().or(run.model);
    let lease = LeaseRow {
        run: run.id.clone(),
        epoch: run.epoch,
        worker: body.worker.clone(),
        version: body.version.clone(),
        model: body.model.clone(),
        granted_at: tx.now,
        ended_at: None,
        ended_by: None,
        body: None,
    };
    lease.insert(tx.conn()).await?;
    if let Some(schema) = &body.state_schema {
        let sql = "UPDATE runs SET state_schema = $2 WHERE id = $1";
        tx.conn()
            .execute(sql, params![run.id.as_str(), sealed(schema)])
            .await?;
    }
    tracing::info!(
        run = %run.id, epoch = run.epoch.0, worker = body.worker, snapshot = run.snapshot, "checkpoint restored"
    );
    let data = json!({
        "epoch": run.epoch, "worker": body.worker, "version": body.version, "model": body.model,
        "expires_at": expires_at, "snapshot": run.snapshot,
    });
    tx.emit(&run.id, None, EventKind::LeaseGranted, data);
    lease_end::become_status(tx, &mut run, RunStatus::Running);
    tx.save(&run);
    Ok(Granted {
        run: tx.detail(&run).await?,
        epoch: run.epoch,
        expires_at,
        state,
        snapshot: run.snapshot,
    })
}
