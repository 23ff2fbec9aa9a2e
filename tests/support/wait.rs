//! Waiting for a condition, never for luck.

use std::{future::Future, time::Duration};
use tokio::time::Instant;

/// Generous: a condition that is not met by then is a failure, not a slow machine.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// Looks again and again until there is something to see.
pub async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let end = Instant::now() + DEADLINE;
    loop {
        if let Some(seen) = look().await {
            return seen;
        }
        assert!(Instant::now() < end, "{what}: not within {DEADLINE:?}");
        pause(20).await;
    }
}

/// Between two looks.
pub async fn pause(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}

/// Until a moment that the server named is over by the clock they share.
pub async fn past(time: &serde_json::Value) {
    let moment = micros(time);
    while chrono::Utc::now().timestamp_micros() <= moment {
        pause(5).await;
    }
}

fn micros(time: &serde_json::Value) -> i64 {
    let text = time.as_str().unwrap_or_else(|| panic!("{time} is no time"));
    chrono::DateTime::parse_from_rfc3339(text)
        .unwrap_or_else(|e| panic!("{text}: {e}"))
        .timestamp_micros()
}

/// RFC 3339, UTC, microseconds: `2026-11-16T01:58:00.000042Z`.
pub fn is_time(time: &serde_json::Value) -> bool {
    let Some(text) = time.as_str() else {
        return false;
    };
    let shape: String = text
        .chars()
        .map(|c| if c.is_ascii_digit() { '0' } else { c })
        .collect();
    shape == "0000-00-00T00:00:00.000000Z" && chrono::DateTime::parse_from_rfc3339(text).is_ok()
}

/// Runs `n` of a kind at once and gives what each came to.
pub async fn together<T, F>(n: usize, start: impl Fn(usize) -> F) -> Vec<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    let tasks: Vec<_> = (0..n).map(|i| tokio::spawn(start(i))).collect();
    let mut all = Vec::with_capacity(n);
    for task in tasks {
        match task.await {
            Ok(one) => all.push(one),
            Err(failed) => std::panic::resume_unwind(failed.into_panic()),
        }
    }
    all
}
