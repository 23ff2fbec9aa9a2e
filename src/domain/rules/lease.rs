//! What a run becomes when its lease ends: the rules of recovery.

use serde::{Deserialize, Serialize};

use crate::domain::{
    nouns::{run::OnCrash, status::RunStatus, step::Recovery},
    rules::decision::Signal,
};

/// How a lease ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LeaseEnd {
    Release,
    Finish,
    Expiry,
    Takeover,
}

crate::domain::nouns::status::words!(LeaseEnd {
    Release = "release", Finish = "finish", Expiry = "expiry", Takeover = "takeover",
});

impl LeaseEnd {
    /// The store ended it; its worker did not let go.
    pub fn lost(self) -> bool {
        matches!(self, Self::Expiry | Self::Takeover)
    }
}

/// What is known of a run at the moment its lease ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AtEnd<'a> {
    pub signal: Option<Signal>,
    /// The worker gives the run back as paused.
    pub pause: bool,
    pub on_crash: OnCrash,
    /// Endings with a step in flight since the last commit or resume, this one not counted.
    pub recoveries: i64,
    pub max_recoveries: i64,
    /// The recovery rules of the steps in flight now.
    pub in_flight: &'a [Recovery],
    /// A step crashed before and waits for an operator.
    pub asks: bool,
    pub open_gate: bool,
}

/// What the run becomes, and its count of recoveries after this ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    pub status: RunStatus,
    pub recoveries: i64,
}

/// The first that fits: cancelled · crashed · paused · waiting · ready.
pub fn end(at: AtEnd<'_>) -> Ended {
    let broke = !at.in_flight.is_empty();
    let recoveries = at.recoveries + i64::from(broke);
    let asks = at.asks || at.in_flight.contains(&Recovery::Ask);
    let held = broke && (at.on_crash == OnCrash::Hold || recoveries > at.max_recoveries);
    let status = match at.signal {
        Some(Signal::Cancel) => RunStatus::Cancelled,
        _ if asks || held => RunStatus::Crashed,
        Some(Signal::Pause) => RunStatus::Paused,
        None if at.pause => RunStatus::Paused,
        None if at.open_gate => RunStatus::Waiting,
        None => RunStatus::Ready,
    };
    Ended { status, recoveries }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn quiet() -> AtEnd<'static> {
        AtEnd {
            signal: None,
            pause: false,
            on_crash: OnCrash::Resume,
            recoveries: 0,
            max_recoveries: 3,
            in_flight: &[],
            asks: false,
            open_gate: false,
        }
    }

    #[test]
    fn a_release_between_steps_is_no_crash_even_for_a_run_that_holds() {
        let ended = end(AtEnd {
            on_crash: OnCrash::Hold,
            ..quiet()
        });
        assert_eq!(
            ended,
            Ended {
                status: RunStatus::Ready,
                recoveries: 0
            }
        );
    }

    #[test]
    fn recoveries_are_used_up_after_the_last_allowed_one() {
        let at = |n| {
            end(AtEnd {
                recoveries: n,
                in_flight: &[Recovery::Retry],
                ..quiet()
            })
            .status
        };
        assert_eq!(
            [at(0), at(2), at(3)],
            [RunStatus::Ready, RunStatus::Ready, RunStatus::Crashed]
        );
    }

    #[test]
    fn a_worker_may_pause_the_run_but_neither_uncancel_it_nor_hide_a_crash() {
        let paused = |signal, in_flight, open_gate| {
            let rules = [Recovery::Ask];
            let in_flight = if in_flight { &rules[..] } else { &[] };
            end(AtEnd {
                signal,
                pause: true,
                in_flight,
                open_gate,
                ..quiet()
            })
            .status
        };
        assert_eq!(paused(None, false, false), RunStatus::Paused);
        assert_eq!(paused(None, false, true), RunStatus::Paused);
        assert_eq!(paused(Some(Signal::Pause), false, false), RunStatus::Paused);
        assert_eq!(paused(None, true, false), RunStatus::Crashed);
        assert_eq!(
            paused(Some(Signal::Cancel), true, false),
            RunStatus::Cancelled
        );
    }

    fn any_end() -> impl Strategy<Value = (Option<Signal>, bool, i64, Vec<Recovery>, bool, bool)> {
        let signal = prop::option::of(prop_oneof![Just(Signal::Pause), Just(Signal::Cancel)]);
        let rule = prop_oneof![
            Just(Recovery::Retry),
            Just(Recovery::Check),
            Just(Recovery::Ask)
        ];
        let rules = prop::collection::vec(rule, 0..4);
        (
            signal,
            any::<bool>(),
            0..6i64,
            rules,
            any::<bool>(),
            any::<bool>(),
        )
    }

    proptest! {
        #[test]
        fn a_step_that_asks_is_never_released_to_a_worker(
            (signal, hold, recoveries, rules, asks, open_gate) in any_end(), pause in any::<bool>(),
        ) {
            let on_crash = if hold { OnCrash::Hold } else { OnCrash::Resume };
            let ended = end(AtEnd {
                signal, on_crash, recoveries, max_recoveries: 3, in_flight: &rules, asks, open_gate, pause,
            });
            let asking = asks || rules.contains(&Recovery::Ask);
            if asking {
                prop_assert!(matches!(ended.status, RunStatus::Crashed | RunStatus::Cancelled));
            }
            if ended.status == RunStatus::Crashed {
                prop_assert!(asking || !rules.is_empty(), "crashed means a begun attempt");
            }
            prop_assert_eq!(ended.recoveries - recoveries, i64::from(!rules.is_empty()));
            prop_assert_ne!(ended.status, RunStatus::Running);
        }
    }
}
