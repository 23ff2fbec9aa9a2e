//! The audit trail.

use leptos::prelude::*;

use super::{AppError, json::Json};
use crate::domain::nouns::audit::{AuditPage, AuditQuery, AuditVerified};

/// Entries on one page.
#[cfg(feature = "ssr")]
const ON_A_PAGE: i64 = 50;

door!(ReadAudit: Needs(Read));
/// Entries that fit, newest first.
#[server(ReadAudit, endpoint = "audit/page", input = Json, output = Json)]
pub async fn page(query: AuditQuery) -> Result<AuditPage, AppError> {
    super::authorise::<ReadAudit>()?;
    Ok(super::store()?.audit(&query, ON_A_PAGE).await?)
}

door!(VerifyAudit: Needs(Read));
/// Looks at the whole chain.
#[server(VerifyAudit, endpoint = "audit/verify", input = Json, output = Json)]
pub async fn verify() -> Result<AuditVerified, AppError> {
    super::authorise::<VerifyAudit>()?;
    Ok(super::store()?.verify_audit().await?)
}
