//! A step that waits for a person.

use serde::de::DeserializeOwned;

use super::{begin::Begun, error::Error, lease::Leave, session::Session, state::State};
use crate::domain::{
    Code, DecisionKind, Gate, Kind, Problem, StepKey, StepStatus, wire::protocol::NextStep,
};

/// How long one look at an open gate lasts.
const WAIT_MS: i64 = 30_000;

/// A gate to wait at.
#[must_use = "a gate does nothing until it is run"]
pub struct GateStep<'a, S, R> {
    session: &'a Session<S>,
    body: Result<NextStep, Problem>,
    release: bool,
    answer: std::marker::PhantomData<fn() -> R>,
}

/// What a person decided.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer<R> {
    /// Approve, reject, answer or skip.
    pub decision: DecisionKind,
    pub result: Option<R>,
}

impl<R> Answer<R> {
    pub fn approved(&self) -> bool {
        self.decision == DecisionKind::Approve
    }
}

impl<'a, S: State, R: DeserializeOwned> GateStep<'a, S, R> {
    pub(super) fn new(session: &'a Session<S>, key: String, name: String, gate: Gate) -> Self {
        let key = StepKey::try_from(key).map_err(|why| Problem::invalid("key", why));
        Self {
            session,
            body: key.map(|key| NextStep {
                kind: Kind::Gate,
                gate: Some(gate),
                ..NextStep::new(key, name)
            }),
            release: false,
            answer: std::marker::PhantomData,
        }
    }

    /// Gives the run back while nobody has answered: the agent ends with [`Error::Waiting`], and a worker
    /// takes the run up again after the answer.
    pub fn release_while_waiting(self) -> Self {
        Self {
            release: true,
            ..self
        }
    }

    /// Waits for the answer and folds it into the state, once.
    pub async fn run(self, fold: impl FnOnce(&mut S, &Answer<R>)) -> Result<Answer<R>, Error> {
        let body = self.body?;
        loop {
            match self.session.begin(&body).await? {
                Begun::Waiting { .. } if self.release => {
                    return Err(self.session.leave(Leave::Free, Error::Waiting).await);
                }
                Begun::Waiting { seq } => self.session.answered(seq).await?,
                Begun::Replayed(settled) => {
                    let decision = match settled.decision {
                        Some(decision) => decision,
                        None => self.session.decision(settled.seq).await?,
                    };
                    let result = settled.result()?;
                    return Ok(Answer { decision, result });
                }
                Begun::Given(given) => {
                    let answer = Answer {
                        decision: given.settled.decision.ok_or_else(undecided)?,
                        result: given.settled.result()?,
                    };
                    self.session
                        .fold_in(given, |state| fold(state, &answer))
                        .await?;
                    return Ok(answer);
                }
                Begun::Work(_) => {
                    let why = "a gate was begun as if it were work";
                    return Err(Problem::new(Code::Internal, why).into());
                }
            }
        }
    }
}

impl<S: State> Session<S> {
    /// Waits until somebody has answered.
    pub(super) async fn answered(&self, seq: i64) -> Result<(), Error> {
        let lease = &self.0.lease;
        tracing::info!(run = %lease.run, step = seq, "waiting for a person");
        loop {
            let look = lease.client.step(&lease.run, seq, WAIT_MS);
            let step = self.wait(look).await??.step;
            if step.status != StepStatus::Waiting {
                return Ok(());
            }
        }
    }

    /// What was decided about a gate that is settled and folded in.
    async fn decision(&self, seq: i64) -> Result<DecisionKind, Error> {
        let lease = &self.0.lease;
        let step = lease.call(lease.client.step(&lease.run, seq, 0)).await?;
        Ok(step.step.decision.ok_or_else(undecided)?)
    }
}

fn undecided() -> Problem {
    Problem::new(
        Code::Internal,
        "the gate is settled, but not by whom or how",
    )
}
