//! How an agent's function ended, told to the store.

use serde::Serialize;

use super::{error::Error, session::Session, state::State};
use crate::domain::Code;

impl<S: State> Session<S> {
    /// Ends or releases the run as the agent's outcome asks for, and gives that outcome back: a result
    /// finishes it, a failure fails it, and what only stopped here leaves it for the next worker.
    pub async fn settle<R: Serialize>(&self, outcome: Result<R, Error>) -> Result<(), Error> {
        let error = match outcome {
            // An agent may have finished by itself.
            Ok(_) if self.0.lease.given_back() => return Ok(()),
            Ok(result) => return self.finish(result).await,
            Err(error) => error,
        };
        match &error {
            Error::LeaseLost => {}
            Error::Failed(_) | Error::Refused(_) | Error::Shape { .. } | Error::Setup(_) => {
                match self.fail(error.told()).await {
                    // Something was left begun: it is not known how it ended, so it counts as crashed.
                    Err(Error::Refused(problem)) if problem.code == Code::StepInFlight => {
                        self.release().await?;
                    }
                    failed => failed?,
                }
            }
            Error::Stopped(_)
            | Error::Interrupted
            | Error::Waiting
            | Error::Asleep(_)
            | Error::Held(_)
            | Error::Unreachable { .. } => self.release().await?,
        }
        Err(error)
    }
}
