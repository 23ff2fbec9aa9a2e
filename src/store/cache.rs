//! What was read or made a moment ago, kept at hand and bounded by weight (bytes, or simply how many).
//!
//! One shard: with more of them, each would hold only its share of the weight, and a state of 16 MiB would fit into none.

use quick_cache::{OptionsBuilder, Weighter, sync};
use std::hash::Hash;

pub type Cache<K, V> = sync::Cache<K, V, Weighed<V>>;

/// How much an entry counts.
pub struct Weighed<V>(fn(&V) -> usize);

impl<V> Clone for Weighed<V> {
    fn clone(&self) -> Self {
        Self(self.0)
    }
}

impl<K, V> Weighter<K, V> for Weighed<V> {
    fn weight(&self, _: &K, value: &V) -> u64 {
        // At least 1: entries of weight 0 would never be evicted.
        (self.0)(value).max(1) as u64
    }
}

/// A cache for about `entries` that together weigh at most `weight_max`.
pub fn bounded<K: Eq + Hash + Clone, V: Clone>(
    entries: usize,
    weight_max: usize,
    weight: fn(&V) -> usize,
) -> Cache<K, V> {
    let weight_max = weight_max as u64;
    let options = OptionsBuilder::new()
        .shards(1)
        .estimated_items_capacity(entries)
        .weight_capacity(weight_max)
        .build();
    match options {
        Ok(options) => {
            let (hasher, lifecycle) = (Default::default(), Default::default());
            sync::Cache::with_options(options, Weighed(weight), hasher, lifecycle)
        }
        Err(_) => sync::Cache::with_weighter(entries, weight_max, Weighed(weight)),
    }
}

/// A cache of so many entries, whatever they weigh.
pub fn of_entries<K: Eq + Hash + Clone, V: Clone>(entries: usize) -> Cache<K, V> {
    bounded(entries, entries, |_| 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_holds_a_few_large_values_and_never_more_than_its_weight() {
        let cache: Cache<usize, String> = bounded(16, 64, String::len);
        for key in 0..100 {
            cache.insert(key, "x".repeat(16));
            assert!(cache.weight() <= 64);
        }
        assert!(cache.get(&99).is_some());
        assert_eq!((0..100).filter(|key| cache.get(key).is_some()).count(), 4);
    }

    #[test]
    fn a_value_that_is_heavier_than_the_whole_cache_is_not_kept() {
        let cache: Cache<usize, String> = bounded(16, 64, String::len);
        cache.insert(1, "x".repeat(65));
        assert!(cache.get(&1).is_none());
    }
}
