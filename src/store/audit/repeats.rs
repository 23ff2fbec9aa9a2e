//! What repeats is counted instead of written again: the first of a kind goes to the audit trail at once, the rest
//! of its minute becomes one more entry that says how many there were.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
    time::{Duration, Instant},
};

use crate::domain::nouns::audit::{AuditEntry, AuditKind};

const MINUTE: Duration = Duration::from_secs(60);
/// Kinds that are told apart at a time; what is beyond is counted together.
const KINDS_MAX: usize = 200;
/// Who and what stands in an entry about several.
const SEVERAL: &str = "several";

/// What makes two entries alike.
#[derive(PartialEq, Eq, Hash)]
struct Alike {
    kind: AuditKind,
    actor: String,
    /// Person or token, and which of the tokens of this name.
    caller: String,
    action: String,
    /// The route's pattern, the run or whatever else it is about.
    about: String,
}

struct Repeated {
    /// The newest one.
    entry: AuditEntry,
    since: Instant,
    /// How many came after the one that was written.
    count: u64,
}

/// Who did it, beside the name.
fn caller(entry: &AuditEntry) -> String {
    let who = &entry.detail["who"];
    format!("{} {}", who["kind"], who["token"])
}

/// Clones share what was counted.
#[derive(Clone, Default)]
pub struct Repeats(Arc<Mutex<HashMap<Alike, Repeated>>>);

impl Repeats {
    fn lock(&self) -> MutexGuard<'_, HashMap<Alike, Repeated>> {
        self.0.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    /// Counts an entry; answers the one to write now, if it is the first of its kind.
    pub fn first(&self, about: &str, entry: AuditEntry, now: Instant) -> Option<AuditEntry> {
        let mut alike = Alike {
            kind: entry.kind,
            actor: entry.actor.clone(),
            caller: caller(&entry),
            action: entry.action.clone(),
            about: about.to_owned(),
        };
        let mut entry = entry;
        let mut seen = self.lock();
        if seen.len() >= KINDS_MAX && !seen.contains_key(&alike) {
            seen.retain(|_, it| it.count > 0 || now.duration_since(it.since) < MINUTE);
            if seen.len() >= KINDS_MAX {
                alike = Alike {
                    actor: SEVERAL.into(),
                    caller: String::new(),
                    action: SEVERAL.into(),
                    about: String::new(),
                    ..alike
                };
                entry = super::entry(entry.kind, SEVERAL, SEVERAL);
            }
        }
        if let Some(known) = seen.get_mut(&alike) {
            known.count += 1;
            known.entry = entry;
            return None;
        }
        let repeated = Repeated {
            entry: entry.clone(),
            since: now,
            count: 0,
        };
        seen.insert(alike, repeated);
        Some(entry)
    }

    /// Entries about what was repeated in minutes that are over, or in all of them at the end.
    pub fn counted(&self, now: Instant, end: bool) -> Vec<AuditEntry> {
        let mut counted = Vec::new();
        self.lock().retain(|_, it| {
            if !end && now.duration_since(it.since) < MINUTE {
                return true;
            }
            let repeated = it.count > 0;
            if repeated {
                let mut entry = it.entry.clone();
                if !entry.detail.is_object() {
                    entry.detail = serde_json::json!({});
                }
                entry.detail["repeated"] = it.count.into();
                counted.push(entry);
                // What repeats without a pause becomes one entry a minute.
                (it.count, it.since) = (0, now);
            }
            repeated && !end
        });
        counted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::audit::entry;

    fn refused(actor: &str) -> AuditEntry {
        entry(AuditKind::Refused, actor, "forbidden")
    }

    #[test]
    fn a_minute_of_the_same_is_two_entries() {
        let (repeats, began) = (Repeats::default(), Instant::now());
        let written = (0..300).filter_map(|_| repeats.first("/x", refused("eve"), began));
        assert_eq!(written.count(), 1);
        assert!(repeats.first("/y", refused("eve"), began).is_some());
        assert!(repeats.first("/x", refused("ana"), began).is_some());
        assert!(repeats.counted(began, false).is_empty());
        let later = began + MINUTE;
        let counted = repeats.counted(later, false);
        assert_eq!(counted.len(), 1);
        assert_eq!(counted[0].detail["repeated"], 299);
        assert!(repeats.first("/x", refused("eve"), later).is_none());
        assert_eq!(repeats.counted(later, true)[0].detail["repeated"], 1);
        assert!(repeats.first("/x", refused("eve"), later).is_some());
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let (repeats, now) = (Repeats::default(), Instant::now());
        for i in 0..3 * KINDS_MAX {
            repeats.first("/x", refused(&format!("eve-{i}")), now);
        }
        assert!(repeats.lock().len() <= KINDS_MAX + AuditKind::ALL.len());
        let counted = repeats.counted(now, true);
        assert_eq!(counted.len(), 1);
        assert_eq!(counted[0].actor, SEVERAL);
        assert_eq!(counted[0].detail["repeated"], 2 * KINDS_MAX - 1);
    }
}
