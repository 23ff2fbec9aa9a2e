//! Questions that wait for a person, oldest first, over all runs.

use std::collections::{BTreeSet, HashMap};

use super::{
    Error, Store,
    engine::{Connection, Row, params},
    fresh::runs_among,
    rows::{AttemptRow, RunRow, StepRow, step::gate, step_columns},
    seal::sound,
};
use crate::domain::{
    Gate, Problem,
    views::inbox::{InboxItem, InboxPage},
};

/// Gates read for one page: those of runs that are over are passed by.
const BUDGET: usize = 1_000;

/// The gates after a place, oldest first.
pub(super) const WAITING: &str = concat!(
    "SELECT begun_at, run, seq, gate, ",
    step_columns!(),
    " FROM steps WHERE status = 'waiting' \
     AND (begun_at > $1 OR (begun_at = $1 AND (run > $2 OR (run = $2 AND seq > $3)))) \
     AND begun_at >= $1 ORDER BY begun_at, run, seq LIMIT $4"
);

impl Store {
    pub async fn inbox(&self, cursor: Option<&str>, limit: i64) -> Result<InboxPage, Problem> {
        let read = async {
            let mut place = match cursor {
                None => GateCursor(i64::MIN, String::new(), 0),
                Some(cursor) => GateCursor::parse(cursor).ok_or_else(|| {
                    Problem::invalid("cursor", "is not a cursor that this server gave")
                })?,
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
                let GateCursor(at, run, seq) = &place;
                let params = params![*at, run.as_str(), *seq, limit + 1];
                let rows = conn.fetch(WAITING, params).await?;
                let end = rows.len() as i64 <= limit;
                read += rows.len();
                let gates = rows.into_iter().map(Waiting::read).filter_map(sound);
                let gates: Vec<_> = gates.collect();
                let runs = owners(&mut *conn, &gates).await?;
                for waiting in gates {
                    if page.items.len() as i64 == limit {
                        page.next = Some(place.to_string());
                        return Ok(page);
                    }
                    // A damaged gate's time may be any: the walk must not go back, or it would not end.
                    if waiting.place.0 >= place.0 {
                        place = waiting.place.clone();
                    }
                    let Some(step) = &waiting.step else { continue };
                    let run = runs.get(step.run.as_str());
                    if run.is_some_and(|run| !run.damaged && run.status.over()) {
                        continue;
                    }
                    match item(&mut *conn, step, waiting.gate, run).await {
                        Err(error) if error.is_damage() => {
                            page.damaged.push((step.run.clone(), step.seq));
                        }
                        item => page.items.push(item?),
                    }
                }
                if end || read >= BUDGET {
                    page.next = (!end).then(|| place.to_string());
                    return Ok(page);
                }
            }
        };
        read.await.map_err(Error::problem)
    }
}

/// Where a gate stands among all: when it began, its run and its number.
#[derive(Clone)]
struct GateCursor(i64, String, i64);

impl GateCursor {
    fn parse(cursor: &str) -> Option<Self> {
        let (at, rest) = cursor.split_once('/')?;
        let (seq, run) = rest.split_once('/')?;
        Some(Self(at.parse().ok()?, run.to_owned(), seq.parse().ok()?))
    }
}

impl std::fmt::Display for GateCursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(at, run, seq) = self;
        write!(f, "{at}/{seq}/{run}")
    }
}

/// A gate as it was found: its place as the index has it, and what its row says, if that can be read.
struct Waiting {
    place: GateCursor,
    gate: Result<Option<Gate>, Error>,
    step: Option<StepRow>,
}

impl Waiting {
    fn read(mut row: Row) -> Result<Self, Error> {
        let place = GateCursor(row.int()?, row.text()?, row.int()?);
        Ok(Self {
            place,
            gate: gate::read(&mut row),
            step: StepRow::listed(vec![row])?.pop(),
        })
    }
}

/// The runs of these gates, by their id.
async fn owners(
    conn: &mut dyn Connection,
    gates: &[Waiting],
) -> Result<HashMap<String, RunRow>, Error> {
    let ids: BTreeSet<&str> = gates.iter().map(|it| it.place.1.as_str()).collect();
    let ids: Vec<&str> = ids.into_iter().collect();
    let runs = runs_among(conn, &ids).await?;
    Ok(runs.into_iter().map(|it| (it.id.to_string(), it)).collect())
}

/// What a gate asks. Nothing is shown of a damaged gate or of a gate of a damaged run.
async fn item(
    conn: &mut dyn Connection,
    step: &StepRow,
    gate: Result<Option<Gate>, Error>,
    run: Option<&RunRow>,
) -> Result<InboxItem, Error> {
    let broken = || Error::damaged(format!("the gate of step {} of {}", step.seq, step.run));
    let run = run.filter(|run| !run.damaged && !step.damaged);
    let (run, gate) = (run.ok_or_else(broken)?, gate?.ok_or_else(broken)?);
    let attempt = AttemptRow::load(conn, &step.run, step.seq, step.attempts).await?;
    let AttemptRow { base, worker, .. } = attempt.ok_or_else(broken)?;
    Ok(InboxItem {
        since: step.begun_at,
        run: run.id.clone(),
        seq: step.seq,
        key: step.key.clone(),
        name: step.name.clone(),
        gate,
        title: run.title.clone(),
        agent: run.agent.clone(),
        status: run.status,
        version: run.version,
        change: (base > 0).then_some((base - 1, base)),
        worker,
    })
}
