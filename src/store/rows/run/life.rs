//! What happens to a run: where it is, who holds it, what it cost, whether it needs a person.

use super::RunRow;
use crate::{
    domain::{
        RunStatus, Time, Usage,
        nouns::run::{At, Lease, needs_you},
        rules::needs::Alike,
    },
    store::rows::StepRow,
};

impl RunRow {
    /// Where it stands among the runs that need a person: effects unknown first.
    pub fn needs(&self) -> Option<i64> {
        let at = self.at.as_ref().map(|at| at.status);
        self.place(needs_you(self.status, at, self.effects_unknown))
    }

    /// `needs` by the rule of earlier versions, which did not count gates under a live lease nor unknown effects of
    /// paused runs. Verification accepts either.
    pub fn needed(&self) -> Option<i64> {
        self.place(self.status.needs_you())
    }

    fn place(&self, needs: bool) -> Option<i64> {
        (needs && !self.acknowledged).then_some(i64::from(!self.effects_unknown))
    }

    pub fn cause(&self) -> Option<String> {
        match self.status {
            RunStatus::Crashed | RunStatus::Failed if !self.acknowledged => {
                Alike::of(&self.to_run()).map(|alike| alike.id())
            }
            _ => None,
        }
    }

    /// The run is at this step now. The error kind of another attempt is cleared.
    pub fn is_at(&mut self, step: &StepRow) {
        self.at = Some(At {
            seq: step.seq,
            name: step.name.clone(),
            status: step.status,
        });
        self.error_kind = None;
        self.strip.set(step.seq, step.status, step.attempts);
    }

    /// A step that may not be the one it is at.
    pub fn became(&mut self, step: &StepRow) {
        if let Some(at) = self.at.as_mut().filter(|at| at.seq == step.seq) {
            at.status = step.status;
        }
        self.strip.set(step.seq, step.status, step.attempts);
    }

    /// The lease, if one is alive at `now`.
    pub fn lease(&self) -> Option<Lease> {
        Some(Lease {
            worker: self.worker.clone()?,
            epoch: self.epoch,
            expires_at: self.expires_at?,
            heartbeat_at: self.heartbeat_at?,
        })
    }

    pub fn overdue(&self, now: Time) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }

    /// Each change of status is a new version of the run.
    pub fn become_status(&mut self, status: RunStatus) {
        if self.status != status {
            self.status = status;
            self.version += 1;
            self.acknowledged = false;
        }
    }

    pub fn spend(&mut self, usage: Option<&Usage>) {
        let Some(usage) = usage else { return };
        add(&mut self.usage.input_tokens, usage.input_tokens);
        add(&mut self.usage.output_tokens, usage.output_tokens);
        add(&mut self.usage.cost_usd, usage.cost_usd);
    }
}

fn add<T: std::ops::Add<Output = T> + Copy>(sum: &mut Option<T>, more: Option<T>) {
    *sum = match (*sum, more) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    };
}
