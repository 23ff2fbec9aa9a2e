//! Where a schema refers to itself. Nothing is fetched, and a schema is one document: what a reference names can be
//! told from it alone, by a pointer or an anchor.

use serde_json::{Map, Value};
use std::collections::HashMap;

use super::{SUBSCHEMAS_MAX, Wrong, keywords::inside};
use crate::domain::wire::patch::tokens;

pub struct Refs<'a> {
    root: &'a Value,
    id: &'a str,
    anchors: HashMap<&'a str, &'a Value>,
}

impl<'a> Refs<'a> {
    pub fn of(root: &'a Value) -> Result<Self, Wrong> {
        let name = |key: &str| root.get(key).and_then(Value::as_str);
        let old = name("$schema").is_some_and(|it| it.contains("draft-04"));
        let id = name(if old { "id" } else { "$id" }).unwrap_or_default();
        let mut refs = Self {
            root,
            id: id.trim_end_matches('#'),
            anchors: HashMap::new(),
        };
        let mut seen = 0;
        let mut open = vec![(String::new(), root)];
        while let Some((place, schema)) = open.pop() {
            seen += 1;
            if seen > SUBSCHEMAS_MAX {
                return Err(too_many());
            }
            let Value::Object(schema) = schema else {
                continue;
            };
            if !place.is_empty() {
                refs.whole(&place, schema, old)?;
            }
            refs.anchor(&place, schema)?;
            for (below, _, schema) in inside(schema) {
                open.push((format!("{place}{below}"), schema));
            }
        }
        Ok(refs)
    }

    /// Below an `$id` references would count from there, in another document.
    pub fn whole(&self, place: &str, schema: &Map<String, Value>, old: bool) -> Result<(), Wrong> {
        let own = |key: &str| {
            let id = schema.get(key).and_then(Value::as_str);
            id.is_some_and(|id| !id.starts_with('#'))
        };
        match own("$id") || (old && own("id")) {
            true => Err(Wrong::new(
                place,
                "only the whole schema may have an id: put its parts into $defs and refer to #/$defs/…",
            )),
            false => Ok(()),
        }
    }

    fn anchor(&mut self, place: &str, schema: &'a Map<String, Value>) -> Result<(), Wrong> {
        let text = |key: &str| schema.get(key).and_then(Value::as_str);
        let by_id = text("$id").or_else(|| text("id"));
        let named = [
            text("$anchor"),
            text("$dynamicAnchor"),
            by_id.and_then(|id| id.strip_prefix('#')),
        ];
        // It was taken out of a `Value`, to which a reference will lead.
        let Some(target) = self.at(place) else {
            return Ok(());
        };
        for name in named.into_iter().flatten() {
            let known = self.anchors.insert(name, target);
            if known.is_some_and(|known| !std::ptr::eq(known, target)) {
                return Err(Wrong::new(
                    place,
                    format!("the anchor {name:?} stands twice"),
                ));
            }
        }
        Ok(())
    }

    fn at(&self, pointer: &str) -> Option<&'a Value> {
        self.root.pointer(pointer)
    }

    /// What a reference names, and where that stands.
    pub fn target(&self, reference: &str) -> Result<(String, &'a Value), String> {
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        if !document.is_empty() && document != self.id {
            return Err(format!(
                "{reference:?} is not in this schema: nothing is fetched, so put it into $defs and refer to #/$defs/…"
            ));
        }
        let fragment = decoded(fragment);
        let missing = || format!("{reference:?} names nothing in this schema");
        match fragment.starts_with('/') || fragment.is_empty() {
            true => {
                tokens(&fragment).map_err(|why| format!("{reference:?}: {why}"))?;
                let target = self.at(&fragment).ok_or_else(missing)?;
                Ok((fragment, target))
            }
            false => {
                let target = self.anchors.get(fragment.as_str()).ok_or_else(missing)?;
                Ok((format!("#{fragment}"), target))
            }
        }
    }
}

pub fn too_many() -> Wrong {
    let why = format!("has more than {SUBSCHEMAS_MAX} subschemas");
    Wrong::new("", why)
}

/// A fragment as it stands in a URI, without its `%` escapes.
fn decoded(fragment: &str) -> String {
    let bytes = fragment.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escaped = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let byte = escaped
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        plain.push(byte.unwrap_or(bytes[at]));
        at += if byte.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&plain).into_owned()
}
