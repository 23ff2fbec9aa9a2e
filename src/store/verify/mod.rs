//! Verification: everything that is stored is read once and held against its hashes, seals, numbers and copies.
//!
//! It reads by pages and keeps one page and one state in memory, whatever the size of the store. Agents may write
//! meanwhile: each row is judged as it is read, and numbers only up to where they stood at the start.

pub(super) mod copied;
mod derived;
mod events;
mod run;
mod states;
mod whole;

use super::{
    Error, Store,
    engine::{Connection, params},
    error::transient,
    rows::run as runs,
    tables,
};
use crate::domain::{
    Problem, RunId,
    nouns::{
        audit::AuditVerified,
        integrity::{AuditHead, Damage, Verified},
    },
};

pub use whole::Whole;

/// Rows read at once.
const PAGE: i64 = 200;

/// How far a verification is.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    pub done: i64,
    pub of: i64,
}

/// One verification under way.
struct Walk<'a> {
    conn: Box<dyn Connection>,
    found: Verified,
    progress: Progress,
    tell: &'a mut (dyn FnMut(Progress) + Send),
}

impl Store {
    /// Verifies one run, or everything. Damage is found, not an error; an error means that it could not be looked for.
    pub async fn verify(
        &self,
        run: Option<&RunId>,
        tell: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Verified, Error> {
        let mut walk = Walk {
            conn: self.engine.read().await?,
            found: Verified {
                run: run.cloned(),
                ..Verified::default()
            },
            progress: Progress { done: 0, of: 0 },
            tell,
        };
        if run.is_none() {
            match self.engine.check().await {
                Ok(problems) => problems.into_iter().for_each(|why| {
                    walk.damage(None, "the database file", why, None);
                }),
                Err(error) => walk.trouble(None, "the database file", error)?,
            }
        }
        if let Err(error) = walk.begin().await {
            walk.trouble(None, "the counter", error)?;
            return Ok(walk.found);
        }
        match run {
            Some(run) => walk.one(run).await?,
            None => {
                walk.everything().await?;
                let audit = self.verify_audit().await.map_err(Error::from);
                walk.audit(audit)?;
            }
        }
        Ok(walk.found)
    }
}

impl Walk<'_> {
    async fn begin(&mut self) -> Result<(), Error> {
        let sql = "SELECT event, head, sealed FROM counter WHERE id = 1";
        let row = self.conn.fetch_one(sql, params![]).await?;
        let mut row = row.ok_or_else(|| Error::damaged("the counter row is missing"))?;
        (self.found.event, self.found.head) = (row.int()?, row.hash()?);
        if row.int()? != 1 {
            let why = "it does not say that rows are sealed".to_owned();
            self.damage(None, "the counter", why, None);
        }
        Ok(())
    }

    async fn one(&mut self, run: &RunId) -> Result<(), Error> {
        let sql = format!("{} WHERE id = $1", runs::TABLE.whole_text());
        let rows = self
            .conn
            .fetch_built(sql.into(), params![run.as_str()])
            .await;
        let row = match rows.map(|rows| rows.into_iter().next()) {
            Ok(row) => row.ok_or_else(|| Error::from(Problem::not_found("run")))?,
            Err(error) => return self.trouble(Some(run), "its row", error),
        };
        self.run(row).await?;
        self.events_of(run).await
    }

    async fn everything(&mut self) -> Result<(), Error> {
        self.count().await?;
        self.all_events().await?;
        // Whole tables, not run by run: a row whose run is gone is checked, too.
        for table in tables::by_seals() {
            self.seals(table, None).await?;
        }
        self.derived().await?;
        let sql = runs::TABLE.whole_text();
        let sql = format!("{sql} WHERE ord > $1 ORDER BY ord LIMIT 20");
        let mut after = 0;
        loop {
            let page = self.conn.fetch_built(sql.clone().into(), params![after]);
            let rows = match page.await {
                Ok(rows) => rows,
                Err(error) => return self.trouble(None, "the table runs", error),
            };
            let before = after;
            for row in rows {
                if let Some(ord) = self.run(row).await? {
                    after = after.max(ord);
                }
                if self.found.more {
                    return Ok(());
                }
            }
            if after == before {
                return Ok(());
            }
        }
    }

    /// The audit trail has a chain of its own.
    fn audit(&mut self, verified: Result<AuditVerified, Error>) -> Result<(), Error> {
        match verified {
            Ok(AuditVerified {
                damaged: Some(entry),
                entry: good,
                ..
            }) => {
                let why = "the chain of the audit trail breaks here".to_owned();
                self.damage(None, format!("audit entry {entry}"), why, Some(good));
                Ok(())
            }
            Ok(AuditVerified { entry, head, .. }) => {
                self.found.audit = Some(AuditHead { entry, head });
                Ok(())
            }
            Err(error) => self.trouble(None, "the audit trail", error),
        }
    }

    /// How much there is to do, for the bar.
    async fn count(&mut self) -> Result<(), Error> {
        let sql = "SELECT CAST(COALESCE(SUM(1 + steps + snapshot), 0) AS BIGINT) FROM runs";
        match self.conn.fetch_one(sql, params![]).await {
            Ok(Some(mut row)) => self.progress.of = self.found.event + row.int()?,
            Ok(None) => {}
            Err(error) => self.trouble(None, "the table runs", error)?,
        }
        Ok(())
    }

    fn done(&mut self, more: i64) {
        self.progress.done += more;
        self.progress.of = self.progress.of.max(self.progress.done);
        (self.tell)(self.progress);
    }

    fn damage(
        &mut self,
        run: Option<&RunId>,
        place: impl Into<String>,
        why: String,
        last_good: Option<i64>,
    ) {
        self.found.add(Damage {
            run: run.cloned(),
            place: place.into(),
            why,
            last_good,
        });
    }

    /// What could not be read is damaged, unless the database is only away.
    fn trouble(&mut self, run: Option<&RunId>, place: &str, error: Error) -> Result<(), Error> {
        match error {
            Error::Busy | Error::Setup(_) | Error::Migration(_) => Err(error),
            Error::Database(error) if transient(&error) => Err(error.into()),
            error => {
                self.damage(run, place, error.what(), None);
                Ok(())
            }
        }
    }
}
