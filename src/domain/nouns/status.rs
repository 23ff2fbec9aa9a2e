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
