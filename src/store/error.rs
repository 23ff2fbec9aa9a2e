//! What can go wrong in the store: a refusal the caller may read, or trouble that is logged and kept inside.

use crate::domain::{Code, Problem};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request breaks a rule; nothing was changed (evidence aside).
    #[error("{0}")]
    Refused(#[from] Problem),
    /// The database did not do what it was told.
    #[error("database: {0}")]
    Database(#[from] sqlx::Error),
    #[error("migration: {0}")]
    Migration(#[from] sqlx::migrate::MigrateError),
    /// What is stored does not read back as what was written.
    #[error("damaged: {0}")]
    Damaged(String),
    /// It came up after the first write: nothing of the command may stay.
    #[error("{0}")]
    Midway(Box<Error>),
    /// The write queue is full or closed.
    #[error("the store is busy")]
    Busy,
    #[error("{0}")]
    Setup(String),
}

impl Error {
    pub fn damaged(what: impl std::fmt::Display) -> Self {
        Self::Damaged(what.to_string())
    }

    /// Of a command that has begun to write.
    pub(super) fn midway(self) -> Self {
        Self::Midway(Box::new(self))
    }

    /// It is the stored data, not the database, that is at fault.
    pub(super) fn is_damage(&self) -> bool {
        match self {
            Self::Damaged(_) => true,
            Self::Refused(problem) => problem.code == Code::Corrupt,
            Self::Midway(error) => error.is_damage(),
            _ => false,
        }
    }

    /// What went wrong, in words for a list of damages.
    pub(super) fn what(self) -> String {
        match self {
            Self::Damaged(what) => what,
            Self::Midway(error) => error.what(),
            other => other.to_string(),
        }
    }

    /// The whole transaction is spoilt, not only this request.
    pub(super) fn spoils_transaction(&self) -> bool {
        matches!(
            self,
            Self::Database(_) | Self::Migration(_) | Self::Midway(_)
        )
    }

    /// What the caller is told; details of the database stay in the log.
    pub fn problem(self) -> Problem {
        match self {
            Self::Refused(problem) => problem,
            Self::Midway(error) => error.problem(),
            Self::Damaged(what) => {
                tracing::error!(%what, "stored data is damaged");
                Problem::new(Code::Corrupt, format!("stored data is damaged: {what}"))
            }
            Self::Busy => Problem::new(Code::Busy, "the store is busy; try again shortly"),
            Self::Database(error) if transient(&error) => {
                tracing::warn!(%error, "the database is not available");
                Problem::new(
                    Code::Busy,
                    "the database is not available; try again shortly",
                )
            }
            other => {
                tracing::error!(error = %other, "the store failed");
                Problem::new(
                    Code::Internal,
                    "the store failed; the server's log says why",
                )
            }
        }
    }
}

/// The database is away or overloaded: the same request may work later.
pub(super) fn transient(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed => true,
        // Class 08 connection, 40 rollback, 53 resources, 55 lock not to be had, 57 operator; 5 SQLITE_BUSY.
        sqlx::Error::Database(e) => e.code().is_some_and(|code| {
            code == "5"
                || ["08", "40", "53", "55", "57"]
                    .iter()
                    .any(|class| code.starts_with(class))
        }),
        _ => false,
    }
}
