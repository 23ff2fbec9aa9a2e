//! Values that name the type they are made as, as in `{"$type": "…", "$ext": 5, "content": …}`. A worker makes an object of
//! such a value, so whoever writes the name decides which code runs there. People change what is in a typed value; only
//! programs name types.

use std::collections::HashMap;

use crate::domain::{
    Hash,
    tree::{Shape, Tree},
};

const NAMES: [&str; 3] = ["$type", "$ext", "$opaque"];

/// What a value says of its type: nothing, if it has none of the names.
type Said = [Option<Hash>; 3];

/// The first place where an edit names a type that was not there before. A typed value that only moved names no type anew, so
/// each name that is gone from one place may appear at another.
pub fn named_anew(before: &Tree, after: &Tree) -> Option<String> {
    let mut found = Found::default();
    found.compare(Some(before), Some(after), &mut Vec::new());
    let mut gone = found.gone;
    let anew = found.new.into_iter().find(|(_, said)| {
        let left = gone.get_mut(said).filter(|left| **left > 0);
        left.map(|left| *left -= 1).is_none()
    });
    anew.map(|(place, _)| place)
}

#[derive(Default)]
struct Found {
    /// Places whose type is not the one that stood there before.
    new: Vec<(String, Said)>,
    /// Types that no longer stand where they stood. One that only moved is both.
    gone: HashMap<Said, usize>,
}

impl Found {
    fn compare<'a>(
        &mut self,
        before: Option<&'a Tree>,
        after: Option<&'a Tree>,
        place: &mut Vec<String>,
    ) {
        if let (Some(before), Some(after)) = (before, after)
            && before.same(after)
        {
            return;
        }
        let (was, is) = (before.and_then(said), after.and_then(said));
        if was != is {
            if let Some(was) = was {
                *self.gone.entry(was).or_default() += 1;
            }
            if let Some(is) = is {
                let pointer = place.iter().map(|key| format!("/{key}")).collect();
                self.new.push((pointer, is));
            }
        }
        let (old, new) = (children(before), children(after));
        for (key, child) in &new {
            place.push(key.clone());
            self.compare(old.get(key).copied(), Some(child), place);
            place.pop();
        }
        for (key, child) in &old {
            if !new.contains_key(key) {
                place.push(key.clone());
                self.compare(Some(child), None, place);
                place.pop();
            }
        }
    }
}

fn said(value: &Tree) -> Option<Said> {
    let Shape::Object(members) = value.shape() else {
        return None;
    };
    let said = NAMES.map(|name| members.get(name).map(Tree::hash));
    said.iter().any(Option::is_some).then_some(said)
}

fn children(value: Option<&Tree>) -> HashMap<String, &Tree> {
    match value.map(Tree::shape) {
        Some(Shape::List(items)) => {
            let numbered = items.iter().enumerate();
            numbered.map(|(n, it)| (n.to_string(), it)).collect()
        }
        Some(Shape::Object(members)) => members.iter().map(|(key, it)| (key.clone(), it)).collect(),
        Some(Shape::Scalar(_)) | None => HashMap::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn anew(before: &Value, after: Value) -> Option<String> {
        named_anew(&before.clone().into(), &after.into())
    }

    #[test]
    fn an_edit_changes_what_is_in_a_typed_value_and_not_what_it_is() {
        let (ai, human) = (
            json!({"$type": "m:AI", "$ext": 5, "content": "hi"}),
            json!({"$type": "m:Human", "content": "x"}),
        );
        let before = json!({"list": [ai, human], "n": 1});
        let edited = json!({"$type": "m:AI", "$ext": 5, "content": "ho", "more": [1]});
        for harmless in [
            json!({"list": [edited, human], "n": 2}),
            json!({"list": [human, ai], "n": 1}),
            json!({"list": [], "last": ai}),
            json!({"n": {"$": 1, "type": "os:system"}}),
        ] {
            assert_eq!(anew(&before, harmless.clone()), None, "{harmless}");
        }
        let system = json!({"$type": "os:system", "$ext": 1, "args": ["true"]});
        for (harmful, place) in [
            (json!({"list": [ai, human], "n": system}), "/n"),
            (json!({"list": [ai, human, ai]}), "/list/2"),
            (
                json!({"list": [{"$type": "os:system", "$ext": 5}, human]}),
                "/list/0",
            ),
            (
                json!({"list": [{"$type": "m:AI", "$ext": 0, "content": "hi"}, human]}),
                "/list/0",
            ),
            (
                json!({"list": [ai, human], "deep": {"er": [{"$opaque": "gASV"}]}}),
                "/deep/er/0",
            ),
            // Its name is gone, and with it a limit on what is made of the rest.
            (
                json!({"list": [{"$ext": 5, "content": "hi"}, human]}),
                "/list/0",
            ),
            (system, ""),
        ] {
            assert_eq!(
                anew(&before, harmful.clone()).as_deref(),
                Some(place),
                "{harmful}"
            );
        }
    }
}
