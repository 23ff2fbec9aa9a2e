//! What an operator does to the reference: the protocol's table of decisions.

use super::{
    ops::Kind,
    reference::{Reference, Step},
};

impl Reference {
    pub(super) fn decide(&mut self, kind: Kind, key: usize, stale: bool, new: bool) -> String {
        if stale {
            return "version_conflict".into();
        }
        let at = self.of_key(key);
        let over = matches!(self.status, "done" | "cancelled");
        let held = matches!(self.status, "crashed" | "failed" | "paused");
        let still = held || matches!(self.status, "waiting" | "ready");
        let back = still || self.status == "done";
        let status = at.map(|at| self.steps[at].status);
        let broke = matches!(status, Some("crashed" | "failed"));
        let answers = matches!(kind, Kind::Approve | Kind::Reject | Kind::Answer);
        let about_step = answers || matches!(kind, Kind::Retry | Kind::Commit | Kind::Skip);
        if (about_step || kind == Kind::Rewind) && at.is_none() {
            // The table comes first for a rewind, the step for the others.
            let table_first = (kind == Kind::Rewind && !back) || (kind == Kind::Skip && over);
            return if table_first {
                "decision_refused"
            } else {
                "not_found"
            }
            .into();
        }
        let allowed = match kind {
            Kind::Retry | Kind::Commit => held && broke,
            Kind::Skip => !over && (broke || status == Some("waiting")),
            Kind::Approve | Kind::Reject | Kind::Answer => !over && status == Some("waiting"),
            Kind::Edit => still,
            Kind::Rewind => back,
            Kind::Resume => held && !self.undecided(),
            Kind::Pause | Kind::Cancel => !over,
            Kind::Note | Kind::Fork => true,
            Kind::Acknowledge => {
                matches!(self.status, "failed" | "crashed" | "cancelled") || self.left && !over
            }
        };
        if !allowed {
            return "decision_refused".into();
        }
        self.decided = true;
        match kind {
            Kind::Note => {}
            Kind::Fork => self.fork = Some(Box::new(self.forked(at))),
            _ => {
                self.version += 1;
                self.carry_out(kind, at.unwrap_or_default(), new);
            }
        }
        "ok".into()
    }

    /// A new run that shares what was settled before this step, or all of it.
    fn forked(&self, at: Option<usize>) -> Self {
        let settled = |step: &Step| matches!(step.status, "committed" | "skipped" | "failed");
        let from = at.unwrap_or(self.steps.len());
        let (before, beyond) = self.steps.split_at(from);
        let open = before.iter().filter(|step| !settled(step));
        let shared = self.steps[..at.unwrap_or(self.steps.len())].iter().cloned();
        Self {
            status: "ready",
            steps: shared
                .map(|step| {
                    if settled(&step) {
                        step
                    } else {
                        step.superseded()
                    }
                })
                .collect(),
            state: at.map_or(&self.state, |at| &self.steps[at].base).clone(),
            left: open.chain(beyond).any(Step::may_have_happened),
            ..Self::default()
        }
    }

    /// The plan holds a decision that nobody made.
    fn undecided(&self) -> bool {
        let crashed = |step: &Step| step.status == "crashed" && step.key == 1 && !step.ordered;
        let last_failed = self.steps.iter().rfind(|step| step.status == "failed");
        let failed = self.status == "failed" && last_failed.is_some_and(|step| !step.ordered);
        failed || self.steps.iter().any(crashed)
    }

    fn carry_out(&mut self, kind: Kind, at: usize, new: bool) {
        match kind {
            Kind::Retry => {
                let step = &mut self.steps[at];
                step.ordered = true;
                if new {
                    step.unknown = false;
                }
            }
            Kind::Commit | Kind::Skip | Kind::Approve | Kind::Reject | Kind::Answer => {
                let step = &mut self.steps[at];
                if step.status != "waiting" {
                    step.attempt += 1;
                }
                step.status = if kind == Kind::Skip {
                    "skipped"
                } else {
                    "committed"
                };
                (step.open, step.ordered) = (true, false);
                step.given = Some(kind.as_str());
                if self.status == "waiting" && !self.any("waiting") {
                    self.become_status("ready");
                }
            }
            Kind::Edit => {
                self.state.insert("edit".into(), self.version);
            }
            Kind::Rewind => {
                self.state = self.steps[at].base.clone();
                self.left |= self.steps[at..].iter().any(Step::may_have_happened);
                for step in &mut self.steps[at..] {
                    *step = step.clone().superseded();
                }
                match self.status {
                    "waiting" if !self.any("waiting") => self.become_status("ready"),
                    "done" => self.become_status("paused"),
                    _ => {}
                }
            }
            Kind::Resume => {
                (self.signal, self.recoveries) = (None, 0);
                let waits = self.any("waiting");
                self.become_status(if waits { "waiting" } else { "ready" });
            }
            Kind::Pause | Kind::Cancel if self.live => {
                if self.signal != Some("cancel") {
                    self.signal = Some(if kind == Kind::Cancel {
                        "cancel"
                    } else {
                        "pause"
                    });
                }
            }
            Kind::Pause => {
                self.signal = None;
                self.become_status("paused");
            }
            Kind::Cancel => {
                self.signal = None;
                self.become_status("cancelled");
            }
            Kind::Acknowledge => self.left = false,
            Kind::Note | Kind::Fork => {}
        }
    }
}
