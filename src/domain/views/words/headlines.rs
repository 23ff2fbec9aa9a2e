//! What a run is, as a sentence and as a row says it.

use super::number;
use crate::domain::{
    nouns::{
        run::Run,
        status::{RunStatus, StepStatus},
    },
    rules::{decision::Signal, doubt::UNCHECKED},
    views::sheet::Aftermath,
};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::nouns::{run::At, sample, time::Time};

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
}
