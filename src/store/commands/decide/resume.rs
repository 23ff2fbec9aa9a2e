//! Resume: choices and release in one transaction, on the plan that was shown.

use super::{Decision, Order, refused, unknown};
use crate::{
    domain::{
        Code, Problem, RunStatus, StepStatus,
        rules::plan::{PlanAction, Saved},
    },
    store::{
        Error,
        engine::params,
        lease_end,
        rows::{RunRow, StepRow},
        tx::Tx,
    },
};

impl Decision {
    /// The choices, checked; refused while any step still waits for a decision.
    pub(super) async fn resuming(&self, tx: &mut Tx, run: &RunRow) -> Result<Order, Error> {
        let body = &self.body;
        let newest = tx.newest_event(&run.id).await?;
        let mut read = match &self.vetted.facts {
            Some(facts) if facts.event == newest => facts.read.clone()?,
            _ => return Err(Error::Outdated),
        };
        read.now = tx.now;
        let shown = read.plan(run, None, Saved::default());
        if body.plan.is_some_and(|plan| plan != shown.hash) {
            let detail = "the run is no longer as the plan showed it: look at the new plan";
            return Err(Problem::new(Code::PlanChanged, detail)
                .with("plan", shown.hash)
                .into());
        }
        let mut settling = Vec::new();
        for (i, choice) in body.choices.iter().enumerate() {
            if body.choices[..i].iter().any(|it| it.step == choice.step) {
                let path = format!("choices/{i}/step");
                return Err(Problem::invalid(path, "has two choices").into());
            }
            settling.push(self.settling(tx, run, choice).await?);
            read.choose(&run.id, choice);
        }
        let plan = read.plan(run, None, Saved::default());
        if let Some(step) = plan.steps.iter().find(|it| it.action == PlanAction::Decide) {
            let seq = step.seq.unwrap_or_default();
            return Err(refused(format!(
                "step {seq} ({}) waits for a decision: {}",
                step.name, step.why
            )));
        }
        Ok(Order::Resume(settling, self.edited(tx, run).await?))
    }

    /// Hands the run back to the workers.
    pub(super) async fn release(&self, tx: &mut Tx, run: &mut RunRow) -> Result<(), Error> {
        tx.flush_rows().await?;
        let open = StepRow::open(tx.conn(), &run.id).await?;
        let waits = open.iter().any(|step| step.status == StepStatus::Waiting);
        let status = match waits {
            true => RunStatus::Waiting,
            false => RunStatus::Ready,
        };
        run.effects_unknown = unknown(&open);
        (run.signal, run.recoveries) = (None, 0);
        (run.runnable_at, run.finished_at) = (None, None);
        // The run's earlier result and error stay in its events.
        let sql = "UPDATE runs SET result = NULL, error = NULL WHERE id = $1";
        tx.conn().execute(sql, params![run.id.as_str()]).await?;
        lease_end::become_status(tx, run, status);
        Ok(())
    }
}
