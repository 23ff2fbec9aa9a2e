//! Following the store: wake-ups after each commit, the reaper, and the server's sign of life.

use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{
    Store,
    commands::{Grace, Tick},
    retention::Purge,
};
use crate::domain::Time;

const REAP_EVERY: Duration = Duration::from_millis(250);
const TICK_EVERY_MS: i64 = 1_000;
/// A server that has not ticked for this long is not alive.
pub(super) const ALIVE_MS: i64 = 5_000;
/// A server that is there ticks at least this often; one that does not is gone, though its connections still show.
const SILENT: Duration = Duration::from_millis(2_500);
const LOOK_EVERY: Duration = Duration::from_millis(100);
const PURGE_EVERY_MS: i64 = 3_600_000;
const REAP_MAX: i64 = 256;

impl Store {
    /// The newest event number, as it grows.
    pub fn head_changes(&self) -> watch::Receiver<i64> {
        self.head.clone()
    }

    /// Before the first request: leases that were live when the last server went get one more term.
    pub async fn come_back(&self) -> Result<(), super::Error> {
        match self.others_alive().await? {
            true => self.tick().await?,
            false => {
                let grace = Grace {
                    server: self.engine.id().to_owned(),
                    forget_before: self.now().await?.plus_ms(-ALIVE_MS),
                };
                let leases = self.write(grace).await?;
                if leases > 0 {
                    tracing::info!(
                        leases,
                        "no other server was alive: live leases get one more term"
                    );
                }
            }
        }
        self.writer.notices_absence(self.now().await?);
        Ok(())
    }

    /// Whether another server is alive. One that was killed a moment ago has a fresh tick, and the database may not have noticed
    /// that its connection is gone. So a server counts only if it ticks again.
    async fn others_alive(&self) -> Result<bool, super::Error> {
        let began = Instant::now();
        let mut first = None;
        while began.elapsed() < SILENT {
            let mut conn = self.engine.read().await?;
            let since = conn.now().await?.plus_ms(-ALIVE_MS);
            let Some(ticked) = self.engine.others(&mut *conn, since).await? else {
                return Ok(false);
            };
            if *first.get_or_insert(ticked) < ticked {
                return Ok(true);
            }
            drop(conn);
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(false)
    }

    pub(super) async fn tick(&self) -> Result<(), super::Error> {
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
                if now.ms_since(ticked) >= TICK_EVERY_MS {
                    self.tick().await?;
                    ticked = now;
                }
                if now.ms_since(purged) >= PURGE_EVERY_MS {
                    self.write(Purge).await?;
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
            if let Err(error) = round.await
                && error.trouble().is_none()
            {
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
