//! Verification, as a reader asks for it.

use leptos::prelude::*;
use server_fn::codec::Json;

use super::AppError;
use crate::domain::{RunId, integrity::Verified};

/// Holds a run, or everything, against its hashes. All of it at once is for those who decide, one at a time.
#[server(Verify, endpoint = "integrity/verify", input = Json)]
pub async fn verify(run: Option<RunId>) -> Result<Verified, AppError> {
    use crate::{
        domain::{Action, Code, Problem},
        store::Error,
    };
    static WHOLE: tokio::sync::Semaphore = tokio::sync::Semaphore::const_new(1);
    let _whole = match &run {
        Some(_) => {
            super::authorise(Action::Read)?;
            None
        }
        None => {
            super::authorise(Action::Decide)?;
            let busy = |_| Problem::new(Code::Busy, "the store is being verified already");
            Some(WHOLE.try_acquire().map_err(busy)?)
        }
    };
    let store = super::store()?;
    let verified = store.verify(run.as_ref(), &mut |_| {}).await;
    Ok(verified.map_err(Error::problem)?)
}
