//! What can go wrong in the store: a refusal the caller may read, or trouble that is logged and kept inside.

use std::borrow::Cow;

use crate::domain::{Code, Problem, Trouble};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request breaks a rule; nothing was changed.
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
    /// The request breaks a rule, and what is named stays written nevertheless: no other refusal keeps anything.
    #[error("{1}")]
    RefusedBut(KeptByRefusal, Problem),
    /// What a command was prepared from has changed, or it met something long that has to be read before the transaction: it
    /// has to be prepared again.
    #[error("the run changed while the request was checked: send it again")]
    Outdated,
    /// Nothing can be written, whoever asks: a full disk, a lost file.
    #[error("{}", .0.detail())]
    Unwritable(Trouble),
    /// The write queue is full or closed.
    #[error("the store is busy")]
    Busy,
    #[error("{0}")]
    Setup(String),
}

/// What a refused command leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptByRefusal {
    /// The result of a commit that came after its lease had ended.
    LateEvidence,
    /// The end of a lease that was taken over, though the run then waits for an operator and not for a worker.
    Takeover,
}

impl Error {
    pub fn damaged(what: impl std::fmt::Display) -> Self {
        Self::Damaged(what.to_string())
    }

    /// It is the stored data, not the database, that is at fault.
    pub(super) fn is_damage(&self) -> bool {
        match self {
            Self::Damaged(_) => true,
            Self::Refused(problem) => problem.code == Code::Corrupt,
            _ => false,
        }
    }

    /// What went wrong, in words for a list of damages.
    pub(super) fn what(self) -> String {
        match self {
            Self::Damaged(what) => what,
            other => other.to_string(),
        }
    }

    /// The whole transaction is spoilt, not only this request.
    pub(super) fn spoils_transaction(&self) -> bool {
        matches!(
            self,
            Self::Database(_) | Self::Migration(_) | Self::Unwritable(_)
        )
    }

    /// What keeps the store from writing, if it is that and not this request.
    pub fn trouble(&self) -> Option<Trouble> {
        match self {
            Self::Unwritable(trouble) => Some(*trouble),
            Self::Database(error) => trouble(error),
            _ => None,
        }
    }

    /// Names the store that could not be opened or migrated.
    pub(super) fn at(self, place: &str) -> Self {
        let why = match (self.trouble(), self) {
            (Some(trouble), error) => format!("{} ({error})", trouble.detail()),
            (None, error) => error.to_string(),
        };
        Self::Setup(format!("{place}: {why}"))
    }

    /// What the caller is told; details of the database stay in the log.
    pub fn problem(self) -> Problem {
        match self {
            Self::Refused(problem) | Self::RefusedBut(_, problem) => problem,
            Self::Damaged(what) => {
                tracing::error!(%what, "stored data is damaged");
                Problem::new(Code::Corrupt, format!("stored data is damaged: {what}"))
            }
            Self::Outdated => Problem::new(Code::Busy, self.to_string()),
            Self::Busy => Problem::new(Code::Busy, "the store is busy; try again shortly"),
            // Logged where it begins and ends, not for each request.
            Self::Unwritable(trouble) => unwritable(trouble),
            Self::Database(error) if let Some(trouble) = trouble(&error) => {
                tracing::debug!(%error, "refused: the store is in trouble");
                unwritable(trouble)
            }
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

fn unwritable(trouble: Trouble) -> Problem {
    Problem::new(Code::Busy, trouble.detail()).with("reason", trouble.as_str())
}

/// The code of an error, by the engine that it comes from.
enum Failed<'a> {
    /// The primary code, and the whole one.
    Sqlite(u32, u32),
    /// SQLSTATE: five characters.
    Postgres(Cow<'a, str>),
}

fn failed(error: &sqlx::Error) -> Option<Failed<'_>> {
    let code = error.as_database_error()?.code()?;
    match code.len() {
        5 => Some(Failed::Postgres(code)),
        _ => code
            .parse()
            .ok()
            .map(|whole: u32| Failed::Sqlite(whole & 0xff, whole)),
    }
}

/// What the database says that goes for every write, not only for this one.
fn trouble(error: &sqlx::Error) -> Option<Trouble> {
    /// The wal-index could not grow, which takes room and nothing else.
    const SQLITE_IOERR_SHMSIZE: u32 = 4874;
    const SQLITE_READONLY_DBMOVED: u32 = 1032;
    match failed(error)? {
        Failed::Sqlite(13, _) | Failed::Sqlite(_, SQLITE_IOERR_SHMSIZE) => Some(Trouble::DiskFull),
        Failed::Sqlite(_, SQLITE_READONLY_DBMOVED) => Some(Trouble::FileGone),
        Failed::Sqlite(8, _) => Some(Trouble::ReadOnly),
        // 10 SQLITE_IOERR, 14 SQLITE_CANTOPEN.
        Failed::Sqlite(10 | 14, _) => Some(Trouble::Io),
        Failed::Sqlite(..) => None,
        Failed::Postgres(code) => match &*code {
            "53100" => Some(Trouble::DiskFull),
            "25006" => Some(Trouble::ReadOnly),
            "58030" => Some(Trouble::Io),
            _ => None,
        },
    }
}

/// The database is away or overloaded: the same request may work later.
pub(super) fn transient(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed => true,
        error => match failed(error) {
            // SQLITE_BUSY, SQLITE_NOMEM.
            Some(Failed::Sqlite(primary, _)) => matches!(primary, 5 | 7),
            // Class 08 connection, 40 rollback, 53 resources, 55 lock not to be had, 57 operator.
            Some(Failed::Postgres(code)) => ["08", "40", "53", "55", "57"]
                .iter()
                .any(|class| code.starts_with(class)),
            None => false,
        },
    }
}

/// The way to the database is cut, or it does not let anybody in.
pub(super) fn cut_off(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut => true,
        // 53300: too many connections; 55000: the database takes none; 57P0x: stopping, starting.
        error => matches!(failed(error), Some(Failed::Postgres(code))
            if code.starts_with("08") || code.starts_with("57P0") || code == "53300" || code == "55000"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An error as a driver gives it, with this code.
    #[derive(Debug, thiserror::Error)]
    #[error("code {0}")]
    struct Coded(&'static str);

    impl sqlx::error::DatabaseError for Coded {
        fn message(&self) -> &str {
            self.0
        }
        fn code(&self) -> Option<Cow<'_, str>> {
            Some(self.0.into())
        }
        fn as_error(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
            self
        }
        fn as_error_mut(&mut self) -> &mut (dyn std::error::Error + Send + Sync + 'static) {
            self
        }
        fn into_error(self: Box<Self>) -> Box<dyn std::error::Error + Send + Sync + 'static> {
            self
        }
        fn kind(&self) -> sqlx::error::ErrorKind {
            sqlx::error::ErrorKind::Other
        }
    }

    fn told(code: &'static str) -> Problem {
        Error::from(sqlx::Error::Database(Box::new(Coded(code)))).problem()
    }

    #[test]
    fn what_goes_for_every_write_is_busy_with_its_reason() {
        let reasons = [
            ("13", "disk_full"),
            ("4874", "disk_full"),
            ("53100", "disk_full"),
            ("8", "read_only"),
            ("264", "read_only"),
            ("25006", "read_only"),
            ("1032", "file_gone"),
            ("10", "io_error"),
            ("778", "io_error"),
            ("1034", "io_error"),
            ("14", "io_error"),
            ("58030", "io_error"),
        ];
        for (code, reason) in reasons {
            let problem = told(code);
            assert_eq!(problem.code, Code::Busy, "{code}");
            assert_eq!(problem.fields["reason"], reason, "{code}");
        }
    }

    #[test]
    fn other_errors_stay_what_they_were() {
        // 5386 is SQLite's and not of PostgreSQL's class 53; 2067 is a broken constraint.
        assert_eq!(told("5386").fields["reason"], "io_error");
        assert_eq!([told("5").code, told("55P03").code], [Code::Busy; 2]);
        assert_eq!([told("2067").code, told("23505").code], [Code::Internal; 2]);
        assert!(told("5").fields.is_empty());
    }
}
