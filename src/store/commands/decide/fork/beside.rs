//! What a fork gets from its origin beside steps and attempts: announcements, references and tags. They are few, and a worker may
//! have looked at a reference a moment ago, so they are copied in the transaction itself.

use crate::{
    domain::RunId,
    store::{
        Error,
        bulk::Bulk,
        engine::{Connection, Param, Row, params},
        rows::{
            RunRow,
            announced::{self, AnnouncedInFork, AnnouncedRow},
            reference::{self, RefInFork, RefRow},
            tag::{self, TagInFork, TagRow},
        },
        table::{Declared as _, Table},
    },
};

/// Rows read at once.
const PAGE: i64 = 200;

/// What is copied, to the run that is given.
pub struct Beside<'a> {
    pub origin: &'a RunId,
    /// The first step that is not shared.
    pub from: i64,
    /// The newest snapshot that is shared.
    pub snapshot: i64,
}

/// What a fork gets for a row.
enum Copied {
    Row(Vec<Param>),
    Nothing,
}

impl Beside<'_> {
    /// The run learns how much of it is still announced.
    pub async fn all(&self, conn: &mut dyn Connection, run: &mut RunRow) -> Result<(), Error> {
        let to = run.id.clone();
        self.rows(conn, &announced::TABLE, &announced::COPY, |row| {
            self.announced(row, run)
        })
        .await?;
        self.rows(conn, &reference::TABLE, &reference::COPY, |row| {
            let given = RefInFork { run: to.clone() };
            let copy = RefRow::opened(row)?.forked(given);
            Ok(Copied::Row(reference::COPY.row(copy.values(), params![])))
        })
        .await?;
        self.rows(conn, &tag::TABLE, &tag::COPY, |row| self.tag(row, &to))
            .await
    }

    /// A tag of a snapshot that the fork does not share, or that was rewound past, stays with its origin.
    fn tag(&self, row: Row, to: &RunId) -> Result<Copied, Error> {
        let tag = TagRow::opened(row)?;
        let shared = tag.snapshot <= self.snapshot && tag.seq.is_none_or(|seq| seq < self.from);
        if tag.hidden || !shared {
            return Ok(Copied::Nothing);
        }
        let copy = tag.forked(TagInFork { run: to.clone() });
        Ok(Copied::Row(tag::COPY.row(copy.values(), params![])))
    }

    /// An announcement that a step after the fork had met is open again in the fork.
    fn announced(&self, row: Row, run: &mut RunRow) -> Result<Copied, Error> {
        let announced = AnnouncedRow::opened(row)?;
        let copy = announced.forked(AnnouncedInFork {
            run: run.id.clone(),
            seq: announced.seq.filter(|seq| *seq < self.from),
        });
        run.announced += i64::from(copy.seq.is_none());
        Ok(Copied::Row(announced::COPY.row(copy.values(), params![])))
    }

    /// Copies the rows of one table in the order of their keys.
    async fn rows(
        &self,
        conn: &mut dyn Connection,
        table: &'static Table,
        to: &'static Bulk,
        mut copied: impl FnMut(Row) -> Result<Copied, Error>,
    ) -> Result<(), Error> {
        let mut after = Vec::new();
        loop {
            let found = table.page(conn, Some(self.origin), &after, PAGE).await?;
            let over = (found.len() as i64) < PAGE;
            let mut copies = Vec::with_capacity(found.len());
            for row in found {
                after = table.key_of(row.unread());
                if let Copied::Row(copy) = copied(row)? {
                    copies.push(copy);
                }
            }
            to.execute(conn, copies).await?;
            if over {
                return Ok(());
            }
        }
    }
}
