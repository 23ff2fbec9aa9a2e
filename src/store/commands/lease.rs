//! A worker takes a run: a new epoch, an expiry by the database's clock, and the state to go on from.

use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};

use super::{
    granted::{Granted, PackedAhead},
    once::Repeatable,
    reopen,
};
use crate::{
    aside::{LONG, aside},
    domain::{
        Code, EventKind, Problem, RunId, RunStatus,
        rules::lease::LeaseEnd,
        wire::{json::is_long, protocol::LeaseRun},
    },
    store::{
        Error, Store,
        engine::params,
        error::KeptByRefusal,
        lease_end::{self, Said},
        rows::{RunContent, RunParts, RunRow, lease::LeaseRow, sealed},
        table::Declared as _,
        tx::Tx,
        writer::Command,
    },
};

pub struct Lease {
    run: RunId,
    body: LeaseRun,
    schema: OnceLock<Option<Schema>>,
    packed: PackedAhead,
}

/// The state's schema that a lease brings.
pub struct Schema {
    value: Arc<Value>,
    /// As it is written.
    stored: String,
}

impl Lease {
    pub fn new(run: RunId, body: LeaseRun) -> Self {
        Self {
            run,
            body,
            schema: OnceLock::new(),
            packed: PackedAhead::default(),
        }
    }

    fn schema(&self) -> Option<&Schema> {
        let made = self.schema.get_or_init(|| {
            let schema = self.body.state_schema.as_ref();
            schema.map(|schema| Schema {
                value: Arc::new(schema.clone()),
                stored: sealed(schema),
            })
        });
        made.as_ref()
    }
}

#[async_trait]
impl Repeatable for Lease {
    async fn pack_ahead(&mut self, store: &Store) -> Result<(), Error> {
        let schema = self.schema().map(|it| it.value.clone());
        let reopens = self.body.reopen;
        let answered = |content: RunContent| RunContent {
            state_schema: schema.or(content.state_schema),
            // The next turn has none yet.
            result: content.result.filter(|_| !reopens),
            ..content
        };
        self.packed = PackedAhead::of(store, &self.run, answered).await?;
        Ok(())
    }

    fn pack(&self, answer: &Granted) -> Result<Option<Vec<u8>>, Error> {
        answer.packed(&self.packed).map(Some)
    }
}

#[async_trait]
impl Command for Lease {
    type Answer = Granted;

    async fn prepare(&mut self, store: &Store) -> Result<(), Error> {
        let schema = self.body.state_schema.as_ref();
        if schema.is_some_and(|it| is_long(it, LONG)) {
            aside(|| self.schema()).await;
        }
        store.open_content(&self.run).await?;
        store.warm_up(&self.run).await
    }

    fn heavy(&self) -> bool {
        self.packed.is_heavy()
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
        let parts = tx.parts(&run).await?;
        grant(tx, (run, parts), &self.body, self.schema()).await
    }
}

/// Hands the run to the worker, with what was read of it since it changed last.
pub async fn grant(
    tx: &mut Tx,
    (mut run, mut parts): (RunRow, RunParts),
    body: &LeaseRun,
    schema: Option<&Schema>,
) -> Result<Granted, Error> {
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
    if let Some(schema) = schema {
        let sql = "UPDATE runs SET state_schema = $2 WHERE id = $1";
        tx.conn()
            .execute(sql, params![run.id.as_str(), schema.stored.as_str()])
            .await?;
        parts.content.state_schema = Some(schema.value.clone());
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
        run: parts.of(&run),
        epoch: run.epoch,
        expires_at,
        state,
        snapshot: run.snapshot,
    })
}
