//! What an entry of the audit trail says was decided, line by line: the same in the page and in the command line.

use serde::de::DeserializeOwned;

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

/// "step 47: it happened, result {…}", what an edit changed, what a note says.
pub fn said(entry: &AuditEntry) -> Vec<String> {
    let mut lines = Vec::new();
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
    lines
}

/// An effect that a cancel left unknown, or that someone acknowledged as such.
fn left(entry: &AuditEntry, it: &LeftBehind) -> String {
    let known = match entry.action == DecisionKind::Cancel.as_str() {
        true => UNCHECKED,
        false => "may have happened",
    };
    let LeftBehind {
        seq, name, effect, ..
    } = it;
    let key = effect.key.as_ref();
    let key = key.map_or(String::new(), |key| format!(", key {key}"));
    let step = words::number(*seq);
    format!(
        "{step} {name} {known}: {} ({}){key}",
        effect.words, effect.target
    )
}

fn part<T: DeserializeOwned>(entry: &AuditEntry, name: &str) -> Option<T> {
    let value = entry.detail.get(name)?.clone();
    serde_json::from_value(value).ok()
}
