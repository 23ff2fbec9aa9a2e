//! Verification, as a reader asks for it.

use leptos::prelude::*;

use super::{AppError, json::Json};
use crate::domain::{
    RunId,
    nouns::{
        integrity::{Verified, Verifying},
        noted::{Chain, Compared},
    },
};

door!(Verify: Needs(Read));
/// Holds a run against its hashes.
#[server(Verify, endpoint = "integrity/verify", input = Json, output = Json)]
pub async fn verify(run: RunId) -> Result<Verified, AppError> {
    use crate::store::Error;
    super::authorise::<Verify>()?;
    let verified = super::store()?.verify(Some(&run), &mut |_| {}).await;
    Ok(verified.map_err(Error::problem)?)
}

door!(VerifyEverything: Needs(Decide));
/// Begins to hold everything against its hashes; for those who decide, one at a time.
#[server(VerifyEverything, endpoint = "integrity/everything", input = Json, output = Json)]
pub async fn verify_everything() -> Result<Option<Verifying>, AppError> {
    super::authorise::<VerifyEverything>()?;
    let store = super::store()?;
    store.begin_to_verify();
    Ok(store.verifying())
}

door!(ReadVerifying: Needs(Read));
/// How far that is, or what it found.
#[server(ReadVerifying, endpoint = "integrity/verifying", input = Json, output = Json)]
pub async fn verifying() -> Result<Option<Verifying>, AppError> {
    super::authorise::<ReadVerifying>()?;
    Ok(super::store()?.verifying())
}

door!(CompareHead: Needs(Read));
/// Whether the chain of events or the audit trail has a head that was noted down.
#[server(CompareHead, endpoint = "integrity/compare", input = Json, output = Json)]
pub async fn compare_head(chain: Chain, noted: String) -> Result<Compared, AppError> {
    use crate::domain::Problem;
    super::authorise::<CompareHead>()?;
    let noted = noted.parse();
    let noted = noted.map_err(|why: &str| Problem::invalid("noted", why))?;
    Ok(super::store()?.compare_head(chain, noted).await?)
}
