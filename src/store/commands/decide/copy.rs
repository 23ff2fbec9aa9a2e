//! The rows that a fork gets from its origin: each table's declaration says which columns come along as they are.

use crate::{
    domain::{Outcome, RunId, StepStatus},
    store::{
        Error,
        bulk::Bulk,
        engine::{Connection, Param, Row, params},
        rows::{
            AttemptRow, RunRow, StepRow,
            announced::{self, AnnouncedInFork, AnnouncedRow},
            attempt::{self, AttemptInFork},
            reference::{self, RefInFork, RefRow},
            step::{self, StepInFork},
        },
        table::{Declared as _, Table},
    },
};

/// Rows read at once.
const PAGE: i64 = 200;

/// What is copied, to the run that is given.
pub struct Copy<'a> {
    pub origin: &'a RunId,
    /// The first step that is not shared.
    pub from: i64,
}

impl Copy<'_> {
    /// Steps, attempts, announcements and references; the run learns what it has of them.
    pub async fn all(&self, conn: &mut dyn Connection, run: &mut RunRow) -> Result<(), Error> {
        self.rows(conn, &step::TABLE, &step::COPY, |row| self.step(row, run))
            .await?;
        let to = run.id.clone();
        self.rows(conn, &attempt::TABLE, &attempt::COPY, |row| {
            self.attempt(row, &to)
        })
        .await?;
        self.rows(conn, &announced::TABLE, &announced::COPY, |row| {
            self.announced(row, run)
        })
        .await?;
        self.rows(conn, &reference::TABLE, &reference::COPY, |row| {
            let given = RefInFork { run: to.clone() };
            let copy = RefRow::opened(row)?.forked(given);
            Ok(Some(reference::COPY.row(copy.values(), params![])))
        })
        .await
    }

    /// Settled steps come along as they are; what was open in the origin is not this run's, and only seen.
    fn step(&self, mut row: Row, run: &mut RunRow) -> Result<Option<Vec<Param>>, Error> {
        let step = StepRow::read(&mut row)?.undamaged()?;
        if step.seq >= self.from {
            return Ok(None);
        }
        let status = match step.status {
            StepStatus::Committed | StepStatus::Skipped => step.status,
            StepStatus::Failed if step.retry_at.is_none() => step.status,
            _ => StepStatus::Superseded,
        };
        let copy = step.forked(StepInFork {
            run: run.id.clone(),
            status,
        });
        run.strip.set(copy.seq, copy.status, copy.attempts);
        run.committed += i64::from(copy.status == StepStatus::Committed);
        let beside = step::TABLE.beside_in_fork(row.rest(), &[("ord", run.ord.into())])?;
        Ok(Some(step::COPY.row(copy.values(), beside)))
    }

    /// Nobody works on it here.
    fn attempt(&self, mut row: Row, to: &RunId) -> Result<Option<Vec<Param>>, Error> {
        let attempt = AttemptRow::sound(&mut row)?;
        if attempt.seq >= self.from {
            return Ok(None);
        }
        let copy = attempt.forked(AttemptInFork {
            run: to.clone(),
            outcome: match attempt.outcome {
                Outcome::Running => Outcome::Crashed,
                outcome => outcome,
            },
        });
        let beside = attempt::TABLE.beside_in_fork(row.rest(), &[])?;
        Ok(Some(attempt::COPY.row(copy.values(), beside)))
    }

    /// What a step that is not shared had met is open again.
    fn announced(&self, row: Row, run: &mut RunRow) -> Result<Option<Vec<Param>>, Error> {
        let announced = AnnouncedRow::opened(row)?;
        let copy = announced.forked(AnnouncedInFork {
            run: run.id.clone(),
            seq: announced.seq.filter(|seq| *seq < self.from),
        });
        run.announced += i64::from(copy.seq.is_none());
        Ok(Some(announced::COPY.row(copy.values(), params![])))
    }

    /// Copies the rows of one table in the order of their keys, until there is nothing more to make of one.
    async fn rows(
        &self,
        conn: &mut dyn Connection,
        table: &'static Table,
        to: &'static Bulk,
        mut copied: impl FnMut(Row) -> Result<Option<Vec<Param>>, Error>,
    ) -> Result<(), Error> {
        let mut after = Vec::new();
        loop {
            let found = table.page(conn, Some(self.origin), &after, PAGE).await?;
            let mut over = (found.len() as i64) < PAGE;
            let mut copies = Vec::with_capacity(found.len());
            for row in found {
                after = table.key_of(row.unread());
                match copied(row)? {
                    Some(copy) => copies.push(copy),
                    None => {
                        over = true;
                        break;
                    }
                }
            }
            to.execute(conn, copies).await?;
            if over {
                return Ok(());
            }
        }
    }
}
