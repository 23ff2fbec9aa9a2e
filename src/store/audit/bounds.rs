//! What callers choose themselves (paths, names, bodies) is cut before it goes to the audit trail: nobody fills the
//! disk by being refused.

use serde_json::Value;

use crate::domain::nouns::audit::AuditEntry;

const NAME_MAX: usize = 64;
const PATH_MAX: usize = 200;
const TEXT_MAX: usize = 500;
/// Members of a list or an object, and how deep they nest.
const MEMBERS_MAX: usize = 20;
const DEPTH_MAX: usize = 4;

/// The entry with every text and list cut to the limits above.
pub fn bounded(mut entry: AuditEntry) -> AuditEntry {
    entry.actor = cut(&entry.actor, NAME_MAX);
    entry.action = cut(&entry.action, NAME_MAX);
    entry.reason = entry.reason.map(|reason| cut(&reason, TEXT_MAX));
    entry.detail = value("", entry.detail, DEPTH_MAX);
    entry
}

fn value(name: &str, it: Value, depth: usize) -> Value {
    match it {
        Value::String(text) => cut(&text, if name == "path" { PATH_MAX } else { TEXT_MAX }).into(),
        Value::Array(_) | Value::Object(_) if depth == 0 => Value::Null,
        Value::Array(items) => {
            let items = items.into_iter().take(MEMBERS_MAX);
            items.map(|it| value("", it, depth - 1)).collect()
        }
        Value::Object(map) => {
            let members = map.into_iter().take(MEMBERS_MAX);
            let kept = members.map(|(name, it)| {
                let it = value(&name, it, depth - 1);
                (cut(&name, NAME_MAX), it)
            });
            Value::Object(kept.collect())
        }
        other => other,
    }
}

/// At most this many characters; what was cut off is marked.
fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some(_) => text.chars().take(max - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{domain::nouns::audit::AuditKind, store::audit::entry};
    use serde_json::json;

    #[test]
    fn whatever_a_caller_sends_its_entry_stays_small() {
        let long = "ä".repeat(60_000);
        let nested = (0..100).fold(json!(1), |inner, _| json!({ &long: [inner, long] }));
        let entry = AuditEntry {
            detail: json!({"path": long, "detail": long, "many": vec![1; 5_000], "nested": nested}),
            ..entry(AuditKind::Refused, &long, &long)
        };
        let kept = json!(bounded(entry));
        assert!(kept.to_string().len() < 6_000, "{kept}");
        let length = |it: &Value| it.as_str().map(|it| it.chars().count());
        assert_eq!(length(&kept["detail"]["path"]), Some(PATH_MAX));
        assert_eq!(length(&kept["detail"]["detail"]), Some(TEXT_MAX));
        assert_eq!(length(&kept["actor"]), Some(NAME_MAX));
        assert_eq!(cut("as it is", 8), "as it is");
    }
}
