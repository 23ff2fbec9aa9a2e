//! What verification found: how far the chain of events reaches, and each place where something is damaged.

use serde::{Deserialize, Serialize};

use crate::domain::{
    nouns::{ids::RunId, time::Time},
    tree::hash::Hash,
};

/// One verification names this many damages, and then says only that there are more.
pub const DAMAGES_MAX: usize = 100;

/// The answer of a verification. It says what was read and matched; it does not claim more.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Verified {
    /// The run that was looked at; all of them if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// The newest event when it began, and the head of the chain there: to be compared with one noted down before.
    pub event: i64,
    pub head: Hash,
    /// The newest entry of the audit trail and the head of its chain; absent if it was not looked at, or is damaged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit: Option<AuditHead>,
    pub checked: Checked,
    pub damages: Vec<Damage>,
    /// There are more damages than are named.
    #[serde(default)]
    pub more: bool,
}

/// Where the chain of the audit trail stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditHead {
    pub entry: i64,
    pub head: Hash,
}

/// The verification of everything, which takes as long as there is much.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Verifying {
    Under {
        done: i64,
        of: i64,
    },
    Over {
        /// When it ended, by the database's clock.
        at: Option<Time>,
        found: Verified,
    },
    Failed {
        why: String,
    },
}

/// How much was looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    pub events: i64,
    pub runs: i64,
    pub steps: i64,
    pub snapshots: i64,
}

/// One place where what is stored is not what was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Damage {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// The step, snapshot, event or row, in words.
    pub place: String,
    pub why: String,
    /// For a snapshot or an event: the newest one before it that is good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_good: Option<i64>,
}

impl Verified {
    pub fn good(&self) -> bool {
        self.damages.is_empty()
    }

    /// Adds a damage; answers whether there is room for another.
    pub fn add(&mut self, damage: Damage) -> bool {
        match self.damages.len() < DAMAGES_MAX {
            true => self.damages.push(damage),
            false => self.more = true,
        }
        !self.more
    }

    /// "Verified to event N, head a1b2…", or how much is damaged.
    pub fn in_words(&self) -> String {
        let head = self.head.to_string();
        match (self.damages.len(), self.more) {
            (0, _) => format!("Verified to event {}, head {}…", self.event, &head[..12]),
            (1, false) => "Damaged in 1 place".to_owned(),
            (n, false) => format!("Damaged in {n} places"),
            (n, true) => format!("Damaged in more than {n} places"),
        }
    }
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(run) = &self.run {
            write!(f, "run {run}, ")?;
        }
        write!(f, "{}: {}", self.place, self.why)?;
        match self.last_good {
            Some(n) => write!(f, " (last good: {n})"),
            None => Ok(()),
        }
    }
}
