//! A schema as a graph: each subschema once, with what it says of the value itself and of the parts below it.

use serde_json::{Map, Value};
use std::collections::HashMap;

use super::{
    SIZE_MAX, SUBSCHEMAS_MAX, Wrong,
    cost::{Cost, Units},
    keywords::{Part, inside},
    pattern::{Pattern, weigh},
    refs::{Refs, too_many},
};
use crate::domain::wire::json;

/// A schema whose cost is known.
#[derive(Debug)]
pub struct Graph {
    pub(super) nodes: Vec<Node>,
    /// What each subschema asks of a value that has no parts.
    pub(super) costs: Vec<Cost>,
    /// Some pattern needs the engine that may backtrack.
    pub looks: bool,
}

#[derive(Debug, Default)]
pub(super) struct Node {
    /// What it asks of a value by itself.
    pub own: Units,
    /// Subschemas of the same value.
    pub same: Vec<usize>,
    /// Asks once more what each of them said.
    pub unevaluated: bool,
    pub unique: bool,
    pub item: HashMap<usize, Vec<usize>>,
    pub items: Vec<usize>,
    pub member: HashMap<String, usize>,
    pub others: Vec<usize>,
    pub matching: Vec<(Pattern, usize)>,
    pub names: Vec<usize>,
    /// Several places lead here: what it costs is worth remembering.
    pub shared: bool,
}

impl Graph {
    /// Counts what the schema asks; refuses one that asks too much, or refers to what is not there.
    pub fn of(schema: &Value) -> Result<Self, Wrong> {
        if json::canonical(schema).len() > SIZE_MAX {
            return Err(Wrong::new("", format!("is larger than {SIZE_MAX} bytes")));
        }
        let mut builder = Builder {
            refs: Refs::of(schema)?,
            known: HashMap::new(),
            open: Vec::new(),
            nodes: Vec::new(),
            looks: false,
        };
        builder.node("", schema)?;
        while let Some((id, place, schema)) = builder.open.pop() {
            builder.fill(id, &place, schema)?;
        }
        let mut graph = Self {
            nodes: builder.nodes,
            costs: Vec::new(),
            looks: builder.looks,
        };
        graph.costs = super::cost::costs(&graph.nodes, &builder.known)?;
        Ok(graph)
    }
}

struct Builder<'a> {
    refs: Refs<'a>,
    /// Subschemas by where they lie in memory: their number and their place.
    known: HashMap<*const Value, (usize, String)>,
    open: Vec<(usize, String, &'a Value)>,
    nodes: Vec<Node>,
    looks: bool,
}

impl<'a> Builder<'a> {
    fn node(&mut self, place: &str, schema: &'a Value) -> Result<usize, Wrong> {
        if let Some((id, _)) = self.known.get(&std::ptr::from_ref(schema)) {
            self.nodes[*id].shared = true;
            return Ok(*id);
        }
        let id = self.nodes.len();
        if id >= SUBSCHEMAS_MAX {
            return Err(too_many());
        }
        self.nodes.push(Node::default());
        self.known
            .insert(std::ptr::from_ref(schema), (id, place.to_owned()));
        self.open.push((id, place.to_owned(), schema));
        Ok(id)
    }

    fn fill(&mut self, id: usize, place: &str, schema: &'a Value) -> Result<(), Wrong> {
        let Value::Object(schema) = schema else {
            self.nodes[id].own = Units::of(1);
            return Ok(());
        };
        if !place.is_empty() {
            self.refs.whole(place, schema, false)?;
        }
        let mut node = Node {
            own: self.own(place, schema)?,
            unevaluated: ["unevaluatedProperties", "unevaluatedItems"]
                .iter()
                .any(|it| schema.contains_key(*it)),
            unique: schema.get("uniqueItems") == Some(&Value::Bool(true)),
            ..Node::default()
        };
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            if let Some(Value::String(reference)) = schema.get(keyword) {
                let (there, target) = self
                    .refs
                    .target(reference)
                    .map_err(|why| Wrong::new(format!("{place}/{keyword}"), why))?;
                node.same.push(self.node(&there, target)?);
            }
        }
        for (below, part, schema) in inside(schema) {
            if part == Part::Nothing {
                continue;
            }
            let place = format!("{place}{below}");
            let child = self.node(&place, schema)?;
            match part {
                Part::Same => node.same.push(child),
                Part::Item(i) => node.item.entry(i).or_default().push(child),
                Part::Items => node.items.push(child),
                Part::Member(name) => drop(node.member.insert(name.to_owned(), child)),
                Part::Others => node.others.push(child),
                Part::Matching(pattern) => {
                    let pattern = self.pattern(&place, pattern)?;
                    node.matching.push((pattern, child));
                }
                Part::Name => node.names.push(child),
                Part::Nothing => {}
            }
        }
        // What a schema was found to share while its own parts were read stays so.
        node.shared = self.nodes[id].shared;
        self.nodes[id] = node;
        Ok(())
    }

    fn pattern(&mut self, place: &str, pattern: &str) -> Result<Pattern, Wrong> {
        let weighed = weigh(pattern).map_err(|why| Wrong::new(place, why))?;
        self.looks |= weighed.looks;
        Ok(weighed)
    }

    /// What a schema asks by itself: each keyword once, lists by their length, patterns by theirs.
    fn own(&mut self, place: &str, schema: &Map<String, Value>) -> Result<Units, Wrong> {
        let mut own = Units::of(1 + schema.len() as u64);
        for (keyword, value) in schema {
            match (keyword.as_str(), value) {
                ("pattern", Value::String(pattern)) => {
                    let place = format!("{place}/pattern");
                    own += Units::matching(self.pattern(&place, pattern)?);
                }
                ("format" | "contentEncoding" | "contentMediaType", _) => {
                    own += Units::matching(Pattern {
                        states: 32,
                        looks: false,
                    });
                }
                ("enum" | "const" | "required" | "properties" | "dependentRequired", value) => {
                    own += Units::of(json::values(value) as u64 / 8);
                }
                _ => {}
            }
        }
        Ok(own)
    }
}
