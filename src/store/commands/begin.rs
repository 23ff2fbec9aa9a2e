//! An agent begins a step: the intent is recorded before the work.

mod at_hand;
mod brings;

use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::OnceLock;

use super::{HEAVY, decide::given_attempt, holding, reference::register, renew};
use crate::{
    aside::{LONG, aside},
    domain::{
        Code, DecisionKind, Epoch, EventKind, Outcome, Problem, Recovery, RunId, StepStatus,
        rules::begin::{self, Asked, BeginOutcome},
        wire::protocol::{BeginAnswer, NextStep},
    },
    store::{
        Error, Store,
        content::Content,
        rows::{Announcements, AttemptRow, RunRow, StepRow, attempt, step},
        tx::Tx,
        writer::Command,
    },
};
pub use at_hand::AtHand;
use at_hand::Recorded;
pub use brings::Brings;

pub struct Begin {
    run: RunId,
    epoch: Epoch,
    step: NextStep,
    brings: OnceLock<Brings>,
    at_hand: AtHand,
}

impl Begin {
    pub fn new(run: RunId, epoch: Epoch, step: NextStep) -> Self {
        Self {
            run,
            epoch,
            step,
            brings: OnceLock::new(),
            at_hand: AtHand::default(),
        }
    }

    fn brings(&self) -> &Brings {
        self.brings.get_or_init(|| Brings::of(&self.step))
    }
}

#[async_trait]
impl Command for Begin {
    type Answer = BeginAnswer;

    async fn prepare(&mut self, store: &Store) -> Result<(), Error> {
        if Brings::are_long(&self.step, LONG) {
            aside(|| self.brings()).await;
        }
        self.at_hand.prepare(store, &self.run).await
    }

    fn heavy(&self) -> bool {
        Brings::are_long(&self.step, HEAVY) || self.at_hand.is_heavy()
    }

    async fn apply(&self, tx: &mut Tx) -> Result<BeginAnswer, Error> {
        let mut run = holding(tx, &self.run, self.epoch).await?;
        let brings = (self.brings(), &self.at_hand);
        let answer = begin(tx, &mut run, &self.step, brings).await??;
        renew(tx, &mut run);
        tx.save(&run);
        Ok(answer)
    }
}

/// Begins the step under the run's live lease; the caller renews and saves the run. What the agent did wrong is told
/// apart from errors, and before anything is written: a commit stands though its fused `next` is refused.
pub async fn begin(
    tx: &mut Tx,
    run: &mut RunRow,
    step: &NextStep,
    (brings, at_hand): (&Brings, &AtHand),
) -> Result<Result<BeginAnswer, Problem>, Error> {
    let known = StepRow::by_key(tx.conn(), &run.id, &step.key).await?;
    let asked = Asked {
        name: &step.name,
        kind: step.kind,
        input: brings.input.hash,
        refs: &step.refs,
        epoch: run.epoch,
        signal: run.signal,
    };
    let decided = begin::begin(&asked, known.as_ref().map(StepRow::known).as_ref());
    let drift = known
        .as_ref()
        .is_some_and(|known| begin::drifted(&asked, &known.known()));
    if matches!(decided, begin::Begin::Conflict) {
        let detail = format!(
            "key {:?} belongs to a step of another name",
            step.key.as_str()
        );
        return Ok(Err(Problem::new(Code::KeyConflict, detail)));
    }
    let recorded = match &known {
        Some(known) => at_hand.recorded(tx.conn(), known, decided).await?,
        None => Recorded::default(),
    };
    register(tx, run, &step.refs).await?;
    let answer = match (decided, known) {
        (begin::Begin::Attempt(outcome), None) => first(tx, run, step, brings, outcome).await?,
        (begin::Begin::Attempt(outcome), Some(known)) => {
            again(tx, run, (step, brings), known, (outcome, drift)).await?
        }
        (begin::Begin::Again(outcome), Some(known)) => BeginAnswer {
            drift,
            ..told(run, &known, outcome)
        },
        (begin::Begin::Recorded(outcome), Some(known)) => {
            replayed(tx, run, known, outcome, drift).await?
        }
        (begin::Begin::Again(_) | begin::Begin::Recorded(_), None)
        | (begin::Begin::Conflict, _) => stopped(run),
    };
    Ok(Ok(recorded.put_into(answer)))
}

/// Pause or cancel was asked: nothing began, and there is no step yet.
fn stopped(run: &RunRow) -> BeginAnswer {
    BeginAnswer {
        seq: run.steps + 1,
        outcome: BeginOutcome::Stop,
        attempt: None,
        idempotency_key: None,
        result: None,
        error: None,
        partial: None,
        decision: None,
        snapshot: None,
        drift: false,
        signal: run.signal,
    }
}

/// Do the work, or look whether it happened: this attempt, with this key for the provider.
fn told(run: &RunRow, step: &StepRow, outcome: BeginOutcome) -> BeginAnswer {
    BeginAnswer {
        seq: step.seq,
        outcome,
        attempt: Some(step.attempts),
        idempotency_key: Some(step.provider_key(&run.id)),
        ..stopped(run)
    }
}

async fn first(
    tx: &mut Tx,
    run: &mut RunRow,
    new: &NextStep,
    brings: &Brings,
    outcome: BeginOutcome,
) -> Result<BeginAnswer, Error> {
    run.steps += 1;
    let waits = outcome == BeginOutcome::Waiting;
    let step = StepRow {
        run: run.id.clone(),
        seq: run.steps,
        key: new.key.clone(),
        name: new.name.clone(),
        kind: new.kind,
        tool: new.tool.clone(),
        input_hash: brings.input.hash,
        effect: new.effect.clone(),
        recovery: new
            .recovery
            .unwrap_or_else(|| Recovery::default_for(new.effect.as_ref())),
        retry: new.retry.unwrap_or_default(),
        refs: new.refs.clone(),
        status: if waits {
            StepStatus::Waiting
        } else {
            StepStatus::Running
        },
        attempts: 1,
        failures: 0,
        generation: 1,
        told: outcome,
        epoch: run.epoch,
        unknown: false,
        given: false,
        decision: None,
        snapshot: None,
        retry_at: None,
        cost_usd: None,
        state_change: None,
        begun_at: tx.now,
        ended_at: None,
        keyed_at: None,
        damaged: false,
        last: None,
    };
    tx.mention(run.ord, &step.name);
    tx.mention(run.ord, &plain_words(step.key.as_str()));
    let row = step.inserted(run, &brings.input, brings.gate.as_deref(), &new.links);
    tx.later(&run.id, &step::INSERT, row);
    let met = match run.announced {
        0 => None,
        _ => {
            Announcements::met(tx.conn(), &run.id, step.seq, step.key.as_str(), &step.name).await?
        }
    };
    run.announced -= i64::from(met.is_some());
    match met.and_then(|met| met.skipped) {
        Some(result) => Ok(skipped(tx, run, step, result)),
        None => {
            attempt(tx, run, &step, None).await?;
            Ok(told(run, &step, outcome))
        }
    }
}

/// An operator skipped it before it began: the agent hears the result that was given.
fn skipped(tx: &mut Tx, run: &mut RunRow, mut step: StepRow, result: Value) -> BeginAnswer {
    // `told` keeps its first value: settling does not write that column.
    step.status = StepStatus::Skipped;
    (step.given, step.decision, step.ended_at) = (true, Some(DecisionKind::Skip), Some(tx.now));
    let row = given_attempt(tx, run, &step, run.worker.as_deref().unwrap_or_default());
    tx.later(&run.id, &attempt::INSERT, row.inserted(None));
    let content = Content::of(&result);
    let settled = step.settled(&content);
    tx.later(&run.id, &step::SETTLE, settled);
    run.is_at(&step);
    let data = json!({
        "key": step.key, "name": step.name, "decision": DecisionKind::Skip, "result": content.hash,
    });
    tx.emit(&run.id, Some(step.seq), EventKind::StepGiven, data);
    BeginAnswer {
        result: Some(result),
        decision: step.decision,
        ..told(run, &step, BeginOutcome::Given)
    }
}

/// The words of a key that have no number in them. A key with a number is found by the whole key, and would only fill the index.
fn plain_words(key: &str) -> String {
    let words = key.split(|letter: char| !letter.is_alphanumeric());
    let plain = words.filter(|word| !word.contains(|letter: char| letter.is_numeric()));
    plain.collect::<Vec<_>>().join(" ")
}

async fn again(
    tx: &mut Tx,
    run: &mut RunRow,
    (new, brings): (&NextStep, &Brings),
    mut step: StepRow,
    (outcome, drift): (BeginOutcome, bool),
) -> Result<BeginAnswer, Error> {
    step.attempts += 1;
    step.status = StepStatus::Running;
    step.told = outcome;
    step.epoch = run.epoch;
    step.retry_at = None;
    // An attempt that looks first knows what earlier ones did. Another one only repeats them.
    step.unknown &= outcome != BeginOutcome::Check;
    step.ended_at = None;
    // This attempt carries out the order to retry. If it crashes, an operator is asked again.
    step.decision = None;
    // The recovery rule is the newest begin's: it is this attempt that may crash.
    step.recovery = new
        .recovery
        .unwrap_or_else(|| Recovery::default_for(step.effect.as_ref()));
    step.update(tx.conn()).await?;
    let changed = brings.input.hash != step.input_hash;
    attempt(tx, run, &step, changed.then_some(&brings.input)).await?;
    if drift {
        tx.emit(
            &run.id,
            Some(step.seq),
            EventKind::Drift,
            json!({"attempt": step.attempts}),
        );
    }
    Ok(BeginAnswer {
        drift,
        ..told(run, &step, outcome)
    })
}

async fn attempt(
    tx: &mut Tx,
    run: &mut RunRow,
    step: &StepRow,
    input: Option<&Content>,
) -> Result<(), Error> {
    let waits = step.status == StepStatus::Waiting;
    let worker = run.worker.clone().unwrap_or_default();
    tx.mention_worker(run.ord, &worker);
    let row = AttemptRow {
        run: run.id.clone(),
        seq: step.seq,
        attempt: step.attempts,
        worker,
        epoch: run.epoch,
        base: run.snapshot,
        begun_at: tx.now,
        heartbeat_at: None,
        ended_at: None,
        outcome: if waits {
            Outcome::Waiting
        } else {
            Outcome::Running
        },
        body: None,
        answer: None,
        usage: None,
        log_lines: 0,
        idempotency_key: Some(step.provider_key(&run.id)),
        has_evidence: false,
    };
    tx.later(&run.id, &attempt::INSERT, row.inserted(input));
    run.is_at(step);
    let kind = if waits {
        EventKind::StepWaiting
    } else {
        EventKind::StepBegun
    };
    let data = json!({
        "key": step.key, "name": step.name, "kind": step.kind, "attempt": step.attempts,
        "outcome": step.told, "input": step.input_hash, "effect": step.effect,
    });
    tx.emit(&run.id, Some(step.seq), kind, data);
    tracing::debug!(run = %run.id, step = step.seq, key = %step.key, attempt = step.attempts, "step begun");
    Ok(())
}

/// Answers from the checkpoint of a step; no attempt begins. The caller puts in what the step has recorded.
async fn replayed(
    tx: &mut Tx,
    run: &mut RunRow,
    step: StepRow,
    outcome: BeginOutcome,
    drift: bool,
) -> Result<BeginAnswer, Error> {
    let settled = matches!(outcome, BeginOutcome::Replay | BeginOutcome::Given);
    let base = BeginAnswer {
        seq: step.seq,
        outcome,
        ..stopped(run)
    };
    if outcome == BeginOutcome::Stop {
        return Ok(base);
    }
    if outcome == BeginOutcome::Given {
        let (attempt, place) = ((step.seq, step.attempts), (run.epoch, run.snapshot));
        AttemptRow::heard(tx.conn(), &run.id, attempt, place).await?;
    }
    if settled && drift {
        tx.emit(
            &run.id,
            Some(step.seq),
            EventKind::Drift,
            json!({"input": step.input_hash}),
        );
    }
    tracing::debug!(run = %run.id, step = step.seq, key = %step.key, outcome = outcome.as_str(), "step answered from its checkpoint");
    Ok(BeginAnswer {
        attempt: Some(step.attempts),
        idempotency_key: Some(step.provider_key(&run.id)),
        decision: step.decision.filter(|_| settled),
        snapshot: step.snapshot.filter(|_| settled),
        drift: drift && settled,
        ..base
    })
}
