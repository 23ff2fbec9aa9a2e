//! A refusal as an answer: `application/problem+json`, and where it is logged.

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};

use crate::{domain::Problem, store};

/// The error of every `/v1` handler.
#[derive(Debug)]
pub struct Refusal(pub Problem);

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl From<store::Error> for Refusal {
    fn from(error: store::Error) -> Self {
        Self(error.problem())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status =
            StatusCode::from_u16(self.0.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        metrics::counter!("step47_refused_total", "code" => self.0.code.as_str()).increment(1);
        let later = self.0.code.is_passing();
        let seconds = self.0.fields.get("retry_after").and_then(|it| it.as_u64());
        let problem = self.0.clone();
        let mut response = (status, Json(self.0)).into_response();
        // `broken` makes a page of it for a browser.
        response.extensions_mut().insert(problem);
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/problem+json"),
        );
        if later {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds.unwrap_or(1)));
        }
        response
    }
}
