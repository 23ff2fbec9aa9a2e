//! What the SDK promises to agent authors, kept against a real server: processes are really killed, stopped and
//! restarted.

mod crash;
mod decisions;
#[path = "../support/found.rs"]
mod found;
mod full_disk;
mod lease;
mod plan;
mod process;
mod server;
mod session;
mod stop;
mod worker;

use std::time::{Duration, Instant};

/// Looks until it is there. Fails loudly when it never comes.
async fn eventually<T>(what: &str, look: impl AsyncFn() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(seen) = look().await {
            return seen;
        }
        assert!(Instant::now() < deadline, "never came: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
