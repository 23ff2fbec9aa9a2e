//! Is the process there, can it work, and how is it doing.

use axum::{extract::State, http::StatusCode};

use super::App;

/// The process answers.
pub async fn healthz() -> &'static str {
    "ok\n"
}

/// The store can be reached and has this program's schema.
pub async fn readyz(State(app): State<App>) -> (StatusCode, &'static str) {
    match app.store.ready().await {
        Ok(true) => (StatusCode::OK, "ready\n"),
        Ok(false) => (
            StatusCode::SERVICE_UNAVAILABLE,
            "the store waits for its migrations\n",
        ),
        Err(error) => {
            tracing::warn!(%error, "not ready");
            (
                StatusCode::SERVICE_UNAVAILABLE,
                "the store does not answer\n",
            )
        }
    }
}

/// Prometheus text.
pub async fn metrics(State(app): State<App>) -> String {
    if let Ok(counts) = app.store.counts().await {
        for (status, count) in counts.by_status {
            metrics::gauge!("step47_runs", "status" => status.as_str()).set(count as f64);
        }
    }
    app.metrics.render()
}
