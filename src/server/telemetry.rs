//! Logs and metrics: readable lines on a terminal, JSON otherwise.

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use std::{io::IsTerminal, sync::OnceLock};
use tracing_subscriber::EnvFilter;

/// Starts logging to stderr, from this level on; `STEP47_LOG` filters it otherwise.
pub fn start_logging(level: &str) {
    let filter = EnvFilter::try_from_env("STEP47_LOG")
        .unwrap_or_else(|_| EnvFilter::new(format!("{level},sqlx=warn,hyper=warn")));
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        // A log that cannot be written (its disk is full, too) is no reason to panic, which is what telling it would do.
        .log_internal_errors(false)
        .with_writer(std::io::stderr);
    // A second start in one process keeps the first.
    let _ = match std::io::stderr().is_terminal() {
        true => lines.compact().try_init(),
        false => lines.json().flatten_event(true).try_init(),
    };
}

/// The one recorder of this process.
pub fn metrics() -> Result<PrometheusHandle, String> {
    static HANDLE: OnceLock<Result<PrometheusHandle, String>> = OnceLock::new();
    HANDLE
        .get_or_init(|| {
            PrometheusBuilder::new()
                .install_recorder()
                .map_err(|e| e.to_string())
        })
        .clone()
}
