//! What the command line asks of a server beside `/v1`: what its pages read.

use serde::{Serialize, de::DeserializeOwned};

use super::{
    calls::query_string,
    error::Error,
    http::{Client, Request},
    lines::Lines,
};
use crate::domain::nouns::audit::AuditQuery;

impl Client {
    /// Calls the server function at `/api/NAME`.
    pub(crate) async fn function<T: DeserializeOwned>(
        &self,
        name: &str,
        arguments: &impl Serialize,
    ) -> Result<T, Error> {
        self.one(Request::post(format!("api/{name}"), arguments)?)
            .await
    }

    /// The audit trail as JSON lines, oldest first.
    pub(crate) async fn audit_lines(&self, query: &AuditQuery) -> Result<Lines, Error> {
        let query = query_string([
            ("kind", query.kind.map(|it| it.to_string())),
            ("actor", query.actor.clone()),
            ("action", query.action.clone()),
            ("run", query.run.as_ref().map(ToString::to_string)),
        ])?;
        let request = Request::get(format!("audit.jsonl?{query}"));
        self.lines(&request).await
    }
}
