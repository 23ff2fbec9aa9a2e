//! An agent tells how far an attempt got: the newest partial result, and log lines.

use async_trait::async_trait;
use serde_json::json;

use super::{holding, renew};
use crate::{
    domain::{Code, EventKind, Outcome, Problem, RunId, protocol::Progress},
    store::{
        Error,
        rows::{AttemptRow, append_log},
        tx::Tx,
        writer::Command,
    },
};

pub struct Note {
    pub run: RunId,
    pub seq: i64,
    pub body: Progress,
}

#[async_trait]
impl Command for Note {
    type Answer = ();

    async fn apply(&self, tx: &mut Tx) -> Result<(), Error> {
        let mut run = holding(tx, &self.run, self.body.epoch).await?;
        let Some(mut attempt) =
            AttemptRow::load(tx.conn(), &run.id, self.seq, self.body.attempt).await?
        else {
            return Err(Problem::not_found("step or attempt").into());
        };
        if !matches!(
            attempt.outcome,
            Outcome::Running | Outcome::Waiting | Outcome::Given
        ) {
            let detail = format!("attempt {} is over: {}", attempt.attempt, attempt.outcome);
            return Err(Problem::new(Code::AttemptOver, detail).into());
        }
        let now = tx.now;
        append_log(tx.conn(), &run.id, &mut attempt, now, &self.body.log).await?;
        attempt
            .set_progress(tx.conn(), &run.id, self.body.partial.as_ref())
            .await?;
        let data = json!({
            "attempt": attempt.attempt, "partial": self.body.partial.is_some(), "lines": self.body.log.len(),
        });
        tx.emit(&run.id, Some(self.seq), EventKind::StepProgress, data);
        renew(tx, &mut run);
        tx.save(&run);
        Ok(())
    }
}
