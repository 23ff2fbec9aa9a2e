//! The end of a lease, by whatever cause: steps in flight become crashed, and the run what the rules say.

use serde_json::json;

use super::{
    engine::params,
    error::Error,
    rows::{AttemptRow, RunRow, StepRow, attempt, lease as leases},
    tx::Tx,
};
use crate::domain::{
    DecisionKind, EventKind, Hash, Outcome, Recovery, RunStatus, StepStatus, Time,
    rules::lease::{self, AtEnd, LeaseEnd},
};

/// What the worker says when it lets go by itself.
#[derive(Default)]
pub struct Said {
    /// The request, as a hash: it makes a repeat known.
    pub body: Option<Hash>,
    /// The run is to be paused.
    pub pause: bool,
}

/// Ends the run's lease; the caller saves the run.
pub async fn end(tx: &mut Tx, run: &mut RunRow, by: LeaseEnd, said: Said) -> Result<(), Error> {
    // A lease that ran out ended at that instant, not when somebody looked.
    let at = match by {
        LeaseEnd::Expiry => run.expires_at.unwrap_or(tx.now),
        _ => tx.now,
    };
    // All rows are read before the first one is written: a damaged row then refuses the command without a rollback.
    let open = StepRow::open(tx.conn(), &run.id).await?;
    let running = open
        .iter()
        .filter(|step| step.status == StepStatus::Running);
    let mut in_flight = Vec::new();
    let mut crashing = Vec::new();
    for step in running {
        let attempt = AttemptRow::load(tx.conn(), &run.id, step.seq, step.attempts).await?;
        crashing.push((step.clone(), attempt));
        in_flight.push(step.recovery);
    }
    amend(tx, run, by, at, said.body).await?;
    for (step, attempt) in crashing {
        crash(tx, run, step, attempt, at).await?;
    }
    run.effects_unknown = open.iter().any(|step| match step.status {
        StepStatus::Running => step.effect.is_some(),
        _ => step.unknown,
    });
    let ended = lease::end(AtEnd {
        signal: run.signal,
        pause: said.pause,
        on_crash: run.on_crash,
        recoveries: run.recoveries,
        max_recoveries: run.max_recoveries,
        in_flight: &in_flight,
        asks: open.iter().any(asks),
        open_gate: open.iter().any(|step| step.status == StepStatus::Waiting),
    });
    closed(tx, run, by, at);
    run.recoveries = ended.recoveries;
    become_status(tx, run, ended.status);
    match ended.status {
        RunStatus::Cancelled => (run.signal, run.finished_at) = (None, Some(at)),
        RunStatus::Paused => run.signal = None,
        _ => {}
    }
    Ok(())
}

/// Crashed, and nobody has decided about it.
fn asks(step: &StepRow) -> bool {
    let decided = step.decision == Some(DecisionKind::Retry);
    step.status == StepStatus::Crashed && step.recovery == Recovery::Ask && !decided
}

/// Ends the lease in the run's row; the caller sets the run's status.
pub async fn close(
    tx: &mut Tx,
    run: &mut RunRow,
    by: LeaseEnd,
    at: Time,
    body: Option<Hash>,
) -> Result<(), Error> {
    amend(tx, run, by, at, body).await?;
    closed(tx, run, by, at);
    Ok(())
}

/// Writes down in the lease's row that it is over.
async fn amend(
    tx: &mut Tx,
    run: &RunRow,
    by: LeaseEnd,
    at: Time,
    body: Option<Hash>,
) -> Result<(), Error> {
    let key = params![run.id.as_str(), run.epoch.0];
    let ended = vec![
        ("ended_at", at.into()),
        ("ended_by", by.as_str().into()),
        ("body", body.into()),
    ];
    leases::TABLE.amend(tx.conn(), key, ended).await?;
    Ok(())
}

fn closed(tx: &mut Tx, run: &mut RunRow, by: LeaseEnd, at: Time) {
    tracing::info!(run = %run.id, epoch = run.epoch.0, by = by.as_str(), "lease ended");
    let data = json!({"epoch": run.epoch, "worker": run.worker, "by": by, "at": at});
    tx.emit(&run.id, None, EventKind::LeaseEnded, data);
    run.expires_at = None;
    run.updated_at = tx.now;
    // Release and finish are signs of life; expiry and takeover are not.
    if matches!(by, LeaseEnd::Release | LeaseEnd::Finish) {
        run.heartbeat_at = Some(at);
    }
}

/// Changes the status and says so, unless it stays the same.
pub fn become_status(tx: &mut Tx, run: &mut RunRow, status: RunStatus) {
    let from = run.status;
    if from == status {
        return;
    }
    run.become_status(status);
    let data = json!({"from": from, "to": status, "version": run.version});
    tx.emit(&run.id, None, EventKind::RunStatus, data);
}

async fn crash(
    tx: &mut Tx,
    run: &mut RunRow,
    mut step: StepRow,
    attempt: Option<AttemptRow>,
    at: Time,
) -> Result<(), Error> {
    step.status = StepStatus::Crashed;
    step.ended_at = Some(at);
    step.unknown = step.effect.is_some();
    step.update(tx.conn()).await?;
    if let Some(mut attempt) = attempt {
        attempt.outcome = Outcome::Crashed;
        attempt.heartbeat_at = run.heartbeat_at;
        attempt.ended_at = Some(at);
        tx.later(&run.id, &attempt::END, attempt.ended(None));
    }
    run.is_at(&step);
    tracing::warn!(run = %run.id, step = step.seq, key = %step.key, "step crashed mid-flight");
    let data = json!({
        "attempt": step.attempts, "recovery": step.recovery, "effect": step.effect,
        "heartbeat_at": run.heartbeat_at,
    });
    tx.emit(&run.id, Some(step.seq), EventKind::StepCrashed, data);
    Ok(())
}
