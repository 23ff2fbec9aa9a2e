//! What operators order. Pause and cancel are requests while a worker holds the run, and take effect at once otherwise.

use async_trait::async_trait;
use serde_json::json;

use crate::{
    domain::{
        Code, DecisionKind, EventKind, Problem, Recovery, RunId, RunStatus, Signal, StepStatus,
        access::Principal,
        decision,
        protocol::{Decide, DecideAnswer},
    },
    store::{
        Error,
        engine::params,
        lease_end,
        rows::{RunRow, StepRow, sealed},
        tables,
        tx::Tx,
        writer::Command,
    },
};

pub struct Decision {
    pub run: RunId,
    pub author: Principal,
    pub body: Decide,
}

#[async_trait]
impl Command for Decision {
    type Answer = DecideAnswer;

    async fn apply(&self, tx: &mut Tx) -> Result<DecideAnswer, Error> {
        let mut run = tx.run(&self.run).await?;
        if let Some(version) = self
            .body
            .if_version
            .filter(|version| *version != run.version)
        {
            return Err(self.outdated(tx, &run, version).await?.into());
        }
        let based_on = run.version;
        self.allowed(&run)?;
        let open = StepRow::open(tx.conn(), &run.id).await?;
        self.settled(&open)?;
        let id = tx.next_event();
        self.record(tx, &run, id, based_on).await?;
        let decision = decision::Decision {
            id,
            kind: self.body.kind,
            author: self.author.name.clone(),
            reason: self.body.reason.clone(),
            step: self.body.step,
            version: based_on,
            at: tx.now,
            snapshot: None,
            text: self.body.text.clone(),
            new_run: None,
        };
        tx.emit(
            &run.id,
            self.body.step,
            EventKind::Decision,
            json!(decision),
        );
        let gate = open.iter().any(|step| step.status == StepStatus::Waiting);
        self.carry_out(tx, &mut run, gate);
        run.updated_at = tx.now;
        tx.save(&run);
        Ok(DecideAnswer {
            run: run.detail(tx.conn()).await?,
            decision,
        })
    }
}

impl Decision {
    fn allowed(&self, run: &RunRow) -> Result<(), Error> {
        let refuse = |why: String| {
            Err(Problem::new(Code::DecisionRefused, &why)
                .with("why", &why)
                .into())
        };
        match self.body.kind {
            DecisionKind::Pause | DecisionKind::Cancel if run.status.over() => {
                refuse(format!("the run is {} already", run.status))
            }
            DecisionKind::Resume if self.body.if_version.is_none() => {
                Err(Problem::invalid("if_version", "name the run version this is based on").into())
            }
            DecisionKind::Resume if run.status != RunStatus::Paused => refuse(format!(
                "a run that is {} cannot be resumed this way yet",
                run.status
            )),
            DecisionKind::Pause
            | DecisionKind::Cancel
            | DecisionKind::Resume
            | DecisionKind::Note => Ok(()),
            kind => refuse(format!(
                "this version does not know how to carry out {kind:?} yet"
            )),
        }
    }

    /// A run goes on only when nobody has to decide about one of its steps.
    fn settled(&self, open: &[StepRow]) -> Result<(), Error> {
        let asks = open
            .iter()
            .find(|step| step.status == StepStatus::Crashed && step.recovery == Recovery::Ask);
        match asks {
            Some(step) if self.body.kind == DecisionKind::Resume => {
                let why = format!(
                    "step {} ({}) crashed mid-flight and needs a decision",
                    step.seq, step.name
                );
                Err(Problem::new(Code::DecisionRefused, &why)
                    .with("why", &why)
                    .into())
            }
            _ => Ok(()),
        }
    }

    fn carry_out(&self, tx: &mut Tx, run: &mut RunRow, gate: bool) {
        if self.body.kind == DecisionKind::Note {
            return;
        }
        run.version += 1;
        let live = run.expires_at.is_some();
        match self.body.kind {
            DecisionKind::Pause => self.stop(tx, run, live, Signal::Pause, RunStatus::Paused),
            DecisionKind::Cancel => self.stop(tx, run, live, Signal::Cancel, RunStatus::Cancelled),
            DecisionKind::Resume => {
                (run.signal, run.recoveries) = (None, 0);
                let status = if gate {
                    RunStatus::Waiting
                } else {
                    RunStatus::Ready
                };
                lease_end::become_status(tx, run, status);
            }
            _ => {}
        }
    }

    /// With a live lease a request that the worker hears; without one the run stops here and now.
    fn stop(&self, tx: &mut Tx, run: &mut RunRow, live: bool, signal: Signal, status: RunStatus) {
        // A cancel stands: a later pause does not weaken it.
        if run.signal != Some(Signal::Cancel) {
            run.signal = Some(signal);
        }
        if live {
            return;
        }
        run.signal = None;
        if status == RunStatus::Cancelled {
            run.finished_at = Some(tx.now);
        }
        lease_end::become_status(tx, run, status);
    }

    async fn record(&self, tx: &mut Tx, run: &RunRow, id: i64, version: i64) -> Result<(), Error> {
        let now = tx.now;
        let values = params![
            id,
            self.run.as_str(),
            self.body.kind.as_str(),
            self.author.name.as_str(),
            self.body.reason.as_deref(),
            self.body.step,
            version,
            sealed(&self.body),
            now,
            None::<i64>,
            None::<String>,
        ];
        tables::DECISIONS.insert(tx.conn(), values).await?;
        let mine = "INSERT INTO decided (author, ord) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        tx.conn()
            .execute(mine, params![self.author.name.as_str(), run.ord])
            .await?;
        Ok(())
    }

    /// Somebody was first: who, and when.
    async fn outdated(&self, tx: &mut Tx, run: &RunRow, version: i64) -> Result<Problem, Error> {
        let sql = "SELECT author, at FROM decisions WHERE run = $1 AND version >= $2 ORDER BY id DESC LIMIT 1";
        let row = tx
            .conn()
            .fetch_one(sql, params![run.id.as_str(), version])
            .await?;
        let (by, at) = match row {
            Some(mut row) => (Some(row.text()?), Some(row.time()?)),
            None => (None, None),
        };
        let detail = match (&by, at) {
            (Some(by), Some(at)) => format!("already decided by {by} at {at}"),
            _ => format!("the run changed: version {} is current", run.version),
        };
        Ok(Problem::new(Code::VersionConflict, detail)
            .with("current_version", run.version)
            .with("decided_by", by)
            .with("decided_at", at))
    }
}
