//! One step: begun before the work, committed with its result and the new state after it, or replayed.

use serde::{Serialize, de::DeserializeOwned};
use std::{future::Future, pin::Pin, time::Duration};

use super::{
    begin::{Begun, Work},
    context::StepCtx,
    error::{Error, StepError},
    session::Session,
    state::State,
};
use crate::domain::{
    AgentError, Effect, Kind, Problem, Recovery, Reference, StepKey,
    nouns::{run::Link, step::RetryRule},
    wire::protocol::NextStep,
};

type Looking<'a, R> = Pin<Box<dyn Future<Output = Result<Option<R>, StepError>> + Send + 'a>>;
type Look<'a, R> = Box<dyn FnMut(StepCtx) -> Looking<'a, R> + Send + 'a>;

/// A step to take: say what it is, then [`run`](Step::run) it.
#[must_use = "a step does nothing until it is run"]
pub struct Step<'a, S, R> {
    session: &'a Session<S>,
    body: Result<NextStep, Problem>,
    look: Option<Look<'a, R>>,
    then: Option<NextStep>,
}

impl<'a, S, R> Step<'a, S, R> {
    pub(super) fn new(session: &'a Session<S>, key: String, name: String) -> Self {
        let key = StepKey::try_from(key).map_err(|why| Problem::invalid("key", why));
        Self {
            session,
            body: key.map(|key| NextStep::new(key, name)),
            look: None,
            then: None,
        }
    }

    fn with(mut self, set: impl FnOnce(&mut NextStep)) -> Self {
        self.body.as_mut().map(set).ok();
        self
    }

    pub fn kind(self, kind: Kind) -> Self {
        self.with(|body| body.kind = kind)
    }

    /// The tool that the work calls, such as `http.get`.
    pub fn tool(self, tool: impl Into<String>) -> Self {
        self.with(|body| {
            body.kind = Kind::Tool;
            body.tool = Some(tool.into());
        })
    }

    /// What the work is given. Recorded, and compared when the step is replayed.
    pub fn input(mut self, input: impl Serialize) -> Self {
        match serde_json::to_value(input) {
            Ok(input) => self.with(|body| body.input = input),
            Err(why) => {
                self.body = Err(Problem::invalid("input", why));
                self
            }
        }
    }

    /// The work changes the world outside.
    pub fn effect(self, effect: Effect) -> Self {
        self.with(|body| body.effect = Some(effect))
    }

    /// What may happen after a crash inside the work: by default `retry`, with an effect `ask`.
    pub fn recovery(self, recovery: Recovery) -> Self {
        self.with(|body| body.recovery = Some(recovery))
    }

    /// After a crash, looks whether the work has happened: `Some` is committed, at `None` it is done.
    pub fn check<L, F>(self, mut look: L) -> Self
    where
        L: FnMut(StepCtx) -> F + Send + 'a,
        F: Future<Output = Result<Option<R>, StepError>> + Send + 'a,
    {
        Self {
            look: Some(Box::new(move |ctx| Box::pin(look(ctx)))),
            ..self.recovery(Recovery::Check)
        }
    }

    /// How often a failure is tried again, with a pause that starts here and doubles.
    pub fn retry(self, max_attempts: i64, backoff: Duration) -> Self {
        let backoff_ms = backoff.as_millis() as i64;
        self.with(|body| {
            body.retry = Some(RetryRule {
                max_attempts,
                backoff_ms,
            });
        })
    }

    /// What the work relies on outside, and what it looks like now: a change since shows as drift.
    pub fn refs(self, refs: impl IntoIterator<Item = Reference>) -> Self {
        self.with(|body| body.refs.extend(refs))
    }

    pub fn link(self, label: impl Into<String>, url: impl Into<String>) -> Self {
        self.with(|body| {
            body.links.push(Link {
                label: label.into(),
                url: url.into(),
            });
        })
    }

    /// The step that certainly comes next is begun with this one's commit: one request instead of two.
    /// It must then be run, described in the same words.
    pub fn then<Next>(mut self, next: &Step<'_, S, Next>) -> Self {
        self.then = next.body.as_ref().ok().cloned();
        self
    }

    fn checked(body: Result<NextStep, Problem>, can_look: bool) -> Result<NextStep, Error> {
        let body = body?;
        if body.recovery == Some(Recovery::Check) && !can_look {
            let why = "a step to be checked after a crash needs `check(…)`";
            return Err(Problem::invalid("recovery", why).into());
        }
        Ok(body)
    }
}

impl<S: State, R: Serialize + DeserializeOwned> Step<'_, S, R> {
    /// Executes the step, or takes what is recorded of it.
    ///
    /// `work` gives a result, `fold` puts it into the state; both are committed together. A step that was
    /// committed before is not executed: its result is returned, and the state has it already. A result that an
    /// operator gave is folded in the same way.
    pub async fn run<W, F, Fold>(self, mut work: W, fold: Fold) -> Result<R, Error>
    where
        W: FnMut(StepCtx) -> F,
        F: Future<Output = Result<R, StepError>>,
        Fold: FnOnce(&mut S, &R),
    {
        let Self {
            session,
            body,
            mut look,
            then,
        } = self;
        let body = Self::checked(body, look.is_some())?;
        loop {
            let begun = match session.begin(&body).await? {
                Begun::Work(begun) => begun,
                Begun::Waiting { seq } => {
                    session.answered(seq).await?;
                    continue;
                }
                Begun::Replayed(settled) => return settled.result(),
                Begun::Given(given) => {
                    let result = given.settled.result()?;
                    session.fold_in(given, |state| fold(state, &result)).await?;
                    return Ok(result);
                }
            };
            if begun.check && look.is_none() {
                return Err(Error::Held(no_check()));
            }
            let attempt = attempt(&begun, &mut look, &mut work);
            match session.0.lease.hold(attempt).await? {
                Ok(result) => {
                    session.commit(&body, begun, &result, then, fold).await?;
                    return Ok(result);
                }
                Err(error) => {
                    let pause = session.fail_step(&body, begun, error).await?;
                    session.wait(tokio::time::sleep(pause)).await?;
                }
            }
        }
    }
}

/// Looks first if it is asked to, then works.
async fn attempt<R, W, F>(
    begun: &Work,
    look: &mut Option<Look<'_, R>>,
    work: &mut W,
) -> Result<R, StepError>
where
    W: FnMut(StepCtx) -> F,
    F: Future<Output = Result<R, StepError>>,
{
    if let Some(look) = look.as_mut().filter(|_| begun.check) {
        let (run, seq) = (begun.ctx.run(), begun.ctx.seq());
        let found = look(begun.ctx.clone()).await?;
        tracing::info!(%run, step = seq, happened = found.is_some(), "checked after a crash");
        if let Some(found) = found {
            return Ok(found);
        }
    }
    work(begun.ctx.clone()).await
}

/// Another version of the agent could look whether this step happened; this one cannot. Left as it is, the step
/// crashes with the lease, and after a few rounds an operator is asked.
fn no_check() -> AgentError {
    AgentError {
        kind: "no_check".into(),
        message: "the store asks whether it happened, and this agent has no `check` for it".into(),
        stack: None,
    }
}
