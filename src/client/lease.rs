//! The worker's side of a lease: kept alive by heartbeats, and given up in time by its own clock.
//!
//! The store decides who holds a run. But a worker that was stopped or cut off cannot ask it, so it counts
//! for itself: from the moment a heartbeat was *sent*, on a clock that nobody sets. One margin before the
//! term can be over, the lease counts as lost for good: work under way is dropped, nothing more is sent.

use serde_json::Value;
use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
    time::{Duration, Instant},
};
use tokio::sync::watch;

use super::{error::Error, http::Client};
use crate::domain::{
    AgentError, Epoch, RunId, Signal,
    wire::protocol::{FinishOutcome, FinishRun, Heartbeat, LeaseAnswer, ReleaseRun},
};

/// A run that this worker holds.
#[derive(Debug)]
pub(super) struct Lease {
    pub client: Client,
    pub run: RunId,
    pub epoch: Epoch,
    pub ttl: Duration,
    standing: watch::Sender<Standing>,
}

#[derive(Debug, Clone, Copy)]
struct Standing {
    /// Until then the lease is certainly ours.
    safe_until: Instant,
    hold: Hold,
    stop: Option<Stop>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Hold {
    Held,
    /// The call that gives it back is under way: no heartbeat may come after it.
    Ending,
    Ended,
    Lost,
}

/// How a run is given back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Leave {
    /// For the next worker.
    Free,
    /// For the next worker, so many milliseconds later.
    Asleep(i64),
    /// For an operator, who resumes it.
    Paused,
}

/// Who wants the work to stop at the next step boundary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Stop {
    Operator(Signal),
    Process,
}

impl From<Stop> for Error {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Operator(signal) => Self::Stopped(signal),
            Stop::Process => Self::Interrupted,
        }
    }
}

/// How long before its end a lease counts as lost.
fn margin(ttl: Duration) -> Duration {
    (ttl / 10).max(Duration::from_millis(500)).min(ttl / 2)
}

/// The store cannot have granted the term before it was asked, so it lasts at least from there.
fn safe_until(sent: Instant, ttl: Duration) -> Instant {
    sent + ttl - margin(ttl)
}

impl Lease {
    /// `asked` is the moment the lease was first asked for: after a long poll, or with the server away in
    /// between, the term may be half over, so it is renewed before it is relied on.
    pub async fn take(
        client: &Client,
        answer: &LeaseAnswer,
        asked: Instant,
        ttl: Duration,
    ) -> Result<Self, Error> {
        let standing = Standing {
            safe_until: safe_until(asked, ttl),
            hold: Hold::Held,
            stop: answer.run.run.signal.map(Stop::Operator),
        };
        let lease = Self {
            client: client.clone().patience(ttl),
            run: answer.run.run.id.clone(),
            epoch: answer.epoch,
            ttl,
            standing: watch::Sender::new(standing),
        };
        if asked.elapsed() > ttl / 3 {
            let sent = Instant::now();
            lease
                .client
                .heartbeat(&lease.run, &lease.heartbeat())
                .await?;
            lease
                .standing
                .send_modify(|s| s.safe_until = safe_until(sent, ttl));
        }
        Ok(lease)
    }

    pub fn heartbeat(&self) -> Heartbeat {
        Heartbeat {
            epoch: self.epoch,
            ttl_ms: Some(self.ttl.as_millis() as i64),
        }
    }

    /// Ours, by the last word of the store and by our own clock. Once lost, it stays lost.
    pub fn held(&self) -> bool {
        self.standing.send_if_modified(|s| {
            let over = s.hold == Hold::Held && Instant::now() >= s.safe_until;
            if over {
                s.hold = Hold::Lost;
                tracing::warn!(run = %self.run, epoch = %self.epoch, "lease lost: no heartbeat came through in time");
            }
            over
        });
        self.standing.borrow().hold == Hold::Held
    }

    /// Lost or given back: there is nothing more to do under this lease.
    pub fn over(&self) -> bool {
        matches!(self.standing.borrow().hold, Hold::Ended | Hold::Lost)
    }

    /// Released or finished by us.
    pub fn given_back(&self) -> bool {
        self.standing.borrow().hold == Hold::Ended
    }

    pub fn lose(&self) {
        if self.turn(Hold::Held, Hold::Lost) {
            tracing::warn!(run = %self.run, epoch = %self.epoch, "lease lost: the store has ended it");
        }
    }

    fn turn(&self, from: Hold, to: Hold) -> bool {
        self.standing.send_if_modified(|s| {
            let turns = s.hold == from;
            s.hold = if turns { to } else { s.hold };
            turns
        })
    }

    /// Gives the run back, once.
    pub async fn release(&self, leave: Leave) -> Result<(), Error> {
        if !self.held() {
            return Ok(());
        }
        let release = ReleaseRun {
            epoch: self.epoch,
            after_ms: match leave {
                Leave::Asleep(after_ms) => Some(after_ms),
                Leave::Free | Leave::Paused => None,
            },
            pause: leave == Leave::Paused,
        };
        self.last(self.client.release(&self.run, &release)).await?;
        tracing::info!(run = %self.run, epoch = %self.epoch, ?leave, "released");
        Ok(())
    }

    /// Ends the run, well or badly.
    pub async fn finish(
        &self,
        outcome: FinishOutcome,
        result: Value,
        error: Option<AgentError>,
    ) -> Result<(), Error> {
        let finish = FinishRun {
            epoch: self.epoch,
            outcome,
            result,
            error,
        };
        self.last(self.client.finish(&self.run, &finish)).await?;
        tracing::info!(run = %self.run, epoch = %self.epoch, ?outcome, "finished");
        Ok(())
    }

    /// The last call under this lease; if it is refused, it was not the last.
    async fn last<T>(&self, call: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        if !self.held() || !self.turn(Hold::Held, Hold::Ending) {
            return Err(Error::LeaseLost);
        }
        let until = self.standing.borrow().safe_until;
        let answer = tokio::time::timeout_at(until.into(), call).await;
        let answer = answer.unwrap_or(Err(Error::LeaseLost));
        let hold = match &answer {
            Ok(_) => Hold::Ended,
            Err(Error::LeaseLost) => Hold::Lost,
            Err(_) => Hold::Held,
        };
        self.turn(Hold::Ending, hold);
        answer
    }

    /// Lets `work` go on for as long as the lease is held, and drops it the moment it is not.
    pub async fn hold<T>(&self, work: impl Future<Output = T>) -> Result<T, Error> {
        let mut gone = pin!(self.gone());
        let mut work = pin!(work);
        poll_fn(|cx| {
            // The clock first, and at every turn: a process that was stopped finds out here.
            if !self.held() || gone.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Err(Error::LeaseLost));
            }
            work.as_mut().poll(cx).map(Ok)
        })
        .await
    }

    /// A call to the server under this lease.
    pub async fn call<T>(&self, call: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let answer = self.hold(call).await?;
        if matches!(answer, Err(Error::LeaseLost)) {
            self.lose();
        }
        answer
    }

    async fn gone(&self) {
        let mut standing = self.standing.subscribe();
        while self.held() {
            let until = standing.borrow_and_update().safe_until;
            tokio::select! {
                () = tokio::time::sleep_until(until.into()) => {}
                _ = standing.changed() => {}
            }
        }
    }

    pub fn ask_to_stop(&self, stop: Stop) {
        self.standing.send_if_modified(|s| {
            // An operator's word is more telling than our own leaving.
            let news = s.stop.is_none() || matches!(stop, Stop::Operator(_));
            s.stop = if news { Some(stop) } else { s.stop };
            news
        });
    }

    pub fn asked_to_stop(&self) -> Option<Stop> {
        self.standing.borrow().stop
    }

    /// Resolves when somebody wants the work to stop.
    pub async fn stop_asked(&self) -> Stop {
        let mut standing = self.standing.subscribe();
        loop {
            if let Some(stop) = standing.borrow_and_update().stop {
                return stop;
            }
            // The sender is `self`, so there is always a next change to wait for.
            let _ = standing.changed().await;
        }
    }

    pub fn renew(&self, sent: Instant, signal: Option<Signal>) {
        if self.held() {
            self.standing
                .send_modify(|s| s.safe_until = safe_until(sent, self.ttl));
        }
        if let Some(signal) = signal {
            self.ask_to_stop(Stop::Operator(signal));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Code, Problem};

    #[test]
    fn the_margin_is_a_tenth_but_at_least_half_a_second_and_never_the_whole_term() {
        let of = |ms| margin(Duration::from_millis(ms)).as_millis();
        assert_eq!([of(1_000), of(3_000), of(30_000)], [500, 500, 3_000]);
        assert_eq!(of(600), 300);
    }

    fn lease(safe_for: Duration) -> Lease {
        Lease {
            client: Client::new("http://127.0.0.1:9", "t").unwrap(),
            run: "r".parse().unwrap(),
            epoch: Epoch(1),
            ttl: Duration::from_secs(30),
            standing: watch::Sender::new(Standing {
                safe_until: Instant::now() + safe_for,
                hold: Hold::Held,
                stop: None,
            }),
        }
    }

    #[tokio::test]
    async fn a_last_call_that_is_refused_was_not_the_last() {
        let lease = lease(Duration::from_secs(9));
        let refused = Problem::new(Code::StepInFlight, "a step is in flight");
        let answer = lease.last(async { Err::<(), _>(refused.into()) }).await;
        assert!(matches!(answer, Err(Error::Refused(_))));
        assert!(lease.held());
        lease.last(async { Ok(()) }).await.unwrap();
        assert!(!lease.held());
        let answer = lease.last(async { Ok(()) }).await;
        assert!(
            matches!(answer, Err(Error::LeaseLost)),
            "there is nothing left to give back"
        );
    }

    #[tokio::test]
    async fn work_is_dropped_when_the_clock_runs_out_and_no_late_answer_revives_it() {
        struct Dropped<'a>(&'a std::cell::Cell<bool>);
        impl Drop for Dropped<'_> {
            fn drop(&mut self) {
                self.0.set(true);
            }
        }
        let lease = lease(Duration::from_millis(20));
        let dropped = std::cell::Cell::new(false);
        let guard = Dropped(&dropped);
        let held = lease.hold(async move {
            let _guard = guard;
            std::future::pending::<()>().await
        });
        assert!(matches!(held.await, Err(Error::LeaseLost)));
        assert!(dropped.get());
        lease.renew(Instant::now(), None);
        assert!(!lease.held());
    }

    #[tokio::test]
    async fn a_renewed_lease_lets_the_work_go_on() {
        let lease = lease(Duration::from_millis(50));
        let work = async {
            lease.renew(Instant::now(), None);
            tokio::time::sleep(Duration::from_millis(80)).await;
            7
        };
        assert_eq!(lease.hold(work).await.unwrap(), 7);
    }

    #[tokio::test]
    async fn an_operators_word_replaces_our_own_leaving() {
        let lease = lease(Duration::from_secs(9));
        lease.ask_to_stop(Stop::Process);
        lease.ask_to_stop(Stop::Operator(Signal::Cancel));
        lease.ask_to_stop(Stop::Process);
        assert_eq!(lease.stop_asked().await, Stop::Operator(Signal::Cancel));
    }
}
