//! `/audit.jsonl`: the audit trail as JSON lines, oldest first, each entry with its hash.

use axum::{
    Extension,
    body::{Body, Bytes},
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use futures::stream;
use serde_json::json;

use super::{App, body::FormQuery, problem::Refusal};
use crate::{
    domain::nouns::{
        access::Principal,
        audit::{AuditKind, AuditQuery},
    },
    store::audit,
};

/// Entries read at a time; the whole is never in memory.
const STRIDE: i64 = 500;

pub async fn export(
    State(app): State<App>,
    Extension(who): Extension<Option<Principal>>,
    FormQuery(query): FormQuery<AuditQuery>,
) -> Result<Response, Refusal> {
    // If the first page cannot be read, the answer is a refusal; later trouble can only cut the stream off.
    app.store.audit_onward(0, 1).await?;
    if let Some(who) = who {
        let entry = audit::by(
            &who,
            AuditKind::Access,
            "export_audit",
            json!({"query": query}),
        );
        app.store.noted_or_counted("/audit.jsonl", entry).await;
    }
    let pages = stream::try_unfold(0, move |after| {
        let (store, query) = (app.store.clone(), query.clone());
        async move {
            let page = store.audit_onward(after, STRIDE).await;
            let page = page.map_err(|problem| std::io::Error::other(problem.detail))?;
            let Some((last, _)) = page.last() else {
                return Ok::<_, std::io::Error>(None);
            };
            let last = last.id;
            let mut lines = String::new();
            for (entry, hash) in page.iter().filter(|(entry, _)| query.admits(entry)) {
                lines.push_str(&entry.exported(*hash));
                lines.push('\n');
            }
            Ok(Some((Bytes::from(lines), last)))
        }
    });
    let headers = [
        (header::CONTENT_TYPE, "application/x-ndjson"),
        (
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"audit.jsonl\"",
        ),
    ];
    Ok((headers, Body::from_stream(pages)).into_response())
}
