//! Wrong tokens and wrong sign-in links: counted, logged with the address they came from, and answered slowly, then not
//! at all, when many come from one address. What was sent is looked up first, so a right one is never slowed, wherever it
//! comes from.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv4Addr},
    sync::{Arc, Mutex, MutexGuard},
};
use tokio::time::{Duration, Instant, sleep};

use super::peer::Peer;
use crate::domain::{Code, Problem};

/// Wrong tokens of one address are counted this long.
const WINDOW: Duration = Duration::from_secs(60);
/// How long the answer to a wrong token is held back, once it is.
const SLOW: Duration = Duration::from_secs(1);
/// From this many times the free ones on, the address hears that it has to wait.
const SLOWED: u32 = 6;
/// Answers held back at once; what comes beyond is refused at once.
const HELD_MAX: usize = 256;
/// Addresses that are counted one by one; those beyond share one count.
const PEERS_MAX: usize = 4_096;
const THE_REST: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
/// Lines in the log about wrong tokens, within one window.
const LINES_MAX: u32 = 30;
/// An address gets a line for each of its first wrong tokens only.
const LINES_EACH: u32 = 3;

#[derive(Clone)]
pub struct WrongTokens {
    /// How many within a minute are answered at once.
    free: u32,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    peers: HashMap<IpAddr, Strikes>,
    held: usize,
    lines: Option<Strikes>,
}

/// How often something happened since the window began.
#[derive(Clone, Copy)]
struct Strikes {
    since: Instant,
    count: u32,
}

impl Strikes {
    fn more(before: Option<Self>, now: Instant) -> Self {
        match before {
            Some(it) if now < it.since + WINDOW => Self {
                count: it.count.saturating_add(1),
                ..it
            },
            _ => Self {
                since: now,
                count: 1,
            },
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    AtOnce,
    Slow,
    /// Not before this is over.
    Wait(Duration),
}

impl WrongTokens {
    pub fn new(free: u32) -> Self {
        Self {
            free,
            seen: Arc::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(|it| it.into_inner())
    }

    /// Notes a wrong token or link, and waits if there were many; an error is the answer in place of the usual one.
    pub async fn noted(&self, peer: Option<Peer>) -> Result<(), Problem> {
        metrics::counter!("step47_wrong_tokens_total").increment(1);
        let Some(peer) = peer else {
            return Ok(());
        };
        match self.judge(peer, Instant::now()) {
            Verdict::AtOnce => Ok(()),
            Verdict::Slow => match self.hold() {
                Some(_held) => {
                    sleep(SLOW).await;
                    Ok(())
                }
                None => Err(too_many(SLOW)),
            },
            Verdict::Wait(time) => Err(too_many(time)),
        }
    }

    fn judge(&self, peer: Peer, now: Instant) -> Verdict {
        let mut seen = self.lock();
        let mut key = peer.neighbourhood();
        if seen.peers.len() >= PEERS_MAX && !seen.peers.contains_key(&key) {
            seen.peers.retain(|_, it| now < it.since + WINDOW);
            if seen.peers.len() >= PEERS_MAX {
                key = THE_REST;
            }
        }
        let strikes = Strikes::more(seen.peers.get(&key).copied(), now);
        seen.peers.insert(key, strikes);
        let refused = self.free.saturating_mul(SLOWED);
        let turns = [self.free.saturating_add(1), refused.saturating_add(1)];
        if strikes.count <= LINES_EACH || turns.contains(&strikes.count) {
            let lines = Strikes::more(seen.lines, now);
            seen.lines = Some(lines);
            if lines.count <= LINES_MAX {
                let (address, times) = (peer.0, strikes.count);
                tracing::warn!(%address, times, "a wrong token or sign-in link");
            }
        }
        match strikes.count {
            count if count <= self.free => Verdict::AtOnce,
            count if count <= refused => Verdict::Slow,
            _ => Verdict::Wait((strikes.since + WINDOW).saturating_duration_since(now)),
        }
    }

    fn hold(&self) -> Option<SlowAnswer> {
        let mut seen = self.lock();
        if seen.held >= HELD_MAX {
            return None;
        }
        seen.held += 1;
        Some(SlowAnswer(self.clone()))
    }
}

/// An answer that is held back.
struct SlowAnswer(WrongTokens);

impl Drop for SlowAnswer {
    fn drop(&mut self) {
        self.0.lock().held -= 1;
    }
}

fn too_many(time: Duration) -> Problem {
    let seconds = time.as_secs() + 1;
    let detail = format!(
        "too many wrong tokens or sign-in links came from this address: check yours, and try again in {seconds} s"
    );
    Problem::new(Code::TooMany, detail).with("retry_after", seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(n: u32) -> Peer {
        Peer(IpAddr::V4(Ipv4Addr::from(0x0a00_0000 + n)))
    }

    #[tokio::test]
    async fn many_wrong_tokens_are_slowed_then_refused_and_forgiven_after_a_minute() {
        let (wrong, now) = (WrongTokens::new(2), Instant::now());
        let judged: Vec<_> = (0..13).map(|_| wrong.judge(peer(1), now)).collect();
        assert_eq!(judged[..2], [Verdict::AtOnce; 2]);
        assert_eq!(judged[2..12], [Verdict::Slow; 10]);
        assert_eq!(judged[12], Verdict::Wait(WINDOW));
        assert_eq!(
            wrong.judge(peer(2), now),
            Verdict::AtOnce,
            "another address"
        );
        let refused = wrong.noted(Some(peer(1))).await.unwrap_err();
        assert_eq!(refused.status, 429);
        assert_eq!(wrong.judge(peer(1), now + WINDOW), Verdict::AtOnce);
    }

    #[test]
    fn a_hundred_thousand_addresses_cost_no_more_than_some_thousand() {
        let (wrong, now) = (WrongTokens::new(2), Instant::now());
        for n in 0..100_000 {
            wrong.judge(peer(n), now);
        }
        assert_eq!(wrong.lock().peers.len(), PEERS_MAX + 1);
        assert!(matches!(wrong.judge(peer(200_000), now), Verdict::Wait(_)));
        assert_eq!(
            wrong.judge(peer(0), now),
            Verdict::AtOnce,
            "it has its own count"
        );
        wrong.judge(peer(300_000), now + WINDOW);
        assert!(
            wrong.lock().peers.len() < 3,
            "who is quiet for a minute is forgotten"
        );
    }

    #[test]
    fn answers_held_back_are_bounded() {
        let wrong = WrongTokens::new(0);
        let held: Vec<_> = (0..HELD_MAX).map(|_| wrong.hold()).collect();
        assert!(held.iter().all(Option::is_some));
        assert!(wrong.hold().is_none());
        drop(held);
        assert!(wrong.hold().is_some());
    }
}
