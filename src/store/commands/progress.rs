//! An agent tells how far an attempt got: the newest partial result, and log lines.

use async_trait::async_trait;
use serde_json::json;
use std::sync::OnceLock;

use super::{HEAVY, holding, once::Repeatable, renew};
use crate::{
    aside::{LONG, aside},
    domain::{
        Code, EventKind, Outcome, Problem, RunId,
        wire::{json::is_long, protocol::Progress},
    },
    store::{
        Error, Store,
        content::Content,
        rows::{AttemptRow, append_log},
        tx::Tx,
        writer::Command,
    },
};

pub struct RecordProgress {
    run: RunId,
    seq: i64,
    body: Progress,
    partial: OnceLock<Option<Content>>,
}

impl RecordProgress {
    pub fn new(run: RunId, seq: i64, body: Progress) -> Self {
        Self {
            run,
            seq,
            body,
            partial: OnceLock::new(),
        }
    }

    fn partial(&self) -> Option<&Content> {
        let partial = self.body.partial.as_ref();
        self.partial
            .get_or_init(|| partial.map(Content::of))
            .as_ref()
    }

    fn brings(&self, bytes: usize) -> bool {
        let partial = self.body.partial.as_ref();
        partial.is_some_and(|it| is_long(it, bytes))
    }
}

impl Repeatable for RecordProgress {}

#[async_trait]
impl Command for RecordProgress {
    type Answer = ();

    async fn prepare(&mut self, _: &Store) -> Result<(), Error> {
        if self.brings(LONG) {
            aside(|| self.partial()).await;
        }
        Ok(())
    }

    fn heavy(&self) -> bool {
        self.brings(HEAVY)
    }

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
        attempt.set_progress(tx.conn(), self.partial()).await?;
        let data = json!({
            "attempt": attempt.attempt, "partial": self.body.partial.is_some(), "lines": self.body.log.len(),
        });
        tx.emit(&run.id, Some(self.seq), EventKind::StepProgress, data);
        renew(tx, &mut run);
        tx.save(&run);
        Ok(())
    }
}
