//! An agent says that the run is over.

use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};

use super::{HEAVY, holds, release::ended_with};
use crate::{
    aside::{LONG, aside},
    domain::{
        Code, EventKind, Hash, Problem, RunId, RunStatus, StepStatus,
        rules::lease::LeaseEnd,
        wire::{
            json::is_long,
            protocol::{FinishOutcome, FinishRun},
        },
    },
    store::{
        Error, Store,
        content::Content,
        engine::params,
        lease_end,
        rows::{Detail, StepRow, sealed},
        tx::Tx,
        writer::Command,
    },
};

pub struct Finish {
    run: RunId,
    body: FinishRun,
    ready: OnceLock<Ready>,
}

/// What ends the run, as it is compared and written.
struct Ready {
    body: Hash,
    result: Content,
    /// The same, as the answer shares it.
    value: Arc<Value>,
}

impl Finish {
    pub fn new(run: RunId, body: FinishRun) -> Self {
        Self {
            run,
            body,
            ready: OnceLock::new(),
        }
    }

    fn ready(&self) -> &Ready {
        self.ready.get_or_init(|| Ready {
            body: Hash::of(&json!(self.body)),
            result: Content::of(&self.body.result),
            value: Arc::new(self.body.result.clone()),
        })
    }
}

#[async_trait]
impl Command for Finish {
    type Answer = Detail;

    async fn prepare(&mut self, store: &Store) -> Result<(), Error> {
        store.open_content(&self.run).await?;
        if is_long(&self.body.result, LONG) {
            aside(|| self.ready()).await;
        }
        Ok(())
    }

    fn heavy(&self) -> bool {
        is_long(&self.body.result, HEAVY)
    }

    async fn apply(&self, tx: &mut Tx) -> Result<Detail, Error> {
        let mut run = tx.run(&self.run).await?;
        let Ready {
            body,
            result,
            value,
        } = self.ready();
        let body = *body;
        if ended_with(tx, &run.id, self.body.epoch, LeaseEnd::Finish, body).await? {
            return tx.detail(&run).await;
        }
        if !holds(&run, self.body.epoch) {
            return Err(Problem::lease_lost().into());
        }
        let open = StepRow::open(tx.conn(), &run.id).await?;
        if let Some(step) = open.iter().find(|step| step.status == StepStatus::Running) {
            let detail = format!(
                "step {} ({}) is in flight: commit or fail it first",
                step.seq, step.name
            );
            return Err(Problem::new(Code::StepInFlight, detail)
                .with("seq", step.seq)
                .into());
        }
        let mut content = tx.content(&run).await?;
        let sql = "UPDATE runs SET result = $2, error = $3 WHERE id = $1";
        let kept = Some(result).filter(|_| !self.body.result.is_null());
        let params = params![
            run.id.as_str(),
            kept.map(Content::sealed),
            self.body.error.as_ref().map(sealed)
        ];
        tx.conn().execute(sql, params).await?;
        let now = tx.now;
        lease_end::close(tx, &mut run, LeaseEnd::Finish, now, Some(body)).await?;
        run.finished_at = Some(now);
        run.signal = None;
        run.effects_unknown = open.iter().any(|step| step.unknown);
        if let Some(error) = &self.body.error {
            run.error_kind.get_or_insert_with(|| error.kind.clone());
            tx.mention(run.ord, &error.kind);
            tx.mention(run.ord, &error.message);
        }
        let data = json!({
            "outcome": self.body.outcome, "result": result.hash, "error": self.body.error,
        });
        tx.emit(&run.id, None, EventKind::RunFinished, data);
        let status = match self.body.outcome {
            FinishOutcome::Done => RunStatus::Done,
            FinishOutcome::Failed => RunStatus::Failed,
        };
        lease_end::become_status(tx, &mut run, status);
        tracing::info!(run = %run.id, status = run.status.as_str(), "run finished");
        tx.save(&run);
        tx.flush_runs().await?;
        // The result that was just written is not read back: megabytes would be hashed again while all writes wait.
        content.result = kept.map(|_| value.clone());
        content.error = self.body.error.clone();
        run.detail_of(tx.conn(), content).await
    }
}
