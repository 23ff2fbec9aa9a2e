//! The reference: one run in a few fields, by the words of the protocol and nothing else; and what its worker does.

use std::collections::{BTreeMap, BTreeSet};

use super::ops::Op;

pub type State = BTreeMap<String, i64>;

#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub key: usize,
    pub status: &'static str,
    pub attempt: i64,
    /// The newest attempt can be committed: it runs, or a result was given.
    pub(super) open: bool,
    /// By which decision, until the agent has folded it in.
    pub(super) given: Option<&'static str>,
    pub(super) ordered: bool,
    pub(super) unknown: bool,
    /// The state when it first began.
    pub(super) base: State,
}

impl Step {
    /// It has an effect that happened, or may have.
    pub(super) fn may_have_happened(&self) -> bool {
        let effect = self.key == 1 || self.key == 2;
        effect
            && match self.status {
                "committed" | "crashed" | "running" => true,
                "failed" | "skipped" => self.unknown,
                _ => false,
            }
    }

    pub(super) fn superseded(self) -> Self {
        Self {
            status: "superseded",
            open: false,
            given: None,
            ..self
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    pub status: &'static str,
    pub version: i64,
    pub live: bool,
    pub epoch: i64,
    pub(super) signal: Option<&'static str>,
    pub(super) recoveries: i64,
    /// Leases that were given back: a repeated release is known by its epoch and by what it says.
    pub(super) released: BTreeSet<(i64, bool)>,
    pub steps: Vec<Step>,
    pub state: State,
    /// There is a decision that can be sent again.
    pub(super) decided: bool,
    /// A rewind or the fork that made this run left effects behind, and nobody acknowledged them.
    pub(super) left: bool,
    /// The run that the last operation made.
    pub fork: Option<Box<Reference>>,
}

/// What both sides show: status, version, steps by key and status, state.
pub type Seen = (String, i64, Vec<(usize, String)>, State);

impl Default for Reference {
    fn default() -> Self {
        Self {
            status: "pending",
            version: 1,
            live: false,
            epoch: 0,
            signal: None,
            recoveries: 0,
            released: BTreeSet::new(),
            steps: Vec::new(),
            state: State::new(),
            decided: false,
            left: false,
            fork: None,
        }
    }
}

impl Reference {
    pub fn seen(&self) -> Seen {
        let steps = self
            .steps
            .iter()
            .map(|step| (step.key, step.status.to_owned()));
        (
            self.status.to_owned(),
            self.version,
            steps.collect(),
            self.state.clone(),
        )
    }

    /// The step that counts for this key, by its place.
    pub fn of_key(&self, key: usize) -> Option<usize> {
        let counts = |step: &Step| step.key == key && step.status != "superseded";
        self.steps.iter().position(counts)
    }

    pub(super) fn become_status(&mut self, status: &'static str) {
        if self.status != status {
            self.status = status;
            self.version += 1;
        }
    }

    pub(super) fn any(&self, status: &str) -> bool {
        self.steps.iter().any(|step| step.status == status)
    }

    fn end_lease(&mut self, pause: bool) {
        let mut broke = false;
        for step in self
            .steps
            .iter_mut()
            .filter(|step| step.status == "running")
        {
            broke = true;
            (step.status, step.open) = ("crashed", false);
            step.unknown = step.key == 1 || step.key == 2;
        }
        self.recoveries += i64::from(broke);
        let asks = |step: &Step| step.status == "crashed" && step.key == 1 && !step.ordered;
        let held = broke && self.recoveries > 3;
        self.live = false;
        let status = match self.signal {
            Some("cancel") => "cancelled",
            _ if held || self.steps.iter().any(asks) => "crashed",
            Some(_) => "paused",
            None if pause => "paused",
            None if self.any("waiting") => "waiting",
            None => "ready",
        };
        if matches!(status, "cancelled" | "paused") {
            self.signal = None;
        }
        self.become_status(status);
    }

    fn fenced(&self, stale: bool) -> bool {
        self.live && !stale
    }

    /// What is answered: an outcome, or the code of the refusal.
    pub fn play(&mut self, op: &Op) -> String {
        match *op {
            Op::Lease { takeover } => self.lease(takeover),
            Op::Release { stale, pause }
                if self
                    .released
                    .contains(&(self.epoch - i64::from(stale), pause)) =>
            {
                "ok".into()
            }
            Op::Release { stale, pause } if self.fenced(stale) => {
                self.released.insert((self.epoch, pause));
                self.end_lease(pause);
                "ok".into()
            }
            Op::Begin {
                key,
                stale,
                other_name,
            } if self.fenced(stale) => self.begin(key, other_name),
            Op::Commit { key, stale, value } => self.commit(key, stale, value),
            Op::Fail { stale, value } => self.fail(stale, value),
            Op::Finish { stale, done } if self.fenced(stale) => self.finish(done),
            Op::Expire if self.live => {
                self.end_lease(false);
                "ok".into()
            }
            Op::Decide {
                kind,
                key,
                stale,
                new,
            } => self.decide(kind, key, stale, new),
            // It changes nothing, and hears what was said the first time.
            Op::Again => if self.decided { "ok" } else { "nothing" }.into(),
            _ => "lease_lost".into(),
        }
    }

    fn lease(&mut self, takeover: bool) -> String {
        if self.live && !takeover {
            return "lease_held".into();
        }
        if self.live {
            self.end_lease(false);
        }
        if !matches!(self.status, "pending" | "ready") {
            return "run_not_runnable".into();
        }
        self.epoch += 1;
        self.live = true;
        self.become_status("running");
        "ok".into()
    }

    fn begin(&mut self, key: usize, other_name: bool) -> String {
        let Some(at) = self.of_key(key) else {
            if self.signal.is_some() {
                return "stop".into();
            }
            let waits = key == 3;
            self.steps.push(Step {
                key,
                status: if waits { "waiting" } else { "running" },
                attempt: 1,
                open: !waits,
                given: None,
                ordered: false,
                unknown: false,
                base: self.state.clone(),
            });
            return if waits { "waiting" } else { "execute" }.into();
        };
        if other_name {
            return "key_conflict".into();
        }
        let signal = self.signal;
        let step = &mut self.steps[at];
        let (outcome, begins) = match step.status {
            "committed" | "skipped" => (step.given.unwrap_or("replay"), false),
            "waiting" => ("waiting", false),
            // The same epoch asks again: the same answer. A crash would have ended it.
            "running" => return if step.unknown { "check" } else { "execute" }.into(),
            "failed" if !step.ordered => ("failed", false),
            "crashed" if step.key == 1 && !step.ordered => ("stop", false),
            "crashed" if step.key == 2 && step.unknown => ("check", true),
            "crashed" if step.key == 2 && !step.ordered => ("check", true),
            _ => ("execute", true),
        };
        if begins && signal.is_some() {
            return "stop".into();
        }
        if begins {
            step.attempt += 1;
            (step.status, step.open, step.ordered) = ("running", true, false);
            // Only what a repeat must hear again.
            step.unknown = outcome == "check";
        }
        outcome.into()
    }

    fn commit(&mut self, key: usize, stale: bool, value: u8) -> String {
        let Some(at) = self.of_key(key) else {
            return "not_found".into();
        };
        let fenced = self.fenced(stale);
        let step = &mut self.steps[at];
        // No commit of the world repeats another: a settled attempt is over, whoever asks.
        if !step.open && step.given.is_none() && matches!(step.status, "committed" | "skipped") {
            return "attempt_over".into();
        }
        if !fenced {
            return "lease_lost".into();
        }
        if !step.open {
            return "attempt_over".into();
        }
        step.open = false;
        if step.given.take().is_none() {
            (step.status, step.unknown) = ("committed", false);
        }
        self.state.insert(format!("k{key}"), i64::from(value));
        self.recoveries = 0;
        "ok".into()
    }

    fn fail(&mut self, stale: bool, value: Option<u8>) -> String {
        let Some(at) = self.of_key(0) else {
            return "not_found".into();
        };
        let fenced = self.fenced(stale);
        let step = &mut self.steps[at];
        match (fenced, step.status) {
            (false, _) => "lease_lost",
            (true, "running") => {
                (step.status, step.open) = ("failed", false);
                let told = value.map(|value| ("failed".to_owned(), i64::from(value)));
                self.state.extend(told);
                "ok"
            }
            (true, _) => "attempt_over",
        }
        .into()
    }

    fn finish(&mut self, done: bool) -> String {
        if self.any("running") {
            return "step_in_flight".into();
        }
        self.live = false;
        self.signal = None;
        self.become_status(if done { "done" } else { "failed" });
        "ok".into()
    }
}
