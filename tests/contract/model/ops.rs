//! What each side may do, in any order.

/// Keys: 0 is plain, 1 an effect that asks, 2 an effect that is checked, 3 a gate.
#[derive(Debug, Clone, Copy)]
pub enum Op {
    Lease {
        takeover: bool,
    },
    Release {
        stale: bool,
        /// The run is to be paused.
        pause: bool,
    },
    Begin {
        key: usize,
        stale: bool,
        other_name: bool,
    },
    Commit {
        key: usize,
        stale: bool,
        value: u8,
    },
    /// Key 0 fails for good.
    Fail {
        stale: bool,
        /// What its patch puts into the state.
        value: Option<u8>,
    },
    Finish {
        stale: bool,
        done: bool,
    },
    /// Its time is over, and the reaper looks.
    Expire,
    Decide {
        kind: Kind,
        key: usize,
        stale: bool,
        /// For a retry: the provider sees a new key. For a fork: the sequence goes on there.
        new: bool,
    },
    /// The last decision that was taken is sent again, with its `Idempotency-Key`.
    Again,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Retry,
    Commit,
    Skip,
    Approve,
    Reject,
    Answer,
    Edit,
    Rewind,
    Fork,
    Resume,
    Pause,
    Cancel,
    Note,
    Acknowledge,
}

impl Kind {
    pub const ALL: &[Self] = &[
        Self::Retry,
        Self::Commit,
        Self::Skip,
        Self::Approve,
        Self::Reject,
        Self::Answer,
        Self::Edit,
        Self::Rewind,
        Self::Fork,
        Self::Resume,
        Self::Resume,
        Self::Pause,
        Self::Cancel,
        Self::Note,
        Self::Acknowledge,
    ];

    /// As the agent hears of it, where a result is given.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Skip => "skip",
            Self::Approve => "approve",
            Self::Reject => "reject",
            Self::Answer => "answer",
            _ => "",
        }
    }
}
