//! Server functions answer a refusal with the status that its code stands for, as `/v1` does: 500 is for failures only.

use axum::{
    body::to_bytes,
    extract::Request,
    http::{HeaderName, StatusCode},
    middleware::Next,
    response::{IntoResponse, Response},
};
use server_fn::error::SERVER_FN_ERROR_HEADER;

use super::problem::Refusal;
use crate::domain::{Code, Problem};

/// A refusal is short.
const BYTES_MAX: usize = 1 << 20;

pub async fn refuse_with_status(request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    let failed = response.status() == StatusCode::INTERNAL_SERVER_ERROR;
    let marked = response.headers().get(SERVER_FN_ERROR_HEADER).cloned();
    let (true, Some(mark)) = (failed, marked) else {
        return response;
    };
    let body = to_bytes(response.into_body(), BYTES_MAX).await;
    let problem = body
        .ok()
        .and_then(|body| serde_json::from_slice(&body).ok());
    let problem = problem.unwrap_or_else(|| Problem::new(Code::Internal, "the server failed"));
    let mut response = Refusal(problem).into_response();
    response
        .headers_mut()
        .insert(HeaderName::from_static(SERVER_FN_ERROR_HEADER), mark);
    response
}
