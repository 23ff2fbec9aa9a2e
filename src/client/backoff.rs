//! How long to wait before a request is sent again.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(5);
/// A server may ask for more than `LONGEST`, but not for ever.
const OBEYED: Duration = Duration::from_secs(60);

/// Doubles from try to try; between half and all of it, by chance, so that a herd of workers spreads out.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    tries: u32,
}

impl Backoff {
    /// The next pause, no shorter than the server asked for.
    pub fn next(&mut self, asked: Option<Duration>) -> Duration {
        let pause = pause(self.tries, chance());
        self.tries += 1;
        pause.max(asked.unwrap_or_default().min(OBEYED))
    }
}

fn pause(tries: u32, chance: f64) -> Duration {
    let whole = FIRST.saturating_mul(1 << tries.min(16)).min(LONGEST);
    whole.mul_f64(0.5 + chance / 2.0)
}

/// 0…1. The standard library's hasher keys are random enough to spread retries.
fn chance() -> f64 {
    RandomState::new().hash_one(0) as f64 / u64::MAX as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_limit_and_never_shrink_below_half() {
        let ms = |tries, chance| pause(tries, chance).as_millis();
        assert_eq!([ms(0, 0.0), ms(0, 1.0)], [50, 100]);
        assert_eq!([ms(3, 0.0), ms(3, 1.0)], [400, 800]);
        assert_eq!([ms(99, 0.0), ms(99, 1.0)], [2_500, 5_000]);
    }

    #[test]
    fn a_server_that_asks_for_time_gets_it_within_reason() {
        let mut backoff = Backoff::default();
        let pause = backoff.next(Some(Duration::from_secs(7)));
        assert_eq!(pause, Duration::from_secs(7));
        assert_eq!(backoff.next(Some(Duration::MAX)), OBEYED);
    }

    #[test]
    fn two_workers_do_not_wait_alike() {
        let chances: Vec<f64> = (0..8).map(|_| chance()).collect();
        assert!(chances.iter().all(|c| (0.0..=1.0).contains(c)));
        assert!(chances.windows(2).any(|pair| pair[0] != pair[1]));
    }
}
