//! How runs, times and amounts are said in words: the same on every screen and in the command line.

use crate::domain::{
    nouns::{
        run::Run,
        status::{RunStatus, StepStatus},
        step::{Step, StepDetail},
        time::Time,
        worker::Asking,
    },
    rules::{
        decision::{Decision, DecisionKind, Signal},
        doubt::UNCHECKED,
        lease::LeaseEnd,
        needs::EndedBy,
    },
    views::{counts::COUNT_MAX, sheet::Aftermath},
};

/// What stands for a status that cannot be relied on.
pub const DAMAGED: &str = "damaged in the store";

/// What is said of a step that someone rewound past.
pub const SUPERSEDED: &str = "superseded by a rewind";

/// What those read who may not decide.
pub const VIEW_ONLY: &str = "View only. Ask an operator to decide.";

/// A run's status as a heading.
pub fn run_status(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Pending => "Not started",
        RunStatus::Running => "Running",
        RunStatus::Waiting => "Waiting",
        RunStatus::Paused => "Paused",
        RunStatus::Crashed => "Crashed",
        RunStatus::Failed => "Failed",
        RunStatus::Ready => "Queued",
        RunStatus::Done => "Done",
        RunStatus::Cancelled => "Cancelled",
    }
}

/// A step's status as a word.
pub fn step_status(status: StepStatus) -> &'static str {
    match status {
        StepStatus::Pending => "announced",
        StepStatus::Running => "running",
        StepStatus::Committed => "committed",
        StepStatus::Failed => "failed",
        StepStatus::Crashed => "crashed mid-flight",
        StepStatus::Waiting => "waits for an answer",
        StepStatus::Skipped => "skipped",
        StepStatus::Superseded => "superseded",
    }
}

/// What is to be said of a step: its status, what was decided about it, what it was before a rewind.
pub fn step_stands(step: &Step) -> String {
    match step.was {
        Some(was) => format!("{}, {SUPERSEDED}", step_status(was)),
        None if step.decided() => "decided: runs again".into(),
        None if step.skipped_in_doubt() => "skipped; it may have happened".into(),
        None => step_status(step.status).into(),
    }
}

/// The same with the key that the next attempt has, where one is ordered.
pub fn detail_stands(detail: &StepDetail) -> String {
    match detail.expected() {
        Some(it) if it.new_key => "decided: runs again with a new key".into(),
        Some(_) => "decided: runs again with the same key".into(),
        None => step_stands(&detail.step),
    }
}

/// What an operator did, in the past.
pub fn decided(kind: DecisionKind) -> &'static str {
    match kind {
        DecisionKind::Retry => "retried by hand",
        DecisionKind::Commit => "committed by hand",
        DecisionKind::Skip => "skipped",
        DecisionKind::Approve => "approved",
        DecisionKind::Reject => "rejected",
        DecisionKind::Answer => "answered",
        DecisionKind::Edit => "state edited",
        DecisionKind::Rewind => "rewound",
        DecisionKind::Fork => "forked",
        DecisionKind::Resume => "resumed",
        DecisionKind::Pause => "pause requested",
        DecisionKind::Cancel => "cancelled",
        DecisionKind::Note => "note",
        DecisionKind::Pin => "pinned",
        DecisionKind::Claim => "is on it",
        DecisionKind::Acknowledge => "acknowledged",
    }
}

/// What the reader did a moment ago, with what they answered: "You answered “Refund €120.00”."
pub fn you_decided(decision: &Decision) -> String {
    let did = decided(decision.kind);
    match answer(decision) {
        Some(answer) => format!("You {did} “{answer}”."),
        None => format!("You {did}."),
    }
}

/// What was answered, as it was offered: "Refund €120.00".
pub fn answer(decision: &Decision) -> Option<String> {
    let chosen = decision.chosen.first()?;
    let answers = decision.kind == DecisionKind::Answer;
    let result = chosen.result.as_ref().filter(|_| answers)?;
    Some(result.as_answer())
}

/// What is said of a word that means nothing where it stands: which ones there are.
pub fn no_such(what: &str, value: &str, all: impl IntoIterator<Item = String>) -> String {
    let all: Vec<_> = all.into_iter().collect();
    format!(
        "There is no {what} “{value}”. It can be {}.",
        all.join(", ")
    )
}

/// As a sentence begins.
pub fn capital(mut words: String) -> String {
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    words
}

/// What a button says that approves: "Send €120.00 back?" without its question mark.
pub fn approve(question: &str) -> String {
    format!("Approve: {}", question.trim_end().trim_end_matches('?'))
}

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

/// "1 decision", "3 decisions".
pub fn several(n: i64, noun: &str) -> String {
    match n {
        1 => format!("1 {noun}"),
        n => format!("{} {noun}s", number(n)),
    }
}

/// What somebody did about a run, as it follows their name: "paused the run".
pub fn did(kind: DecisionKind, decision: &Decision) -> String {
    let at = |what: &str| match decision.step {
        Some(step) => format!("{what} step {}", number(step)),
        None => what.to_owned(),
    };
    match kind {
        DecisionKind::Retry => at("ordered a retry of"),
        DecisionKind::Commit => at("committed a result for"),
        DecisionKind::Skip => at("skipped"),
        DecisionKind::Approve => at("approved"),
        DecisionKind::Reject => at("rejected"),
        DecisionKind::Answer => at("answered"),
        DecisionKind::Edit => "edited the state".into(),
        DecisionKind::Rewind => rewound(decision),
        DecisionKind::Fork => at("forked the run from before"),
        DecisionKind::Resume => "resumed the run".into(),
        DecisionKind::Pause => "paused the run".into(),
        DecisionKind::Cancel => "cancelled the run".into(),
        DecisionKind::Note => "noted".into(),
        DecisionKind::Pin => "pinned the run".into(),
        DecisionKind::Claim => "is on it".into(),
        DecisionKind::Acknowledge => "acknowledged it".into(),
    }
}

/// "rewound the run to before step 43"
pub fn rewound(decision: &Decision) -> String {
    match decision.step {
        Some(step) => format!("rewound the run to before step {}", number(step)),
        None => "rewound the run".into(),
    }
}

/// What a run is after someone cancelled it or went back: that comes first, because the run stands at no step that broke.
pub fn headline_after(run: &Run, after: &Aftermath) -> String {
    match after.rewound_to {
        Some(step) => {
            let back = format!("Rewound to before step {}", number(step));
            match run.status {
                RunStatus::Ready => format!("{back}: waiting for a worker"),
                RunStatus::Waiting => format!("{back}: waits for an answer"),
                _ => back,
            }
        }
        None if run.status == RunStatus::Cancelled => {
            cancelled(run, after.cancelled.as_ref().map(|(by, _)| by.as_str()))
        }
        None => headline(run),
    }
}

/// "Cancelled by ana at step 47: an effect may have happened; nobody checked"
fn cancelled(run: &Run, by: Option<&str>) -> String {
    let by = by.map_or(String::new(), |by| format!(" by {by}"));
    let at = run.at.as_ref().map_or(String::new(), |at| {
        let how = if at.status.is_settled() {
            "after"
        } else {
            "at"
        };
        format!(" {how} step {}", number(at.seq))
    });
    match run.unchecked() {
        true => format!("Cancelled{by}{at}: an effect {UNCHECKED}"),
        false => format!("Cancelled{by}{at}"),
    }
}

/// A run's status as a sentence: "Crashed mid-flight at step 47".
pub fn headline(run: &Run) -> String {
    let at = |what: &str| match &run.at {
        Some(at) if at.status.is_settled() => format!("{what} after step {}", number(at.seq)),
        Some(at) => format!("{what} at step {}", number(at.seq)),
        None => what.to_owned(),
    };
    match run.status {
        RunStatus::Pending => "Not started: waiting for a worker".into(),
        RunStatus::Running => match &run.at {
            Some(at) if at.status == StepStatus::Running => {
                format!("Running step {}", number(at.seq))
            }
            Some(at) if at.status == StepStatus::Waiting => {
                format!("Waits for an answer at step {}", number(at.seq))
            }
            Some(at) => format!("Running, after step {}", number(at.seq)),
            None => "Running, before its first step".into(),
        },
        RunStatus::Waiting => at("Waits for an answer"),
        RunStatus::Paused => at("Paused"),
        RunStatus::Crashed if !broke(run) => at("Stopped"),
        RunStatus::Crashed => at("Crashed mid-flight"),
        RunStatus::Failed => at("Failed"),
        RunStatus::Ready if sleeps(run) => at("Sleeps"),
        RunStatus::Ready => "Queued: waiting for a worker".into(),
        RunStatus::Done => "Done".into(),
        RunStatus::Cancelled => cancelled(run, None),
    }
}

/// Where a run is now, as a row says it: "running 112 · summarise_source".
pub fn now_at(run: &Run) -> String {
    let at = |what: &str| match &run.at {
        Some(at) if at.status.is_settled() => {
            let what = what.trim_end_matches(" at");
            format!("{what} after {} · {}", number(at.seq), at.name)
        }
        Some(at) => format!("{what} {} · {}", number(at.seq), at.name),
        None => what.trim_end_matches(" at").to_owned(),
    };
    match run.status {
        RunStatus::Pending => "not started: waiting for a worker".into(),
        RunStatus::Running => {
            let doing = match run.at.as_ref().map(|at| at.status) {
                Some(StepStatus::Running) => at("running"),
                Some(StepStatus::Failed) => at("running, failed at"),
                Some(StepStatus::Waiting) => at("waits for an answer at"),
                Some(status) if status.is_settled() => at("running,"),
                Some(_) => at("running, after"),
                None => "running, before its first step".into(),
            };
            match run.signal {
                Some(Signal::Pause) => format!("{doing}; pause requested"),
                Some(Signal::Cancel) => format!("{doing}; cancel requested"),
                None => doing,
            }
        }
        RunStatus::Waiting => match &run.at {
            Some(at) => format!("waits for an answer · {}", at.name),
            None => "waits for an answer".into(),
        },
        RunStatus::Paused => at("paused at"),
        RunStatus::Crashed if !broke(run) => at("stopped at"),
        RunStatus::Crashed => at("crashed at"),
        RunStatus::Failed => at("failed at"),
        RunStatus::Ready if sleeps(run) => "asleep, wakes by itself".into(),
        RunStatus::Ready => "queued: waiting for a worker".into(),
        RunStatus::Done => "done".into(),
        RunStatus::Cancelled => {
            let at = run.at.as_ref();
            let at = at.map_or(String::new(), |at| format!(" at {}", number(at.seq)));
            // Where a row is cut, what nobody checked is still read.
            match run.unchecked() {
                true => format!("an effect {UNCHECKED} · cancelled{at}"),
                false => format!("cancelled{at}"),
            }
        }
    }
}

/// Whether the step that the run is at broke. After a rewind the run is at a settled step, which did not.
fn broke(run: &Run) -> bool {
    run.at.as_ref().is_none_or(|at| !at.status.is_settled())
}

/// Its worker asked to be called again only later.
fn sleeps(run: &Run) -> bool {
    run.runnable_at.is_some_and(|at| at > run.updated_at)
}

/// A span with the two units that matter: "36m 29s", "3h 51m", "0.8 s".
pub fn span(ms: i64) -> String {
    let ms = ms.max(0);
    let (s, m, h, d) = (ms / 1_000, ms / 60_000, ms / 3_600_000, ms / 86_400_000);
    match ms {
        0..=99 => format!("{ms} ms"),
        100..=9_999 => format!("{}.{} s", s, ms % 1_000 / 100),
        10_000..=59_999 => format!("{s} s"),
        60_000..=3_599_999 => format!("{m}m {:02}s", s % 60),
        3_600_000..=86_399_999 => format!("{h}h {:02}m", m % 60),
        _ => format!("{d}d {:02}h", h % 24),
    }
}

/// How long ago, in one unit.
pub fn ago(ms: i64) -> String {
    match ms {
        ..5_000 => "now".into(),
        5_000..60_000 => format!("{} s ago", ms / 1_000),
        60_000..3_600_000 => format!("{} min ago", ms / 60_000),
        3_600_000..86_400_000 => format!("{} h ago", ms / 3_600_000),
        _ => format!("{} d ago", ms / 86_400_000),
    }
}

/// The same within a sentence: "4 seconds ago".
pub fn ago_in_full(ms: i64) -> String {
    let (n, unit) = match ms {
        ..1_500 => return "a moment ago".into(),
        1_500..60_000 => (ms / 1_000, "second"),
        60_000..3_600_000 => (ms / 60_000, "minute"),
        3_600_000..86_400_000 => (ms / 3_600_000, "hour"),
        _ => (ms / 86_400_000, "day"),
    };
    format!("{} ago", several(n, unit))
}

/// A moment that fits a column, for readers without a clock: "16 Nov 02:00".
pub fn moment(at: Time) -> String {
    moment_at(at, 0)
}

/// The same, so many minutes east of UTC.
pub fn moment_at(at: Time, offset: i32) -> String {
    at.at_offset(offset).format("%-d %b %H:%M").to_string()
}

/// A moment in full: "16 Nov 2026 02:00:49 UTC".
pub fn moment_in_full(at: Time) -> String {
    moment_in_full_at(at, 0)
}

/// The same, so many minutes east of UTC: "16 Nov 2026 07:30:49 UTC+5:30".
pub fn moment_in_full_at(at: Time, offset: i32) -> String {
    let moment = at.at_offset(offset).format("%-d %b %Y %H:%M:%S");
    format!("{moment} {}", zone(offset))
}

/// A time of day to the millisecond: "09:50:25.114".
pub fn time_of_day(at: Time) -> String {
    time_of_day_at(at, 0)
}

/// The same, so many minutes east of UTC.
pub fn time_of_day_at(at: Time, offset: i32) -> String {
    at.at_offset(offset).format("%H:%M:%S%.3f").to_string()
}

/// A zone by its distance from UTC: "UTC", "UTC+1", "UTC−3:30".
fn zone(offset: i32) -> String {
    let (hours, minutes) = (offset.abs() / 60, offset.abs() % 60);
    let sign = if offset < 0 { '−' } else { '+' };
    match (hours, minutes) {
        (0, 0) => "UTC".into(),
        (hours, 0) => format!("UTC{sign}{hours}"),
        (hours, minutes) => format!("UTC{sign}{hours}:{minutes:02}"),
    }
}

/// Who polls for an agent's runs, while one of them waits: "No worker is polling for invoice-reconciler".
pub fn asking(agent: &str, asking: Asking, now: Option<Time>, offset: i32) -> String {
    match (asking.workers, asking.last) {
        (1, _) => format!("1 worker is polling for {agent}"),
        (2.., _) => format!("{} workers are polling for {agent}", number(asking.workers)),
        (_, Some(last)) => {
            let today = now.is_some_and(|now| now.ms_since(last) < 12 * 3_600_000);
            let since = match today {
                true => last.at_offset(offset).format("%H:%M").to_string(),
                false => moment_at(last, offset),
            };
            format!("No worker is polling for {agent}; the last one did at {since}")
        }
        // A worker that leases a run by its id never polls, so nothing is said about whether one is there.
        (_, None) => format!("No worker is polling for {agent}"),
    }
}

/// A time of day in a zone: "09:50:25".
pub fn time_to_the_second_at(at: Time, offset: i32) -> String {
    at.at_offset(offset).format("%H:%M:%S").to_string()
}

/// A moment in the past as it is said now: "09:50:25", and with its day where that is long ago.
pub fn since_at(at: Time, now: Time, offset: i32) -> String {
    match now.ms_since(at) < 12 * 3_600_000 {
        true => time_to_the_second_at(at, offset),
        false => moment_at(at, offset),
    }
}

/// A mark on an axis that is `length` microseconds long, in a zone.
pub fn tick_at(at: Time, length: i64, offset: i32) -> String {
    const SECOND: i64 = 1_000_000;
    let format = match length / SECOND {
        0..6 => "%H:%M:%S%.3f",
        6..600 => "%H:%M:%S",
        600..120_000 => "%H:%M",
        120_000..1_200_000 => "%-d %b %H:%M",
        _ => "%-d %b",
    };
    at.at_offset(offset).format(format).to_string()
}

/// By how much a state changed: "+1.2 kB", "−88 B"; unchanged is a dash.
pub fn state_change(bytes: Option<i64>) -> String {
    match bytes {
        None => "—".into(),
        Some(0) => "±0 B".into(),
        Some(more @ 1..) => format!("+{}", size(more)),
        Some(less) => format!("−{}", size(-less)),
    }
}

/// An amount; unknown is a dash, never zero.
pub fn cost(usd: Option<f64>) -> String {
    match usd {
        Some(usd) if usd > 0.0 && usd < 0.0001 => "<$0.0001".into(),
        Some(usd) if usd != 0.0 && usd.abs() < 0.01 => format!("${usd:.4}"),
        Some(usd) => format!("${usd:.2}"),
        None => "—".into(),
    }
}

/// A bounded count: "212", "1,000+".
pub fn count(n: i64) -> String {
    match n {
        COUNT_MAX.. => "1,000+".into(),
        n => n.to_string(),
    }
}

/// A number with thousands apart: "8,204".
pub fn number(n: i64) -> String {
    let digits = n.unsigned_abs().to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if n < 0 { format!("−{text}") } else { text }
}

/// A size: "612 B", "4.0 kB".
pub fn size(bytes: i64) -> String {
    match bytes {
        ..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::nouns::{run::At, sample};

    #[test]
    fn a_question_becomes_what_is_approved() {
        let said = approve("Send €120.00 back to the customer?");
        assert_eq!(said, "Approve: Send €120.00 back to the customer");
        assert_eq!(approve("Deploy"), "Approve: Deploy");
    }

    #[test]
    fn a_row_says_where_the_run_is() {
        let mut run = sample::run("a");
        assert_eq!(now_at(&run), "running, before its first step");
        let at = |status| {
            Some(At {
                seq: 47,
                name: "charge_card".into(),
                status,
            })
        };
        run.at = at(StepStatus::Running);
        assert_eq!(now_at(&run), "running 47 · charge_card");
        run.at = at(StepStatus::Crashed);
        run.status = RunStatus::Crashed;
        assert_eq!(now_at(&run), "crashed at 47 · charge_card");
        assert_eq!(headline(&run), "Crashed mid-flight at step 47");
        run.at = None;
        assert_eq!(now_at(&run), "crashed");
    }

    #[test]
    fn a_cancelled_run_says_who_cancelled_it_and_what_nobody_checked() {
        let mut run = Run {
            status: RunStatus::Cancelled,
            effects_unknown: true,
            at: Some(At {
                seq: 47,
                name: "charge_card".into(),
                status: StepStatus::Crashed,
            }),
            ..sample::run("a")
        };
        let after = Aftermath {
            cancelled: Some(("ana".into(), Time(0))),
            ..Aftermath::default()
        };
        assert_eq!(
            headline_after(&run, &after),
            "Cancelled by ana at step 47: an effect may have happened; nobody checked"
        );
        assert_eq!(
            now_at(&run),
            "an effect may have happened; nobody checked · cancelled at 47"
        );
        run.acknowledged = true;
        assert_eq!(headline_after(&run, &after), "Cancelled by ana at step 47");
        assert_eq!(now_at(&run), "cancelled at 47");
    }

    #[test]
    fn spans_and_ages_read_like_the_screens() {
        let spans = [12, 800, 42_000, 2_189_000, 13_860_000, 100_000_000].map(span);
        assert_eq!(
            spans,
            ["12 ms", "0.8 s", "42 s", "36m 29s", "3h 51m", "1d 03h"]
        );
        let ages = [-3, 40_000, 720_000, 7_200_000, 604_800_000].map(ago);
        assert_eq!(
            ages,
            ["now", "40 s ago", "12 min ago", "2 h ago", "7 d ago"]
        );
        let ages = [-3, 1_900, 4_200, 720_000, 7_200_000, 604_800_000].map(ago_in_full);
        assert_eq!(
            ages,
            [
                "a moment ago",
                "1 second ago",
                "4 seconds ago",
                "12 minutes ago",
                "2 hours ago",
                "7 days ago"
            ]
        );
    }

    #[test]
    fn a_moment_is_said_in_the_readers_zone() {
        let at = Time(1_794_794_449_114_000); // 2026-11-16T02:00:49.114Z
        assert_eq!(moment(at), "16 Nov 02:00");
        assert_eq!(moment_at(at, -180), "15 Nov 23:00");
        assert_eq!(time_of_day(at), "02:00:49.114");
        assert_eq!(time_of_day_at(at, 330), "07:30:49.114");
        assert_eq!(since_at(at, at.plus_ms(60_000), 330), "07:30:49");
        assert_eq!(since_at(at, at.plus_ms(86_400_000), 330), "16 Nov 07:30");
        assert_eq!(moment_in_full(at), "16 Nov 2026 02:00:49 UTC");
        let in_full = [60, 330, -210].map(|offset| moment_in_full_at(at, offset));
        assert_eq!(
            in_full,
            [
                "16 Nov 2026 03:00:49 UTC+1",
                "16 Nov 2026 07:30:49 UTC+5:30",
                "15 Nov 2026 22:30:49 UTC−3:30",
            ]
        );
    }

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

    #[test]
    fn amounts_never_claim_what_is_unknown() {
        assert_eq!(
            [None, Some(0.0), Some(18.42), Some(0.0004), Some(1e-6)].map(cost),
            ["—", "$0.00", "$18.42", "$0.0004", "<$0.0001"]
        );
        assert_eq!([37, 1_000].map(count), ["37", "1,000+"]);
        assert_eq!(
            [8_204, 999, 1_000_000].map(number),
            ["8,204", "999", "1,000,000"]
        );
        assert_eq!([612, 4_000].map(size), ["612 B", "4.0 kB"]);
    }
}
