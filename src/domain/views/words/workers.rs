//! Workers in words: how an attempt and a lease ended, who fell silent, and who polls.

use super::{moment_at, number, times::is_near};
use crate::domain::{
    nouns::{time::Time, worker::Asking},
    rules::{lease::LeaseEnd, needs::EndedBy},
};

/// What is said of a worker that fell silent, as it stands between its name and a time. It does not say that it is dead.
pub const NOT_HEARD_SINCE: &str = "has not been heard from since";

/// How an attempt ended, as the time follows it: "Lease lost 3 min ago".
pub fn attempt_ended(by: EndedBy) -> &'static str {
    match by {
        EndedBy::Lease(LeaseEnd::Expiry | LeaseEnd::Takeover) => "Lease lost",
        EndedBy::Lease(LeaseEnd::Release) => "The worker released the run",
        EndedBy::Lease(LeaseEnd::Finish) => "The worker finished the run",
        EndedBy::Agent => "The agent said that it failed",
        EndedBy::Unknown => "The attempt ended",
    }
}

/// How the lease of a step in flight ended. Not known means that nothing sound says it.
pub fn lease_ended_mid_flight(by: Option<LeaseEnd>) -> &'static str {
    match by {
        Some(LeaseEnd::Expiry | LeaseEnd::Takeover) => "Lease lost between begin and commit.",
        Some(LeaseEnd::Release) => "The worker released the run between begin and commit.",
        Some(LeaseEnd::Finish) => "The worker finished the run between begin and commit.",
        None => "The lease ended between begin and commit.",
    }
}

/// Who polls for an agent's runs, while one of them waits: "No worker is polling for invoice-reconciler".
pub fn asking(agent: &str, asking: Asking, now: Option<Time>, offset: i32) -> String {
    match (asking.workers, asking.last) {
        (1, _) => format!("1 worker is polling for {agent}"),
        (2.., _) => format!("{} workers are polling for {agent}", number(asking.workers)),
        (_, Some(last)) => {
            let since = match now.is_some_and(|now| is_near(last, now)) {
                true => last.at_offset(offset).format("%H:%M").to_string(),
                false => moment_at(last, offset),
            };
            format!("No worker is polling for {agent}; the last one did at {since}")
        }
        // A worker that leases a run by its id never polls, so nothing is said about whether one is there.
        (_, None) => format!("No worker is polling for {agent}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_released_run_says_whether_anyone_asks_for_it() {
        let last = Time(1_794_794_449_114_000); // 2026-11-16T02:00:49.114Z
        let said =
            |workers, last, now, offset| asking("crm-sync", Asking { workers, last }, now, offset);
        let soon = Some(last.plus_ms(60_000));
        let one = "1 worker is polling for crm-sync";
        assert_eq!(said(1, Some(last), soon, 0), one);
        let two = "2 workers are polling for crm-sync";
        assert_eq!(said(2, Some(last), None, 0), two);
        let none = "No worker is polling for crm-sync";
        let recent = format!("{none}; the last one did at 03:00");
        assert_eq!(said(0, Some(last), soon, 60), recent);
        let later = Some(last.plus_ms(86_400_000));
        let since = format!("{none}; the last one did at 16 Nov 02:00");
        assert_eq!(said(0, Some(last), later, 0), since);
        assert_eq!(said(0, Some(last), None, 0), since);
        assert_eq!(said(0, None, soon, 0), none);
    }
}
