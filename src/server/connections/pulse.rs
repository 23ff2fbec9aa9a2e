//! What a connection is doing, and until when it may go on like that.

use std::sync::{Arc, Mutex, MutexGuard};
use tokio::time::{Duration, Instant};

use crate::server::config::Connections;

/// After SIGTERM a request whose first bytes are here, or that comes over a connection just made, may still arrive.
const GRACE: Duration = Duration::from_secs(1);

/// Shared by the connection's parts, which all run within one task.
#[derive(Debug, Clone)]
pub struct Pulse(Arc<Mutex<State>>);

#[derive(Debug, Clone, Copy)]
struct State {
    phase: Phase,
    since: Instant,
    /// It has had an answer.
    served: bool,
    /// Since when the client takes nothing of what is to be written.
    stuck: Option<Instant>,
    /// Since when the server stops.
    stopping: Option<Instant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Between requests.
    Quiet,
    /// Part of a request's head is here.
    Head,
    /// A request is being answered.
    Busy,
}

/// Why a connection is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Late {
    Head,
    Idle,
    Write,
    Stopping,
}

impl Late {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Head => "header",
            Self::Idle => "idle",
            Self::Write => "write",
            Self::Stopping => "stopping",
        }
    }
}

impl State {
    fn new(now: Instant) -> Self {
        Self {
            phase: Phase::Quiet,
            since: now,
            served: false,
            stuck: None,
            stopping: None,
        }
    }

    fn enter(&mut self, phase: Phase, now: Instant) {
        self.served |= self.phase == Phase::Busy;
        self.phase = phase;
        self.since = now;
    }

    fn heard(&mut self, now: Instant) {
        if self.phase == Phase::Quiet {
            self.enter(Phase::Head, now);
        }
    }

    fn wrote(&mut self, moved: bool, now: Instant) {
        self.stuck = match moved {
            true => None,
            false => self.stuck.or(Some(now)),
        };
    }

    fn deadline(&self, settings: &Connections) -> Option<(Instant, Late)> {
        let usual = match (self.phase, self.stuck) {
            (_, Some(at)) => Some((at + settings.write(), Late::Write)),
            (Phase::Busy, None) => None,
            (Phase::Quiet, None) if self.served => Some((self.since + settings.idle(), Late::Idle)),
            (Phase::Quiet | Phase::Head, None) => {
                Some((self.since + settings.header(), Late::Head))
            }
        };
        let stopping = self.stopping.and_then(|at| match self.phase {
            Phase::Busy => None,
            // The request is over, but the rest of its answer is still being written.
            Phase::Quiet if self.stuck.is_some() => None,
            Phase::Quiet if self.served => Some(at),
            Phase::Quiet => Some(self.since + GRACE),
            Phase::Head => Some(at + GRACE),
        });
        let stopping = stopping.map(|at| (at, Late::Stopping));
        [usual, stopping]
            .into_iter()
            .flatten()
            .min_by_key(|it| it.0)
    }
}

impl Pulse {
    pub fn new() -> Self {
        Self(Arc::new(Mutex::new(State::new(Instant::now()))))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(|it| it.into_inner())
    }

    /// Bytes came.
    pub fn heard(&self) {
        self.lock().heard(Instant::now());
    }

    /// Bytes could be written, or not.
    pub fn wrote(&self, moved: bool) {
        self.lock().wrote(moved, Instant::now());
    }

    /// A request's head is complete; it is being answered until this is dropped.
    pub fn begin(&self) -> Busy {
        self.lock().enter(Phase::Busy, Instant::now());
        Busy(self.clone())
    }

    pub fn is_busy(&self) -> bool {
        self.lock().phase == Phase::Busy
    }

    /// The server stops.
    pub fn stop(&self) {
        self.lock().stopping = Some(Instant::now());
    }

    /// When the connection is closed unless something happens before, and why.
    pub fn deadline(&self, settings: &Connections) -> Option<(Instant, Late)> {
        self.lock().deadline(settings)
    }
}

/// While a request is being answered.
#[derive(Debug)]
pub struct Busy(Pulse);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.lock().enter(Phase::Quiet, Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(state: &State, now: Instant) -> Option<(u128, Late)> {
        let (at, late) = state.deadline(&Connections::default())?;
        Some((at.duration_since(now).as_millis(), late))
    }

    #[test]
    fn every_phase_has_its_own_time() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut state = State::new(start);
        assert_eq!(due(&state, start), Some((10_000, Late::Head)));
        state.heard(after(4));
        state.heard(after(8));
        let bytes_buy_no_time = Some((6_000, Late::Head));
        assert_eq!(due(&state, after(8)), bytes_buy_no_time);
        state.enter(Phase::Busy, after(8));
        assert_eq!(due(&state, after(8)), None);
        state.wrote(false, after(8));
        state.wrote(false, after(12));
        assert_eq!(due(&state, after(12)), Some((56_000, Late::Write)));
        state.wrote(true, after(12));
        assert_eq!(due(&state, after(12)), None);
        state.enter(Phase::Quiet, after(12));
        assert_eq!(due(&state, after(12)), Some((95_000, Late::Idle)));
        state.heard(after(20));
        assert_eq!(due(&state, after(20)), Some((10_000, Late::Head)));
    }

    #[test]
    fn a_server_that_stops_waits_for_requests_only() {
        let now = Instant::now();
        let stopped = |phases: &[Phase]| {
            let mut state = State::new(now);
            phases.iter().for_each(|phase| state.enter(*phase, now));
            state.stopping = Some(now);
            due(&state, now)
        };
        assert_eq!(stopped(&[]), Some((1_000, Late::Stopping)));
        assert_eq!(stopped(&[Phase::Head]), Some((1_000, Late::Stopping)));
        assert_eq!(stopped(&[Phase::Busy]), None);
        let answered = stopped(&[Phase::Busy, Phase::Quiet]);
        assert_eq!(answered, Some((0, Late::Stopping)));
    }
}
