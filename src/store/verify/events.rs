//! The chain of events: each link, the numbers without a gap, and the head that the counter knows.

use super::{PAGE, Walk};
use crate::{
    domain::{Event, Hash, RunId},
    store::{
        Error,
        engine::{Param, Row, params},
        rows::{
            event::{EventRow, TABLE, event_columns, linked_events},
            text,
        },
    },
};

impl Walk<'_> {
    pub async fn all_events(&mut self) -> Result<(), Error> {
        let sql = concat!(
            "SELECT ",
            event_columns!(),
            " FROM events WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3"
        );
        let (mut last, mut head) = (0, Hash::default());
        while last < self.found.event {
            let page = params![last, self.found.event, PAGE];
            let rows = match self.conn.fetch(sql, page).await {
                Ok(rows) => rows,
                Err(error) => {
                    return self.trouble(None, &format!("event {}", last + 1), error);
                }
            };
            if rows.is_empty() {
                break;
            }
            let count = rows.len() as i64;
            for row in rows {
                (last, head) = self.event(row, last, head);
                if self.found.more {
                    return Ok(());
                }
            }
            self.found.checked.events += count;
            self.done(count);
        }
        if (last, head) != (self.found.event, self.found.head) {
            let why = format!(
                "the counter says event {} with another head than the events give",
                self.found.event
            );
            self.damage(None, "the head of the events", why, Some(last));
        }
        // One statement: between two of them an agent may write an event.
        let beyond =
            "SELECT MIN(id) FROM events WHERE id > (SELECT event FROM counter WHERE id = 1)";
        let first = match self.conn.fetch_one(beyond, params![]).await {
            Ok(row) => row.map(|mut row| row.opt_int()).transpose()?.flatten(),
            Err(error) => return self.trouble(None, "the head of the events", error),
        };
        if let Some(id) = first {
            let why = "it stands behind the newest one that the counter knows".to_owned();
            self.damage(None, format!("event {id}"), why, Some(last));
        }
        Ok(())
    }

    /// Checks one event against the one before; answers where the chain stands now.
    fn event(&mut self, mut row: Row, last: i64, head: Hash) -> (i64, Hash) {
        match read(&mut row) {
            Ok((event, hash)) => {
                if event.id != last + 1 {
                    let why = format!("events {} to {} are missing", last + 1, event.id - 1);
                    self.damage(None, format!("event {}", last + 1), why, Some(last));
                } else if event.link(head) != hash {
                    let why = "it does not match its hash".to_owned();
                    let run = event.run.clone();
                    self.damage(Some(&run), format!("event {}", event.id), why, Some(last));
                }
                (event.id, hash)
            }
            Err(error) => {
                let why = error.what();
                self.damage(None, format!("event {}", last + 1), why, Some(last));
                (last + 1, head)
            }
        }
    }

    /// The events of one run, each linked to the one before it in the store.
    pub async fn events_of(&mut self, run: &RunId) -> Result<(), Error> {
        let sql = linked_events!("run = $3 AND id > $1 ORDER BY id LIMIT $2");
        let mut last = 0;
        loop {
            let rows = match self
                .conn
                .fetch(sql, params![last, PAGE, run.as_str()])
                .await
            {
                Ok(rows) => rows,
                Err(error) => return self.trouble(Some(run), "its events", error),
            };
            if rows.is_empty() {
                return Ok(());
            }
            for row in rows {
                let id = row.ahead(1).int()?;
                self.found.checked.events += 1;
                if let Err(error) = linked(row) {
                    let place = format!("event {id}");
                    self.damage(Some(run), place, error.what(), Some(last));
                }
                last = id;
            }
            if self.found.more {
                return Ok(());
            }
            self.done(0);
        }
    }
}

/// An event whose data is, letter by letter, as it was written, and its hash.
fn read(row: &mut Row) -> Result<(Event, Hash), Error> {
    let stored = TABLE.position("data").and_then(|at| row.unread().get(at));
    let stored = stored.cloned();
    let (event, hash) = EventRow::read(row)?;
    match stored {
        Some(Param::Text(Some(stored))) if stored == text(&event.data) => Ok((event, hash)),
        _ => Err(Error::damaged("its data is not as it was written")),
    }
}

fn linked(mut row: Row) -> Result<(), Error> {
    let (event, hash) = read(&mut row)?;
    let before = row.opt_hash()?.unwrap_or_default();
    match event.link(before) == hash {
        true => Ok(()),
        false => Err(Error::damaged(
            "it, or the one before it, does not match its hash",
        )),
    }
}
