//! Following the store: wake-ups after each commit, the reaper, and the server's sign of life.

use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{
    Store,
    commands::{Grace, PurgeRequests, Tick},
};
use crate::domain::Time;

const REAP_EVERY: Duration = Duration::from_millis(250);
const TICK_EVERY_MS: i64 = 1_000;
/// A server that has not ticked for this long is not alive.
const ALIVE_MS: i64 = 5_000;
/// A pause of this length between two of our own ticks means that we were away.
const AWAY_MS: i64 = 5_000;
const PURGE_EVERY_MS: i64 = 3_600_000;
const REAP_MAX: i64 = 256;

impl Store {
    /// The newest event number, as it grows.
    pub fn head_changes(&self) -> watch::Receiver<i64> {
        self.head.clone()
    }

    /// Before the first request: leases that were live when the last server went get one more term.
    pub async fn come_back(&self) -> Result<(), super::Error> {
        let alive_since = self.now().await?.plus_ms(-ALIVE_MS);
        if !self.engine.others_alive(alive_since).await? {
            let lived = self
                .write(Grace {
                    forget_before: alive_since,
                })
                .await?;
            if lived > 0 {
                tracing::info!(
                    leases = lived,
                    "no other server was alive: live leases get one more term"
                );
            }
        }
        self.tick().await
    }

    async fn tick(&self) -> Result<(), super::Error> {
        let server = self.engine.id().to_owned();
        self.write(Tick { server }).await
    }

    /// Ends leases that ran out and tells that this server lives, until it is stopped.
    pub async fn keep_time(&self, stop: CancellationToken) {
        let mut ticked = Time(0);
        let mut purged = Time(0);
        let mut seen = Time::now();
        while stop
            .run_until_cancelled(tokio::time::sleep(REAP_EVERY))
            .await
            .is_some()
        {
            let round = async {
                let now = self.now().await?;
                if ticked != Time(0) && now.ms_since(ticked) > AWAY_MS {
                    self.come_back().await?;
                    ticked = now;
                } else if now.ms_since(ticked) >= TICK_EVERY_MS {
                    self.tick().await?;
                    ticked = now;
                }
                if now.ms_since(purged) >= PURGE_EVERY_MS {
                    self.write(PurgeRequests).await?;
                    purged = now;
                }
                let runs = self.overdue(now, REAP_MAX).await?;
                if !runs.is_empty() {
                    self.reap(runs).await?;
                }
                if self.woke(seen, now).await? {
                    // No event tells that a sleep is over: wake whoever waits for work.
                    self.wake.send_modify(|_| {});
                }
                seen = now;
                Ok::<_, super::Error>(())
            };
            if let Err(error) = round.await {
                tracing::warn!(%error, "the store did not answer the reaper; it tries again");
            }
        }
    }

    /// Hears of other servers' writes, where there can be any.
    pub async fn hear(&self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            let heard = async {
                let Some(mut wake) = self.engine.listen().await? else {
                    return Ok(false);
                };
                loop {
                    let head = self.head().await.map_err(super::Error::Refused)?;
                    self.wake.send_if_modified(|known| {
                        let grown = head > *known;
                        *known = head.max(*known);
                        grown
                    });
                    wake.woken().await?;
                }
            };
            let ended: Option<Result<bool, super::Error>> = stop.run_until_cancelled(heard).await;
            match ended {
                None | Some(Ok(_)) => return,
                Some(Err(error)) => {
                    tracing::warn!(%error, "lost the database's wake-ups; listening again");
                    tokio::time::sleep(Duration::from_millis(500)).await;
                }
            }
        }
    }
}
