//! The audit log as JSON lines, oldest page last as the store reads it: for those who keep it elsewhere.

use axum::{
    body::{Body, Bytes},
    extract::{Query, State},
    http::header,
    response::{IntoResponse, Response},
};
use futures::stream;

use super::{App, problem::Refusal};
use crate::domain::audit::AuditQuery;

/// Entries read at once.
const PAGE: i64 = 500;

/// Every entry that fits, newest first, one per line.
pub async fn export(
    State(app): State<App>,
    Query(query): Query<AuditQuery>,
) -> Result<Response, Refusal> {
    // The first page is read before anything is sent, so that a refusal is one.
    let first = app.store.audit(&query, PAGE).await?;
    let lines = stream::try_unfold((app, query, Some(first)), |(app, query, page)| async move {
        let Some(page) = page else {
            return Ok::<_, std::io::Error>(None);
        };
        let mut text = String::new();
        for entry in &page.entries {
            text.push_str(&serde_json::to_string(entry)?);
            text.push('\n');
        }
        let next = match page.next {
            Some(before) => {
                let query = AuditQuery {
                    before: Some(before),
                    ..query.clone()
                };
                let read = app.store.audit(&query, PAGE).await;
                Some(read.map_err(|problem| std::io::Error::other(problem.detail))?)
            }
            None => None,
        };
        Ok(Some((Bytes::from(text), (app, query, next))))
    });
    let headers = [
        (header::CONTENT_TYPE, "application/x-ndjson"),
        (
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"audit.jsonl\"",
        ),
    ];
    Ok((headers, Body::from_stream(lines)).into_response())
}
