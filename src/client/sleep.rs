//! A pause that outlives the worker.

use std::time::Duration;

use super::{error::Error, lease::Leave, session::Session, state::State};
use crate::domain::Time;

impl<S: State> Session<S> {
    /// Releases the run until `pause` is over, counted from the first time the agent comes by; it ends with
    /// [`Error::Asleep`]. The worker that takes it up again passes this point.
    pub async fn sleep(&self, key: impl Into<String>, pause: Duration) -> Result<(), Error> {
        let ms = i64::try_from(pause.as_millis()).unwrap_or(i64::MAX);
        let until = self
            .step(key, "sleep")
            .run(
                |_| async move { Ok(Time::now().plus_ms(ms)) },
                |_, _: &Time| (),
            )
            .await?;
        match until.ms_since(Time::now()) {
            ..=0 => Ok(()),
            left => Err(self.leave(Leave::Asleep(left), Error::Asleep(until)).await),
        }
    }
}
