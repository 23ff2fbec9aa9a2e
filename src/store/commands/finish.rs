//! An agent says that the run is over.

use async_trait::async_trait;
use serde_json::json;

use super::{holds, release::ended_with};
use crate::{
    domain::{
        Code, EventKind, Hash, Problem, RunDetail, RunId, RunStatus, StepStatus,
        lease::LeaseEnd,
        protocol::{FinishOutcome, FinishRun},
    },
    store::{
        Error,
        engine::params,
        lease_end,
        rows::{StepRow, sealed},
        tx::Tx,
        writer::Command,
    },
};

pub struct Finish {
    pub run: RunId,
    pub body: FinishRun,
}

#[async_trait]
impl Command for Finish {
    type Answer = RunDetail;

    async fn apply(&self, tx: &mut Tx) -> Result<RunDetail, Error> {
        let mut run = tx.run(&self.run).await?;
        let body = Hash::of(&json!(self.body));
        if ended_with(tx, &run.id, self.body.epoch, LeaseEnd::Finish, body).await? {
            return run.detail(tx.conn()).await;
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
        let sql = "UPDATE runs SET result = $2, error = $3 WHERE id = $1";
        let result = Some(&self.body.result).filter(|result| !result.is_null());
        let params = params![
            run.id.as_str(),
            result.map(sealed),
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
            "outcome": self.body.outcome, "result": Hash::of(&self.body.result), "error": self.body.error,
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
        run.detail(tx.conn()).await
    }
}
