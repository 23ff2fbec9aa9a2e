//! What an entry of the audit trail says was done, and to whom, line by line: the same in the page and in the command line.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::domain::{
    nouns::audit::AuditEntry,
    rules::{
        decision::{Chosen, DecisionKind, Gist},
        doubt::UNCHECKED,
        plan::LeftBehind,
    },
    views::words,
};

/// Choices of one resume that are told apart.
const CHOSEN_MAX: usize = 10;
/// Tokens that one entry names, where several of one name were revoked.
pub const TOKENS_MAX: usize = 20;

/// "token ci, operator, id 0198…", "step 47: it happened, result {…}", what an edit changed, what a note says.
pub fn said(entry: &AuditEntry) -> Vec<String> {
    let mut lines = about(entry);
    let chosen: Vec<Chosen> = part(entry, "chosen").unwrap_or_default();
    for it in chosen.iter().take(CHOSEN_MAX) {
        let mut line = format!("step {}: {}", words::number(it.step), it.in_words());
        for (name, gist) in [("result", &it.result), ("change", &it.change)] {
            if let Some(gist) = gist {
                line.push_str(&format!(", {name} {}", gist.vouched()));
            }
        }
        lines.push(line);
    }
    if chosen.len() > CHOSEN_MAX {
        let more = chosen.len() - CHOSEN_MAX;
        lines.push(format!("and {more} more steps"));
    }
    let change: Option<Gist> = part(entry, "change");
    lines.extend(change.map(|it| format!("change {}", it.vouched())));
    let again: Vec<i64> = part(entry, "again").unwrap_or_default();
    if !again.is_empty() {
        let steps: Vec<_> = again.into_iter().map(words::number).collect();
        lines.push(format!("may happen again: {}", steps.join(", ")));
    }
    let unknown: Vec<LeftBehind> = part(entry, "unknown").unwrap_or_default();
    lines.extend(unknown.iter().take(CHOSEN_MAX).map(|it| left(entry, it)));
    if unknown.len() > CHOSEN_MAX {
        let more = unknown.len() - CHOSEN_MAX;
        lines.push(format!("and {more} more effects"));
    }
    lines.extend(part::<String>(entry, "text"));
    // Why a change of access was refused.
    lines.extend(part::<String>(entry, "refused"));
    lines
}

/// An effect that a cancel left unknown, or that someone acknowledged as such.
fn left(entry: &AuditEntry, it: &LeftBehind) -> String {
    let known = match entry.action == DecisionKind::Cancel.as_str() {
        true => UNCHECKED,
        false => "may have happened",
    };
    let (step, effect) = (words::number(it.seq), it.effect.in_full());
    format!("{step} {} {known}: {effect}", it.name)
}

fn part<T: DeserializeOwned>(entry: &AuditEntry, name: &str) -> Option<T> {
    let value = entry.detail.get(name)?.clone();
    serde_json::from_value(value).ok()
}

/// Whom or what a change of access is about.
fn about(entry: &AuditEntry) -> Vec<String> {
    let detail = &entry.detail;
    match entry.action.as_str() {
        "add_user" | "new_link" | "disable_user" => named("person", detail).into_iter().collect(),
        "create_token" | "revoke_token" => {
            let several: Vec<Value> = part(entry, "tokens").unwrap_or_default();
            let one = std::slice::from_ref(detail);
            let all = if several.is_empty() { one } else { &several };
            all.iter().filter_map(|it| named("token", it)).collect()
        }
        _ => Vec::new(),
    }
}

/// "person ana, operator", "token ci, agent, id 0198…, of ana".
fn named(what: &str, detail: &Value) -> Option<String> {
    let text = |name: &str| detail[name].as_str();
    let id = text("id").map(|id| format!("id {id}"));
    let owner = text("owner").map(|owner| format!("of {owner}"));
    // The command line once wrote down only what was typed: an id or a name.
    let known = text("name").or(text("token"));
    let first = known.map(|name| format!("{what} {name}"));
    let first = first.or_else(|| id.as_ref().map(|_| what.to_owned()))?;
    let role = text("role").map(str::to_owned);
    let parts = [Some(first), role, id, owner];
    Some(parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::nouns::{audit::AuditKind, time::Time};
    use serde_json::json;

    fn entry(action: &str, detail: Value) -> AuditEntry {
        AuditEntry {
            id: 1,
            at: Time(0),
            kind: AuditKind::Access,
            actor: "admin".into(),
            action: action.into(),
            run: None,
            step: None,
            reason: None,
            detail,
        }
    }

    #[test]
    fn a_change_of_access_names_whom_it_is_about() {
        let said = |action, detail| said(&entry(action, detail));
        let ana = json!({"change": "add_user", "name": "ana", "role": "operator"});
        assert_eq!(said("add_user", ana), ["person ana, operator"]);
        let off = json!({"change": "disable_user", "name": "ana"});
        assert_eq!(said("disable_user", off), ["person ana"]);
        let made = json!({"id": "0198", "name": "ci", "role": "agent", "owner": "ana"});
        assert_eq!(
            said("create_token", made),
            ["token ci, agent, id 0198, of ana"]
        );
        let older = json!({"change": "revoke_token", "id": "0198"});
        assert_eq!(said("revoke_token", older), ["token, id 0198"]);
        let two = json!([{"id": "1", "name": "ci", "role": "agent"}, {"id": "2", "name": "ci", "role": "viewer"}]);
        let both = json!({"token": "ci", "revoked": 2, "tokens": two});
        assert_eq!(
            said("revoke_token", both),
            ["token ci, agent, id 1", "token ci, viewer, id 2"]
        );
    }
}
