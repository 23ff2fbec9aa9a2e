//! Questions that wait for a person, oldest first, over all runs.

use super::{
    Error, Store,
    engine::{Row, params},
};
use crate::domain::{
    Problem, RunStatus, Time,
    inbox::{InboxItem, InboxPage},
};

/// Gates read for one page: those of runs that are over are passed by.
const BUDGET: usize = 1_000;

pub(super) const WAITING: &str = "SELECT s.begun_at, s.run, s.seq, s.key, s.name, s.gate, r.title, r.agent, \
     r.status, r.version, a.base, a.worker \
     FROM steps s JOIN runs r ON r.id = s.run \
     LEFT JOIN attempts a ON a.run = s.run AND a.seq = s.seq AND a.attempt = s.attempts \
     WHERE s.status = 'waiting' AND (s.begun_at > $1 OR (s.begun_at = $1 AND (s.run > $2 OR (s.run = $2 AND s.seq > $3)))) \
     AND s.begun_at >= $1 ORDER BY s.begun_at, s.run, s.seq LIMIT $4";

impl Store {
    pub async fn inbox(&self, cursor: Option<&str>, limit: i64) -> Result<InboxPage, Problem> {
        let read = async {
            let (mut at, mut run, mut seq) = match cursor {
                None => (i64::MIN, String::new(), 0),
                Some(cursor) => place(cursor)
                    .ok_or_else(|| Problem::invalid("cursor", "is none that a page gave"))?,
            };
            let mut conn = self.engine.read().await?;
            let now = conn.now().await?;
            let (mut items, mut read) = (Vec::new(), 0);
            loop {
                let params = params![at, run.as_str(), seq, limit + 1];
                let rows = conn.fetch(WAITING, params).await?;
                let end = rows.len() as i64 <= limit;
                read += rows.len();
                for row in rows {
                    if items.len() as i64 == limit {
                        let next = Some(format!("{at}/{seq}/{run}"));
                        return Ok(InboxPage { items, next, now });
                    }
                    let item = item(row)?;
                    (at, run, seq) = (item.since.0, item.run.to_string(), item.seq);
                    if !item.status.over() {
                        items.push(item);
                    }
                }
                if end || read >= BUDGET {
                    let next = (!end).then(|| format!("{at}/{seq}/{run}"));
                    return Ok(InboxPage { items, next, now });
                }
            }
        };
        read.await.map_err(Error::problem)
    }
}

fn place(cursor: &str) -> Option<(i64, String, i64)> {
    let (at, rest) = cursor.split_once('/')?;
    let (seq, run) = rest.split_once('/')?;
    Some((at.parse().ok()?, run.to_owned(), seq.parse().ok()?))
}

fn item(mut row: Row) -> Result<InboxItem, Error> {
    let since: Time = row.time()?;
    Ok(InboxItem {
        since,
        run: row.word()?,
        seq: row.int()?,
        key: row.text()?.try_into().map_err(Error::Damaged)?,
        name: row.text()?,
        gate: row.sealed()?,
        title: row.opt_text()?,
        agent: row.text()?,
        status: row.word::<RunStatus>()?,
        version: row.int()?,
        change: row
            .opt_int()?
            .filter(|base| *base > 0)
            .map(|base| (base - 1, base)),
        worker: row.opt_text()?.unwrap_or_default(),
    })
}
