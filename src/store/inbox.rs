//! Questions that wait for a person, oldest first, over all runs.

use super::{
    Error, Store,
    engine::{Connection, params},
    rows::{AttemptRow, RunRow, StepRow, step_columns},
};
use crate::domain::{
    Problem,
    inbox::{InboxItem, InboxPage},
};

/// Gates read for one page: those of runs that are over are passed by.
const BUDGET: usize = 1_000;

/// The gates after a place, oldest first: their run, number and time.
pub(super) const WAITING: &str = concat!(
    "SELECT ",
    step_columns!(),
    " FROM steps WHERE status = 'waiting' \
     AND (begun_at > $1 OR (begun_at = $1 AND (run > $2 OR (run = $2 AND seq > $3)))) \
     AND begun_at >= $1 ORDER BY begun_at, run, seq LIMIT $4"
);

impl Store {
    pub async fn inbox(&self, cursor: Option<&str>, limit: i64) -> Result<InboxPage, Problem> {
        let read = async {
            let (mut at, mut run, mut seq) = match cursor {
                None => (i64::MIN, String::new(), 0),
                Some(cursor) => place(cursor)
                    .ok_or_else(|| Problem::invalid("cursor", "is none that a page gave"))?,
            };
            let mut conn = self.engine.read().await?;
            let mut page = InboxPage {
                items: Vec::new(),
                damaged: Vec::new(),
                next: None,
                now: conn.now().await?,
            };
            let mut read = 0;
            loop {
                let params = params![at, run.as_str(), seq, limit + 1];
                let steps = StepRow::all(&mut *conn, WAITING, params).await?;
                let end = steps.len() as i64 <= limit;
                read += steps.len();
                for step in steps {
                    if page.items.len() as i64 == limit {
                        page.next = Some(format!("{at}/{seq}/{run}"));
                        return Ok(page);
                    }
                    // The time of a damaged one may be wrong: it never leads back.
                    if step.begun_at.0 >= at {
                        (at, run, seq) = (step.begun_at.0, step.run.to_string(), step.seq);
                    }
                    if step.damaged {
                        page.damaged.push((step.run, step.seq));
                        continue;
                    }
                    match item(&mut *conn, &step).await {
                        Err(error) if error.is_damage() => page.damaged.push((step.run, step.seq)),
                        read => page.items.extend(read?),
                    }
                }
                if end || read >= BUDGET {
                    page.next = (!end).then(|| format!("{at}/{seq}/{run}"));
                    return Ok(page);
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

/// What this gate asks, unless its run is over.
async fn item(conn: &mut dyn Connection, step: &StepRow) -> Result<Option<InboxItem>, Error> {
    let vanished = || Error::damaged(format!("the run of step {} of {}", step.seq, step.run));
    let run = RunRow::load(conn, &step.run).await?.ok_or_else(vanished)?;
    if run.status.over() {
        return Ok(None);
    }
    let attempt = AttemptRow::load(conn, &step.run, step.seq, step.attempts).await?;
    let content = step.content(conn, &step.run).await?;
    let no_gate = || Error::damaged(format!("the gate of step {} of {}", step.seq, step.run));
    let base = attempt.as_ref().map_or(0, |attempt| attempt.base);
    Ok(Some(InboxItem {
        since: step.begun_at,
        run: run.id,
        seq: step.seq,
        key: step.key.clone(),
        name: step.name.clone(),
        gate: content.gate.ok_or_else(no_gate)?,
        title: run.title,
        agent: run.agent,
        status: run.status,
        version: run.version,
        change: (base > 0).then_some((base - 1, base)),
        worker: attempt.map(|attempt| attempt.worker).unwrap_or_default(),
    }))
}
