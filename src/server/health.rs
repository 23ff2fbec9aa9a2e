//! Is the process there, can it work, and how is it doing.

use axum::{extract::State, http::StatusCode};
use std::time::Duration;

use super::App;

/// A store that takes longer than this to write one row is not ready.
const PATIENCE: Duration = Duration::from_secs(5);

/// The process answers.
pub async fn healthz() -> &'static str {
    "ok\n"
}

/// The store can be reached, has this program's schema, and takes writes.
pub async fn readyz(State(app): State<App>) -> (StatusCode, String) {
    let looked = async {
        match app.store.ready().await? {
            true => app.store.writable().await.map(|()| true),
            false => Ok(false),
        }
    };
    let not_ready = |why: &str| (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n"));
    match tokio::time::timeout(PATIENCE, looked).await {
        Ok(Ok(true)) => (StatusCode::OK, "ready\n".into()),
        Ok(Ok(false)) => not_ready("the store waits for its migrations"),
        Ok(Err(error)) => match error.trouble() {
            Some(trouble) => not_ready(trouble.detail()),
            None => {
                tracing::warn!(%error, "not ready");
                not_ready("the store does not answer")
            }
        },
        Err(_) => not_ready("the store does not answer in time"),
    }
}

/// Prometheus text.
pub async fn metrics(State(app): State<App>) -> String {
    if let Ok(counts) = app.store.counts().await {
        for (status, count) in counts.by_status {
            metrics::gauge!("step47_runs", "status" => status.as_str()).set(count as f64);
        }
    }
    let writable = app.store.trouble().is_none();
    metrics::gauge!("step47_store_writable").set(f64::from(u8::from(writable)));
    app.metrics.render()
}
