//! The chain of events: each link, the numbers without a gap, and the head that the counter knows.

use super::{PAGE, Walk};
use crate::{
    domain::{Event, Hash, RunId},
    store::{
        Error,
        engine::{Row, params},
        rows::text,
    },
};

impl Walk<'_> {
    pub async fn all_events(&mut self) -> Result<(), Error> {
        let sql = "SELECT id, run, seq, kind, at, data, hash FROM events \
             WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3";
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
        // One statement, one look: agents may write meanwhile.
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
    fn event(&mut self, row: Row, last: i64, head: Hash) -> (i64, Hash) {
        match read(row) {
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
        let sql = "SELECT e.id, e.run, e.seq, e.kind, e.at, e.data, e.hash, p.hash FROM events e \
             LEFT JOIN events p ON p.id = e.id - 1 WHERE e.run = $3 AND e.id > $1 ORDER BY e.id LIMIT $2";
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
            for mut row in rows {
                let id = row.int()?;
                self.found.checked.events += 1;
                if let Err(error) = linked(id, row) {
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

fn read(mut row: Row) -> Result<(Event, Hash), Error> {
    let id = row.int()?;
    let event = content(id, &mut row)?;
    Ok((event, row.hash()?))
}

fn content(id: i64, row: &mut Row) -> Result<Event, Error> {
    let (run, seq, kind, at) = (row.word()?, row.opt_int()?, row.word()?, row.time()?);
    let stored = row.text()?;
    let data = crate::store::engine::read_json(&stored)?;
    match text(&data) == stored {
        true => Ok(Event {
            id,
            run,
            seq,
            kind,
            at,
            data,
        }),
        false => Err(Error::damaged("its data is not as it was written")),
    }
}

fn linked(id: i64, mut row: Row) -> Result<(), Error> {
    let event = content(id, &mut row)?;
    let (hash, before) = (row.hash()?, row.opt_hash()?.unwrap_or_default());
    match event.link(before) == hash {
        true => Ok(()),
        false => Err(Error::damaged(
            "it, or the one before it, does not match its hash",
        )),
    }
}
