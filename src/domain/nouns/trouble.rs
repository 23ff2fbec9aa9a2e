//! Why nothing can be saved at the moment, in the words of those who hear it: agents, operators, and the log.

use serde::{Deserialize, Serialize};

/// What keeps the store from writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trouble {
    DiskFull,
    ReadOnly,
    /// The disk or the file system gives errors.
    #[serde(rename = "io_error")]
    Io,
    /// The file at the store's path is not the one that is open: what is written now would be lost.
    FileGone,
    /// The database does not answer.
    Away,
}

impl Trouble {
    pub const ALL: [Self; 5] = [
        Self::DiskFull,
        Self::ReadOnly,
        Self::Io,
        Self::FileGone,
        Self::Away,
    ];

    /// The `reason` of a `busy` refusal, and the label of the metric.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DiskFull => "disk_full",
            Self::ReadOnly => "read_only",
            Self::Io => "io_error",
            Self::FileGone => "file_gone",
            Self::Away => "away",
        }
    }

    /// What agents and health checks are told: what is wrong, and what ends it.
    pub fn detail(self) -> &'static str {
        match self {
            Self::DiskFull => "the disk is full: free some room; writes go on by themselves then",
            Self::ReadOnly => {
                "the store is read-only: make it writable; writes go on by themselves then"
            }
            Self::Io => {
                "the disk does not take writes (I/O error): the server's log says more; writes go on by themselves when it does"
            }
            Self::FileGone => {
                "the store's file was moved, deleted or replaced while the server ran: put the same file back, or restart the server on what is there now; nothing is saved until then"
            }
            Self::Away => "the database is not available; try again shortly",
        }
    }

    /// What stands on top of every page.
    pub fn banner(self) -> &'static str {
        match self {
            Self::DiskFull => {
                "The disk is full: nothing can be saved now. Saving resumes by itself when there is room."
            }
            Self::ReadOnly => {
                "The store is read-only: nothing can be saved now. Saving resumes by itself when the store can be written again."
            }
            Self::Io => {
                "The store's disk cannot be written to: nothing can be saved now. The server's log says more."
            }
            Self::FileGone => {
                "The store's file was moved, deleted or replaced: nothing can be saved now. Put it back, or restart the server."
            }
            Self::Away => {
                "The database does not answer: nothing can be saved now. It goes on by itself when it is back."
            }
        }
    }
}

/// Whether writes work, as open pages are told when that changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Writing {
    Works,
    Fails(Trouble),
}

impl Writing {
    pub fn trouble(self) -> Option<Trouble> {
        match self {
            Self::Works => None,
            Self::Fails(trouble) => Some(trouble),
        }
    }
}

impl From<Option<Trouble>> for Writing {
    fn from(trouble: Option<Trouble>) -> Self {
        trouble.map_or(Self::Works, Self::Fails)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_and_refusals_use_the_same_words() {
        for trouble in Trouble::ALL {
            assert_eq!(serde_json::json!(trouble), trouble.as_str());
            assert_eq!(Writing::from(Some(trouble)).trouble(), Some(trouble));
        }
        assert_eq!(serde_json::json!(Writing::from(None)), "works");
    }
}
