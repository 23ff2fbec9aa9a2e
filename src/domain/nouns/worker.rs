//! Workers: who holds which runs, who asks for work, and what was last refused to whom.

use serde::{Deserialize, Serialize};

use crate::domain::{
    nouns::{
        ids::{Epoch, RunId},
        run::At,
        time::Time,
    },
    rules::lease::LeaseEnd,
    wire::problem::Code,
};

/// A worker asks for work if it has done so within this time; one that waits at the server does so all along.
pub const ASKS_MS: i64 = 30_000;

/// How long a silent worker is remembered, in days.
pub const REMEMBERED_DAYS: i64 = 7;

/// A process that advances runs, by the name it gives itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Worker {
    pub name: String,
    /// The code version and model it gave last.
    pub version: Option<String>,
    pub model: Option<String>,
    /// The agents it worked or asked for.
    pub agents: Vec<String>,
    /// The runs it holds now, and how many more there are.
    pub holds: Vec<Hold>,
    pub holds_more: i64,
    pub heard_at: Time,
    pub asks: Option<Asks>,
    pub refused: Option<RefusedWrite>,
    /// When the last lease that it no longer has ended, and how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_ended: Option<(Time, LeaseEnd)>,
}

/// A lease as its worker's page shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hold {
    pub run: RunId,
    pub title: Option<String>,
    pub agent: String,
    pub epoch: Epoch,
    pub heartbeat_at: Option<Time>,
    pub expires_at: Time,
    pub at: Option<At>,
}

/// It asked for work and got none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Asks {
    pub since: Time,
    pub at: Time,
    /// For which agents; none stands for any.
    pub agents: Vec<String>,
}

impl Asks {
    /// `asked` is the first time it asked without a break, `let_go` the end of the last lease it had. A worker may ask for more
    /// while it holds a run: it is idle only once it has let go of that.
    pub fn idle_since(asked: Time, let_go: Option<Time>) -> Time {
        let_go.map_or(asked, |let_go| asked.max(let_go))
    }
}

/// A write that was not accepted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RefusedWrite {
    pub at: Time,
    /// "commit of step 47"
    pub what: String,
    pub run: RunId,
    pub code: Code,
    pub detail: String,
}

/// What a worker is doing, as far as the store knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    Works,
    Waits,
    /// It let go of its last run a moment ago and asks for no other.
    Idle,
    Silent,
}

impl Worker {
    pub fn doing(&self, now: Time) -> Doing {
        let lately = |at: Time| now.ms_since(at) < ASKS_MS;
        match &self.asks {
            _ if !self.holds.is_empty() => Doing::Works,
            // What it asked for before it fell silent says nothing of now.
            _ if self.lost() => Doing::Silent,
            Some(it) if lately(it.at) => Doing::Waits,
            _ if lately(self.heard_at) => Doing::Idle,
            _ => Doing::Silent,
        }
    }

    /// Its last lease ran out or was taken over, and it has not been heard from since.
    fn lost(&self) -> bool {
        self.lease_ended
            .is_some_and(|(at, by)| by.lost() && at > self.heard_at)
    }
}

/// A page of workers, the last heard first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkerPage {
    pub workers: Vec<Worker>,
    pub next: Option<String>,
    /// The store's clock when it was read.
    pub now: Time,
}

/// Who asks for an agent's runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asking {
    /// Workers that ask for it now.
    pub workers: i64,
    /// When the last one did.
    pub last: Option<Time>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_idle_before_the_end_of_the_last_run() {
        assert_eq!(Asks::idle_since(Time(5), None), Time(5));
        assert_eq!(Asks::idle_since(Time(5), Some(Time(9))), Time(9));
        assert_eq!(Asks::idle_since(Time(9), Some(Time(5))), Time(9));
    }

    fn worker(heard_at: Time) -> Worker {
        Worker {
            name: "w-1".into(),
            version: None,
            model: None,
            agents: vec![],
            holds: vec![],
            holds_more: 0,
            heard_at,
            asks: None,
            refused: None,
            lease_ended: None,
        }
    }

    #[test]
    fn a_worker_that_stopped_asking_is_silent_not_idle() {
        let now = Time(1_000_000_000);
        let mut worker = worker(now);
        worker.asks = Some(Asks {
            since: now,
            at: now,
            agents: vec![],
        });
        assert_eq!(worker.doing(now.plus_ms(ASKS_MS - 1)), Doing::Waits);
        assert_eq!(worker.doing(now.plus_ms(ASKS_MS)), Doing::Silent);
    }

    #[test]
    fn a_worker_that_lost_its_lease_is_silent_at_once_and_one_that_let_go_is_idle() {
        let now = Time(1_000_000_000);
        let ended = now.plus_ms(1_000);
        let after = |by| Worker {
            lease_ended: Some((ended, by)),
            asks: Some(Asks {
                since: now,
                at: now,
                agents: vec![],
            }),
            ..worker(now)
        };
        for by in [LeaseEnd::Expiry, LeaseEnd::Takeover] {
            assert_eq!(after(by).doing(ended), Doing::Silent);
            let late = Worker {
                heard_at: ended.plus_ms(1),
                asks: None,
                ..after(by)
            };
            assert_eq!(late.doing(ended.plus_ms(2)), Doing::Idle, "it spoke again");
        }
        let let_go = Worker {
            heard_at: ended,
            asks: None,
            ..after(LeaseEnd::Finish)
        };
        assert_eq!(let_go.doing(ended.plus_ms(5)), Doing::Idle);
        assert_eq!(let_go.doing(ended.plus_ms(ASKS_MS)), Doing::Silent);
    }
}
