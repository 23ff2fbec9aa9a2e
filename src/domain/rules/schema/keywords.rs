//! Which keywords hold subschemas, and of what part of a value these speak. Keywords of all drafts: one that a draft
//! does not know is counted too, which only errs on the safe side.

use serde_json::{Map, Value};

/// The part of a value that a subschema is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'a> {
    /// The value itself.
    Same,
    /// The item at this place of a list.
    Item(usize),
    /// Any item of a list.
    Items,
    /// The member of this name.
    Member(&'a str),
    /// Members that are not named.
    Others,
    /// Members whose name matches.
    Matching(&'a str),
    /// The name of any member.
    Name,
    /// Nothing, unless it is referred to.
    Nothing,
}

/// The subschemas directly inside a schema: where they stand (a pointer from this one), of what they speak.
pub fn inside(schema: &Map<String, Value>) -> Vec<(String, Part<'_>, &Value)> {
    let mut found = Vec::new();
    for (keyword, value) in schema {
        let part = match keyword.as_str() {
            "not" | "if" | "then" | "else" | "allOf" | "anyOf" | "oneOf" | "dependentSchemas"
            | "dependencies" => Part::Same,
            "items" | "prefixItems" | "additionalItems" | "contains" | "unevaluatedItems" => {
                Part::Items
            }
            "properties" | "additionalProperties" | "unevaluatedProperties" => Part::Others,
            "patternProperties" => Part::Matching(""),
            "propertyNames" => Part::Name,
            "$defs" | "definitions" => Part::Nothing,
            _ => continue,
        };
        match (keyword.as_str(), value) {
            (
                "dependentSchemas" | "dependencies" | "properties" | "patternProperties" | "$defs"
                | "definitions",
                Value::Object(map),
            ) => {
                for (name, value) in map {
                    let part = match keyword.as_str() {
                        "properties" => Part::Member(name),
                        "patternProperties" => Part::Matching(name),
                        _ => part,
                    };
                    found.push((format!("/{keyword}/{}", escape(name)), part, value));
                }
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(list)) => {
                let each = list.iter().enumerate();
                found.extend(each.map(|(i, value)| (format!("/{keyword}/{i}"), part, value)));
            }
            ("items" | "prefixItems", Value::Array(list)) => {
                let each = list.iter().enumerate();
                found.extend(
                    each.map(|(i, value)| (format!("/{keyword}/{i}"), Part::Item(i), value)),
                );
            }
            (_, Value::Object(_) | Value::Bool(_)) => {
                found.push((format!("/{keyword}"), part, value));
            }
            _ => {}
        }
    }
    // What a dependency lists, and whatever else is no schema, is not one.
    found.retain(|(_, _, value)| value.is_object() || value.is_boolean());
    found
}

use crate::domain::wire::json::escape;
