//! The two status machines. The difference between pending, running, crashed and committed is the product.

use serde::{Deserialize, Serialize};

/// Where a step stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum StepStatus {
    /// Announced in a plan, not begun.
    Pending,
    /// Begun, and its lease is alive.
    Running,
    Committed,
    /// The agent said so; with attempts left it may be begun again.
    Failed,
    /// Crashed mid-flight: begun, neither committed nor failed when its lease ended.
    Crashed,
    /// A gate without an answer.
    Waiting,
    /// An operator said so.
    Skipped,
    /// Rewound past; kept visible.
    Superseded,
}

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    Pending,
    Running,
    Waiting,
    Paused,
    Crashed,
    Failed,
    /// Queued: waits for a worker.
    Ready,
    Done,
    Cancelled,
}

macro_rules! words {
    ($kind:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $kind {
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl std::str::FromStr for $kind {
            type Err = String;

            fn from_str(word: &str) -> Result<Self, String> {
                match word {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(format!("{word:?} is none of {}", [$($word),+].join(", "))),
                }
            }
        }

        impl std::fmt::Display for $kind {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub(crate) use words;

words!(StepStatus {
    Pending = "pending", Running = "running", Committed = "committed", Failed = "failed",
    Crashed = "crashed", Waiting = "waiting", Skipped = "skipped", Superseded = "superseded",
});

words!(RunStatus {
    Pending = "pending", Running = "running", Waiting = "waiting", Paused = "paused",
    Crashed = "crashed", Failed = "failed", Ready = "ready", Done = "done", Cancelled = "cancelled",
});

/// A question is answered for each status by name: a new status does not compile before it has its answers.
impl StepStatus {
    /// The order in which steps are counted in words: what broke first.
    pub const WORST_FIRST: [Self; 8] = [
        Self::Crashed,
        Self::Failed,
        Self::Waiting,
        Self::Running,
        Self::Skipped,
        Self::Superseded,
        Self::Committed,
        Self::Pending,
    ];
    /// Those that [`broke`](Self::broke), in the order in which a refusal names them.
    pub const BROKEN: &[Self] = &[Self::Crashed, Self::Failed];
    /// Those that [`may_be_skipped`](Self::may_be_skipped), in the same way.
    pub const SKIPPABLE: &[Self] = &[Self::Crashed, Self::Failed, Self::Pending, Self::Waiting];

    /// It stopped without a result: it may be run again, or its result be given.
    pub fn broke(self) -> bool {
        match self {
            Self::Crashed | Self::Failed => true,
            Self::Pending | Self::Running | Self::Committed => false,
            Self::Waiting | Self::Skipped | Self::Superseded => false,
        }
    }

    /// An operator may say that the run goes on without it.
    pub fn may_be_skipped(self) -> bool {
        match self {
            Self::Crashed | Self::Failed | Self::Pending | Self::Waiting => true,
            Self::Running | Self::Committed | Self::Skipped | Self::Superseded => false,
        }
    }

    /// It has its result, and nothing more happens to it.
    pub fn is_settled(self) -> bool {
        match self {
            Self::Committed | Self::Skipped => true,
            Self::Pending | Self::Running | Self::Failed => false,
            Self::Crashed | Self::Waiting | Self::Superseded => false,
        }
    }

    /// It has begun and has no outcome yet: what a lease's end has to look at.
    pub fn is_open(self) -> bool {
        match self {
            Self::Running | Self::Crashed | Self::Waiting => true,
            Self::Pending | Self::Committed | Self::Failed => false,
            Self::Skipped | Self::Superseded => false,
        }
    }

    /// Its last attempt says more than its row: why it broke, or who is at it.
    pub fn is_told_by_attempt(self) -> bool {
        match self {
            Self::Crashed | Self::Failed | Self::Waiting | Self::Running => true,
            Self::Pending | Self::Committed | Self::Skipped | Self::Superseded => false,
        }
    }

    /// Its outcome may come at any moment: whoever waits for it goes on waiting.
    pub fn is_awaited(self) -> bool {
        match self {
            Self::Waiting | Self::Running => true,
            Self::Pending | Self::Committed | Self::Failed => false,
            Self::Crashed | Self::Skipped | Self::Superseded => false,
        }
    }

    /// Buttons stand beside it: a person may help it.
    pub fn may_be_helped(self) -> bool {
        match self {
            Self::Crashed | Self::Failed | Self::Waiting => true,
            Self::Pending | Self::Running | Self::Committed => false,
            Self::Skipped | Self::Superseded => false,
        }
    }

    /// Something is to be said of it by its status alone: it went wrong, waits, or was passed over.
    pub fn is_problem(self) -> bool {
        match self {
            Self::Failed | Self::Crashed | Self::Waiting | Self::Skipped => true,
            Self::Pending | Self::Running | Self::Committed | Self::Superseded => false,
        }
    }

    /// It is listed by the index of notable steps, whatever else its row says.
    pub fn is_notable(self) -> bool {
        self.is_problem() || self == Self::Superseded
    }

    /// What it did outside happened, or may have; `unknown` is what its row says of that.
    pub fn may_have_acted(self, unknown: bool) -> bool {
        match self {
            Self::Committed | Self::Crashed | Self::Running => true,
            Self::Failed | Self::Skipped => unknown,
            Self::Pending | Self::Waiting | Self::Superseded => false,
        }
    }
}

impl RunStatus {
    /// A worker may take it.
    pub fn runnable(self) -> bool {
        matches!(self, Self::Pending | Self::Ready)
    }

    /// Nothing more will happen.
    pub fn over(self) -> bool {
        matches!(self, Self::Done | Self::Cancelled)
    }

    /// A person has to look.
    pub fn needs_you(self) -> bool {
        matches!(self, Self::Crashed | Self::Failed | Self::Waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_list_of_statuses_has_those_that_its_question_is_answered_for() {
        for &status in StepStatus::ALL {
            let once = StepStatus::WORST_FIRST.iter().filter(|it| **it == status);
            assert_eq!(once.count(), 1, "{status}");
            let broken = StepStatus::BROKEN.contains(&status);
            assert_eq!(broken, status.broke(), "{status}");
            let skippable = StepStatus::SKIPPABLE.contains(&status);
            assert_eq!(skippable, status.may_be_skipped(), "{status}");
        }
    }
}
