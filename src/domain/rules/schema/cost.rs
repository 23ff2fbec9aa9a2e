//! What each subschema asks of one value: its own keywords, and those of all that it says in place.

use serde_json::Value;
use std::{collections::HashMap, ops::AddAssign};

use super::{NESTING_MAX, VISITS_MAX, Wrong, graph::Node, pattern::Pattern};

/// A match by the engine that may backtrack costs at most so much: it gives up then.
const BACKTRACKING: u64 = 200;
/// The other engine reads so many letters, times the length of the pattern, for what one visit costs.
const LETTERS: u64 = 64;

/// Work as it is counted: 1 is about what a checker does to compare a value with one keyword.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Units {
    visits: u64,
    /// For each letter of a text.
    letters: u64,
    /// For each text, however long.
    texts: u64,
}

impl Units {
    pub fn of(visits: u64) -> Self {
        Self {
            visits,
            ..Self::default()
        }
    }

    pub fn matching(pattern: Pattern) -> Self {
        match pattern.looks {
            true => Self {
                texts: BACKTRACKING,
                letters: pattern.states,
                ..Self::default()
            },
            false => Self {
                letters: pattern.states,
                ..Self::default()
            },
        }
    }

    /// Of a value that has no parts, or without them.
    pub fn on(&self, value: &Value) -> u64 {
        match value {
            Value::String(text) => self.on_text(text),
            _ => self.visits,
        }
    }

    pub fn on_text(&self, text: &str) -> u64 {
        let letters = self.letters.saturating_mul(text.len() as u64) / LETTERS;
        self.visits
            .saturating_add(letters)
            .saturating_add(self.texts)
    }
}

impl AddAssign for Units {
    fn add_assign(&mut self, other: Self) {
        self.visits = self.visits.saturating_add(other.visits);
        self.letters = self.letters.saturating_add(other.letters);
        self.texts = self.texts.saturating_add(other.texts);
    }
}

/// To say whether a value fits, and to say everything that does not: for that each alternative is tried again.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cost {
    pub fits: Units,
    pub explain: Units,
}

type Places = HashMap<*const Value, (usize, String)>;

/// The costs of all subschemas, in their order.
pub fn costs(nodes: &[Node], places: &Places) -> Result<Vec<Cost>, Wrong> {
    let mut counter = Counter {
        nodes,
        costs: vec![State::Unknown; nodes.len()],
    };
    let wrong = |(id, why): (usize, String)| {
        let place = places.values().find(|(it, _)| *it == id);
        Wrong::new(place.map_or("", |(_, place)| place.as_str()), why)
    };
    (0..nodes.len())
        .map(|id| counter.cost(id, 0).map_err(wrong))
        .collect()
}

#[derive(Clone, Copy)]
enum State {
    Unknown,
    Open,
    /// With how many others are inside each other below it.
    Known(Cost, usize),
}

struct Counter<'a> {
    nodes: &'a [Node],
    costs: Vec<State>,
}

impl Counter<'_> {
    fn cost(&mut self, id: usize, depth: usize) -> Result<Cost, (usize, String)> {
        self.counted(id, depth).map(|(cost, _)| cost)
    }

    fn counted(&mut self, id: usize, depth: usize) -> Result<(Cost, usize), (usize, String)> {
        let deep = || {
            (
                id,
                format!(
                    "is more than {NESTING_MAX} subschemas inside each other, all about one value"
                ),
            )
        };
        match self.costs[id] {
            State::Known(cost, below) if depth + below <= NESTING_MAX => return Ok((cost, below)),
            State::Known(..) => return Err(deep()),
            State::Open => {
                let why = "refers to itself without going into the value: it says nothing";
                return Err((id, why.into()));
            }
            State::Unknown if depth > NESTING_MAX => return Err(deep()),
            State::Unknown => self.costs[id] = State::Open,
        }
        let node = &self.nodes[id];
        let mut cost = Cost {
            fits: node.own,
            explain: node.own,
        };
        let mut below = 0;
        for same in &node.same {
            let (inner, nested) = self.counted(*same, depth + 1)?;
            below = below.max(nested + 1);
            cost.fits += inner.fits;
            cost.explain += inner.fits;
            cost.explain += inner.explain;
            if node.unevaluated {
                cost.fits += inner.explain;
                cost.explain += inner.explain;
            }
        }
        if cost.explain.visits > VISITS_MAX {
            let why = format!(
                "asks more than {VISITS_MAX} questions about each value: $ref, allOf, anyOf and the like multiply"
            );
            return Err((id, why));
        }
        self.costs[id] = State::Known(cost, below);
        Ok((cost, below))
    }
}
