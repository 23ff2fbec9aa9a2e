//! Chance that comes out the same for the same key, so that a sample agent tells the same story each time.

/// SplitMix64, seeded by a text.
pub struct Random(u64);

impl Random {
    pub fn of(key: &str) -> Self {
        let seed = blake3::hash(key.as_bytes());
        let (first, _) = seed.as_bytes().split_at(8);
        Self(first.iter().fold(0, |n, byte| n << 8 | u64::from(*byte)))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// `low` up to, but not, `high`.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + (self.next() % (high - low).max(1) as u64) as i64
    }

    pub fn seconds(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.between(0, 1_000) as f64 / 1_000.0
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.between(0, from.len() as i64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_key_draws_the_same() {
        let draw = |key| {
            let mut random = Random::of(key);
            (0..5).map(|_| random.between(3, 900)).collect::<Vec<_>>()
        };
        assert_eq!(draw("INV-2214"), draw("INV-2214"));
        assert_ne!(draw("INV-2214"), draw("INV-2215"));
        assert!(draw("x").iter().all(|n| (3..900).contains(n)));
    }
}
