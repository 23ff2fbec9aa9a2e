//! What is known, and what is not, of a step that crashed mid-flight.

use leptos::prelude::*;

use super::{excerpt::ExcerptBlock, time::At};
use crate::domain::{
    Attempt, DecisionKind, Outcome, Recovery, Run, Time,
    nouns::run::OnCrash,
    rules::{lease::LeaseEnd, offer::Standing},
    views::{
        sheet::{RunSheet, StepSheet},
        words,
    },
};

#[component]
pub fn CrashBanner(step: StepSheet, run: RunSheet) -> impl IntoView {
    let attempt = step.by_worker().cloned();
    let said_failed = attempt
        .as_ref()
        .is_some_and(|it| it.outcome == Outcome::Failed);
    let headline = match said_failed {
        true => "The agent says that it failed, and does not know whether the effect happened.",
        false => words::lease_ended_mid_flight(step.lease_end),
    };
    let effect = match &step.detail.step.effect {
        Some(effect) => {
            let target = effect.target.clone();
            let what = effect
                .description
                .clone()
                .map(|it| view! { <bdi>{it}</bdi>" — " });
            view! { {what}<bdi class="mono">{target}</bdi> }.into_any()
        }
        None => "none declared".into_any(),
    };
    let time = |at: Option<Time>| match at {
        Some(at) => view! { <span class="mono"><At at/></span> }.into_any(),
        None => "—".into_any(),
    };
    let begun = attempt.as_ref().map(|it| it.begun_at);
    let heartbeat = attempt.as_ref().and_then(|it| it.heartbeat_at);
    let ended = attempt.as_ref().and_then(|it| it.ended_at);
    let progress = last_progress(&step);
    let gone = step.detail.step.was.is_some();
    let over = run.run.status.over();
    // The key that went to the provider: the step's own may have been replaced since.
    let used = attempt.as_ref().and_then(|it| it.idempotency_key.clone());
    let key = used.unwrap_or_else(|| step.detail.step.idempotency_key.clone());
    view! {
        <section class="banner" aria-label="Crash">
            {step.evidence.clone().map(|evidence| view! {
                <div class="banner-evidence">
                    <p><b>"The worker sent its result late"</b>{late(&step).map(|at| view! { " at "<At at/> })}": evidence that the work was done. It changed nothing here."</p>
                    <ExcerptBlock title="late result" excerpt=Some(evidence)/>
                </div>
            })}
            <p class="banner-words">
                <b>{headline}</b>
                {(!said_failed).then_some(" The effect may have happened, not happened, or still be under way.")}
            </p>
            <dl class="banner-facts">
                <div><dt>"effect"</dt><dd>{effect}</dd></div>
                <div><dt>"begun"</dt><dd>{time(begun)}</dd></div>
                <div><dt>"idempotency key"</dt><dd><bdi class="mono">{key}</bdi></dd></div>
                <div><dt>"last heartbeat"</dt><dd>{time(heartbeat)}</dd></div>
                <div>{match gone {
                    true => view! { <dt>"now"</dt><dd>"not part of the run any more; it may happen again as a new step"</dd> }.into_any(),
                    false if over => view! { <dt>"can still be done"</dt><dd>{still_possible(&run.run)}</dd> }.into_any(),
                    false => view! { <dt>"held because"</dt><dd>{held_because(&step, &run)}</dd> }.into_any(),
                }}</div>
                <div><dt>"lease ended"</dt><dd>{time(ended)}</dd></div>
                <div><dt>"worker"</dt><dd><bdi>{worker_since(attempt.as_ref(), step.lease_end)}</bdi></dd></div>
                <div><dt>"last progress"</dt><dd class="mono"><bdi>{progress}</bdi></dd></div>
            </dl>
        </section>
    }
    .into_any()
}

/// When the late result came, after the lease had ended.
fn late(step: &StepSheet) -> Option<Time> {
    let attempts = step.detail.attempts.iter().rev();
    let evidence = attempts.filter_map(|it| it.evidence.as_ref()).next();
    evidence.map(|it| it.at)
}

/// The newest log line and the newest partial result: nothing says which of them came last.
fn last_progress(step: &StepSheet) -> String {
    let logged = step
        .detail
        .log
        .last()
        .map(|line| format!("“{}”", line.message));
    let partial = || {
        let partial = step.partial.as_ref()?;
        Some(partial.text.chars().take(120).collect::<String>())
    };
    let said: Vec<String> = logged.into_iter().chain(partial()).collect();
    match said.is_empty() {
        true => "—".into(),
        false => said.join(" · "),
    }
}

fn worker_since(attempt: Option<&Attempt>, lease_end: Option<LeaseEnd>) -> String {
    match attempt {
        Some(it) if it.evidence.is_some() => format!("{} sent its result late", it.worker),
        Some(it) if lease_end == Some(LeaseEnd::Release) => {
            format!("{} released the run", it.worker)
        }
        Some(it) => format!("{} {}", it.worker, words::NOT_HEARD_SINCE),
        None => "—".into(),
    }
}

fn held_because(step: &StepSheet, run: &RunSheet) -> String {
    let rule = step.detail.step.recovery;
    match rule {
        Recovery::Ask => "Recovery rule 'ask': a person must decide".into(),
        _ if run.on_crash == OnCrash::Hold => "this run is held after every crash".into(),
        _ if run.recoveries > run.max_recoveries => used_up(run.max_recoveries),
        Recovery::Retry => "Not held: it is safe to run again".into(),
        Recovery::Check => "Not held: the agent will check whether it happened".into(),
    }
}

/// What the server still accepts about a step that crashed in a run that is over.
fn still_possible(run: &Run) -> String {
    let offers = |kind| Standing::of(run).offers(kind, None);
    let open = run.unchecked() && offers(DecisionKind::Acknowledge);
    let acknowledge = open.then_some("acknowledge that the effect may have happened");
    let fork = offers(DecisionKind::Fork).then_some("fork the run");
    let rewind = offers(DecisionKind::Rewind).then_some("rewind it");
    let ways: Vec<_> = [acknowledge, fork, rewind].into_iter().flatten().collect();
    let ways = match ways.is_empty() {
        true => "nothing".to_owned(),
        false => ways.join(", or "),
    };
    format!("{ways}; the run is {} and cannot be resumed", run.status)
}

/// Every recovery that the run is allowed was made.
fn used_up(allowed: i64) -> String {
    match allowed {
        0 => "No recovery is allowed".into(),
        1 => "The 1 allowed recovery is used up".into(),
        n => format!("The {} allowed recoveries are used up", words::number(n)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{RunStatus, nouns::sample};

    #[test]
    fn a_run_that_is_over_offers_what_the_server_accepts() {
        let run = Run {
            status: RunStatus::Cancelled,
            effects_unknown: true,
            ..sample::run("a")
        };
        assert_eq!(
            still_possible(&run),
            "acknowledge that the effect may have happened, or fork the run; the run is cancelled and cannot be resumed"
        );
        let seen = Run {
            acknowledged: true,
            ..run
        };
        assert_eq!(
            still_possible(&seen),
            "fork the run; the run is cancelled and cannot be resumed"
        );
    }

    #[test]
    fn one_recovery_is_spoken_of_as_one() {
        assert_eq!(used_up(1), "The 1 allowed recovery is used up");
        assert_eq!(used_up(3), "The 3 allowed recoveries are used up");
    }
}
