//! What can keep an agent from going on, and what its work can report.

use std::time::Duration;

use crate::domain::{AgentError, Code, Problem, Signal, Time, rules::failure::EffectKnown};

/// Why an agent's function does not go on. Most of these end it without any harm: the run goes on later.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server understood the request and said no.
    #[error("{} ({})", .0.detail, .0.code.as_str())]
    Refused(Problem),
    #[error("{url} gave no answer for {} s: {why}", .waited.as_secs())]
    Unreachable {
        url: String,
        waited: Duration,
        why: String,
    },
    /// The work was stopped at once and nothing more is sent: another worker may hold the run by now.
    #[error("the lease on the run is lost; the work was stopped and is not recorded")]
    LeaseLost,
    /// Released at a step boundary because an operator asked for it.
    #[error("an operator asked to {0} the run; it was released between two steps")]
    Stopped(Signal),
    /// Released at a step boundary because this process was asked to end.
    #[error("this worker was asked to end; the run was released between two steps")]
    Interrupted,
    /// Released at a gate: the run goes on when a person has answered.
    #[error("the run waits for a person and was released meanwhile")]
    Waiting,
    /// Released until a moment in the future.
    #[error("the run sleeps until {0}")]
    Asleep(Time),
    /// Nobody knows whether an effect happened, and its rule is to ask an operator.
    #[error("an operator has to decide about this step: {}", .0.message)]
    Held(AgentError),
    /// The step, or the run, failed for good.
    #[error("{}: {}", .0.kind, .0.message)]
    Failed(AgentError),
    /// What is recorded is not what the agent's types expect.
    #[error("{what} does not fit the agent's type: {why}")]
    Shape {
        what: &'static str,
        why: serde_json::Error,
    },
    #[error("the client cannot start: {0}")]
    Setup(String),
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        match problem.code {
            Code::LeaseLost => Self::LeaseLost,
            _ => Self::Refused(problem),
        }
    }
}

impl From<AgentError> for Error {
    fn from(error: AgentError) -> Self {
        Self::Failed(error)
    }
}

impl Error {
    pub(super) fn shape(what: &'static str) -> impl FnOnce(serde_json::Error) -> Self {
        move |why| Self::Shape { what, why }
    }

    /// The error as a run records it when its agent gives up.
    pub(super) fn told(&self) -> AgentError {
        let kind = match self {
            Self::Failed(error) | Self::Held(error) => return error.clone(),
            Self::Refused(problem) => problem.code.as_str(),
            Self::Shape { .. } => "shape",
            _ => "agent",
        };
        AgentError {
            kind: kind.to_owned(),
            message: self.to_string(),
            stack: None,
        }
    }
}

/// Why one attempt at a step failed. Any error turns into one with `?`: retryable, its effect left to the
/// step's default.
#[derive(Debug, Clone, PartialEq)]
pub struct StepError {
    pub error: AgentError,
    pub retryable: bool,
    /// Whether the effect may have happened; left out, a step with an effect counts as unknown.
    pub effect: Option<EffectKnown>,
}

impl StepError {
    pub fn new(kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            error: AgentError {
                kind: kind.into(),
                message: message.into(),
                stack: None,
            },
            retryable: true,
            effect: None,
        }
    }

    /// Trying again would fail again.
    pub fn for_good(self) -> Self {
        Self {
            retryable: false,
            ..self
        }
    }

    /// The outside world is certainly as it was.
    pub fn nothing_happened(self) -> Self {
        Self {
            effect: Some(EffectKnown::None),
            ..self
        }
    }

    /// The outside world may have changed.
    pub fn effect_unknown(self) -> Self {
        Self {
            effect: Some(EffectKnown::Unknown),
            ..self
        }
    }
}

impl<E: std::error::Error> From<E> for StepError {
    fn from(error: E) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            message.push_str(&format!(": {cause}"));
            source = cause.source();
        }
        Self::new(std::any::type_name::<E>(), message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_error_becomes_a_retryable_failure_with_its_causes() {
        #[derive(Debug, thiserror::Error)]
        #[error("the ledger did not open")]
        struct Outer(#[source] std::io::Error);

        let failed = StepError::from(Outer(std::io::Error::other("disk full")));
        assert_eq!(failed.error.message, "the ledger did not open: disk full");
        assert!(failed.retryable && failed.effect.is_none());
    }
}
