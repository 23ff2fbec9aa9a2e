//! What a schema asks of one value with all its parts, counted as a checker would go through it.

use serde_json::Value;
use std::collections::HashMap;

use super::{Wrong, cost::Units, graph::Graph};
use crate::domain::wire::json;

/// Work on one value; about 30 million a second.
const FITS_MAX: u64 = 100_000_000;
/// Steps of the count itself.
const COUNT_MAX: usize = 4_000_000;
/// Parts whose cost is remembered while counting.
const REMEMBERED_MAX: usize = 1_000_000;
/// Subschemas inside each other on the way down the value: a checker calls itself for each.
const NESTED_MAX: usize = 2_000;
/// A match that the engine gave up is assumed to fit and not to fit, and all is asked again, so many times at most.
const ASSUMED: u64 = 64;
/// What is wrong is listed only below this: each error is kept with its place until all are found.
const ERRORS_MAX: u64 = 500_000;

/// What a check will cost: to say whether a value fits, and to list everything that does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    pub fits: u64,
    pub explain: u64,
    /// How many errors that list could have.
    pub errors: u64,
}

impl Work {
    /// Whether all that is wrong may be listed.
    pub fn explains(&self) -> bool {
        self.explain <= FITS_MAX && self.errors <= ERRORS_MAX
    }
}

impl Graph {
    /// Counts the work; refuses what is too much.
    pub fn work(&self, value: &Value) -> Result<Work, Wrong> {
        let mut counter = Counter {
            graph: self,
            known: HashMap::new(),
            steps: 0,
        };
        let (fits, explain) = counter.count(0, value, 0)?;
        let times = if self.looks { ASSUMED } else { 1 };
        let work = Work {
            fits: fits.saturating_mul(times),
            explain: explain.saturating_mul(times),
            errors: fits,
        };
        match work.fits > FITS_MAX {
            true => Err(too_much()),
            false => Ok(work),
        }
    }
}

fn too_much() -> Wrong {
    let why = "to check so large a value against its schema is too much work: \
         send less, or make the schema simpler (fewer alternatives inside each other, simpler patterns)";
    Wrong::new("", why)
}

struct Counter<'a> {
    graph: &'a Graph,
    known: HashMap<(usize, *const Value), (u64, u64)>,
    steps: usize,
}

impl Counter<'_> {
    /// What this subschema asks of this value: whether it fits, and everything that does not.
    fn count(&mut self, id: usize, value: &Value, depth: usize) -> Result<(u64, u64), Wrong> {
        if !(value.is_array() || value.is_object()) {
            let cost = &self.graph.costs[id];
            return Ok((cost.fits.on(value), cost.explain.on(value)));
        }
        let node = &self.graph.nodes[id];
        let key = (id, std::ptr::from_ref(value));
        if let Some(known) = self.known.get(&key).filter(|_| node.shared) {
            return Ok(*known);
        }
        self.steps += 1;
        let counted = self.steps > COUNT_MAX || self.known.len() > REMEMBERED_MAX;
        if counted || depth > NESTED_MAX {
            return Err(too_much());
        }
        let mut sum = Sum::default();
        sum.add(node.own.on(value), node.own.on(value));
        for same in &node.same {
            let (fits, explain) = self.count(*same, value, depth + 1)?;
            sum.add(fits, fits.saturating_add(explain));
            if node.unevaluated {
                sum.add(explain, explain);
            }
        }
        if node.unique {
            let all = json::values(value);
            self.steps += all / 8;
            let all = 4 * all as u64;
            sum.add(all, all);
        }
        match value {
            Value::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    let one = node.item.get(&i).map_or(&[][..], Vec::as_slice);
                    for child in one.iter().chain(&node.items) {
                        let (fits, explain) = self.count(*child, item, depth + 1)?;
                        sum.add(fits, explain);
                    }
                }
            }
            Value::Object(map) => {
                for (name, member) in map {
                    for id in &node.names {
                        let cost = &self.graph.costs[*id];
                        sum.add(cost.fits.on_text(name), cost.explain.on_text(name));
                    }
                    for (pattern, _) in &node.matching {
                        let units = Units::matching(*pattern).on_text(name);
                        sum.add(units, units);
                    }
                    let matching = node.matching.iter().map(|(_, child)| child);
                    let named = node.member.get(name);
                    let others = node.others.iter().filter(|_| named.is_none());
                    for child in named.into_iter().chain(others).chain(matching) {
                        let (fits, explain) = self.count(*child, member, depth + 1)?;
                        sum.add(fits, explain);
                    }
                }
            }
            _ => {}
        }
        if node.shared {
            self.known.insert(key, (sum.fits, sum.explain));
        }
        Ok((sum.fits, sum.explain))
    }
}

#[derive(Default)]
struct Sum {
    fits: u64,
    explain: u64,
}

impl Sum {
    fn add(&mut self, fits: u64, explain: u64) {
        self.fits = self.fits.saturating_add(fits);
        self.explain = self.explain.saturating_add(explain);
    }
}
