//! The bars of a timeline: a step each, an attempt each, or a cell for many.

use std::collections::HashMap;

use super::notable;
use crate::{
    domain::{
        Outcome, RunId, StepStatus, Time,
        timeline::{self, Axis, Bar, CELLS_MAX, Look, Notable, Stretch},
    },
    store::{
        Error,
        engine::{Connection, params},
    },
};

/// A bar for each step, or in time for each of its attempts.
pub(super) async fn single(
    conn: &mut dyn Connection,
    run: &RunId,
    (first, last): (i64, i64),
    end: Time,
    axis: Axis,
) -> Result<Vec<Bar>, Error> {
    let sql = "SELECT seq, status, attempts, decision, begun_at, ended_at, name FROM steps \
         WHERE run = $1 AND seq >= $2 AND seq <= $3 ORDER BY seq";
    let rows = conn.fetch(sql, params![run.as_str(), first, last]).await?;
    let mut bars = Vec::with_capacity(rows.len());
    let mut retried = false;
    for mut row in rows {
        let it = notable(&mut row)?;
        retried |= it.tries > 1;
        bars.push(Bar {
            first: it.seq,
            last: it.seq,
            from: it.begun_at,
            to: it.ended_at.unwrap_or(end),
            look: it.look(),
            lane: 0,
            name: Some(row.text()?),
        });
    }
    if retried && axis == Axis::Time {
        split_attempts(conn, run, (first, last), end, &mut bars).await?;
    }
    Ok(bars)
}

/// Puts the attempts of steps that were tried more than once in the place of their bars.
async fn split_attempts(
    conn: &mut dyn Connection,
    run: &RunId,
    (first, last): (i64, i64),
    end: Time,
    bars: &mut Vec<Bar>,
) -> Result<(), Error> {
    let sql = "SELECT a.seq, a.outcome, a.begun_at, a.ended_at FROM steps s \
         JOIN attempts a ON a.run = s.run AND a.seq = s.seq \
         WHERE s.run = $1 AND s.seq >= $2 AND s.seq <= $3 AND s.attempts > 1 \
         ORDER BY a.seq, a.attempt LIMIT $4";
    let rows = conn
        .fetch(sql, params![run.as_str(), first, last, CELLS_MAX])
        .await?;
    let own: HashMap<i64, Look> = bars.iter().map(|bar| (bar.first, bar.look)).collect();
    for mut row in rows {
        let (seq, outcome): (i64, Outcome) = (row.int()?, row.word()?);
        let (from, to) = (row.time()?, row.opt_time()?);
        let Some(place) = bars.iter().rposition(|bar| bar.first == seq) else {
            continue;
        };
        let look = match outcome {
            Outcome::Failed => Look::Failed,
            Outcome::Crashed => Look::Crashed,
            _ => own.get(&seq).copied().unwrap_or(Look::Committed),
        };
        let to = to.unwrap_or(end);
        let bar = Bar {
            from,
            to,
            look,
            ..bars[place].clone()
        };
        // The first attempt takes the place of the whole step, each later one stands behind it.
        if bars[place].from >= from {
            bars[place] = bar;
        } else {
            bars.insert(place + 1, bar);
        }
    }
    bars.sort_by_key(|bar| bar.from);
    Ok(())
}

/// Cells of as many steps each.
pub(super) fn even((first, last): (i64, i64), cells: i64) -> Vec<Bar> {
    let size = (last - first) / cells + 1;
    let cell = |from: i64| Bar {
        first: from,
        last: (from + size - 1).min(last),
        from: Time(from),
        to: Time(from + size),
        look: Look::Committed,
        lane: 0,
        name: None,
    };
    (0..cells)
        .map(|n| first + n * size)
        .take_while(|from| *from <= last)
        .map(cell)
        .collect()
}

/// Cells of as much time each; those in which no step begins have no bar.
pub(super) async fn by_time(
    conn: &mut dyn Connection,
    run: &RunId,
    window: Stretch,
    cells: i64,
    end: Time,
) -> Result<Vec<Bar>, Error> {
    let every = window.length() / cells + 1;
    // For each edge: the first step that begins at or after it, and the step before that one.
    let sql = "WITH RECURSIVE edge(n) AS (SELECT CAST($4 AS BIGINT) UNION ALL SELECT n - 1 FROM edge WHERE n > 0), \
         cell AS (SELECT n, (SELECT s.seq FROM steps s WHERE s.run = $1 AND s.begun_at >= $2 + n * $3 \
                             ORDER BY s.begun_at, s.seq LIMIT 1) AS first FROM edge) \
         SELECT n, first, \
             (SELECT s.begun_at FROM steps s WHERE s.run = $1 AND s.seq = cell.first), \
             (SELECT s.ended_at FROM steps s WHERE s.run = $1 AND s.seq = cell.first - 1), \
             (SELECT s.status FROM steps s WHERE s.run = $1 AND s.seq = cell.first - 1) \
         FROM cell ORDER BY n";
    let rows = conn
        .fetch(sql, params![run.as_str(), window.from, every, cells])
        .await?;
    struct Edge {
        first: Option<i64>,
        begun_at: Option<Time>,
        ended_before: Option<Time>,
        status_before: Option<StepStatus>,
    }
    let mut edges = Vec::with_capacity(rows.len());
    for mut row in rows {
        row.int()?;
        edges.push(Edge {
            first: row.opt_int()?,
            begun_at: row.opt_time()?,
            ended_before: row.opt_time()?,
            status_before: row.opt_word()?,
        });
    }
    let last_step = last_step(conn, run).await?;
    let mut bars = Vec::new();
    for pair in edges.windows(2) {
        let (Some(first), Some(from)) = (pair[0].first, pair[0].begun_at) else {
            break;
        };
        let (last, ended, status) = match pair[1].first {
            Some(next) => (next - 1, pair[1].ended_before, pair[1].status_before),
            None => last_step,
        };
        if last >= first {
            let to = ended.unwrap_or(end).max(from);
            let look = status.map_or(Look::Committed, |status| Look::of(status, None));
            let look = look.max(Look::Committed);
            bars.push(Bar {
                first,
                last,
                from,
                to,
                look,
                lane: 0,
                name: None,
            });
        }
    }
    Ok(bars)
}

type LastStep = (i64, Option<Time>, Option<StepStatus>);

async fn last_step(conn: &mut dyn Connection, run: &RunId) -> Result<LastStep, Error> {
    let sql = "SELECT seq, ended_at, status FROM steps WHERE run = $1 ORDER BY seq DESC LIMIT 1";
    let row = conn.fetch_one(sql, params![run.as_str()]).await?;
    match row {
        Some(mut row) => Ok((row.int()?, row.opt_time()?, row.opt_word()?)),
        None => Ok((0, None, None)),
    }
}

/// The bars again, as fine as the room that the folds leave to them.
pub(super) async fn between_folds(
    conn: &mut dyn Connection,
    run: &RunId,
    window: Stretch,
    folds: &[Stretch],
    cells: i64,
    end: Time,
) -> Result<Vec<Bar>, Error> {
    let open = timeline::between(window, folds);
    let busy: i64 = open.iter().map(|it| it.length()).sum::<i64>().max(1);
    let mut bars: Vec<Bar> = Vec::new();
    for stretch in open {
        let share = (cells as f64 * stretch.length() as f64 / busy as f64) as i64;
        for bar in by_time(conn, run, stretch, share.max(2), end).await? {
            let known = bars.last().map_or(0, |last| last.last);
            if bar.from.0 < stretch.to && bar.first > known {
                bars.push(bar);
            }
        }
    }
    Ok(bars)
}

/// Each bar shows the worst of its steps.
pub(super) fn worsen(bars: &mut [Bar], notables: &[Notable]) {
    for it in notables {
        let place = bars.partition_point(|bar| bar.last < it.seq);
        if let Some(bar) = bars.get_mut(place).filter(|bar| bar.first <= it.seq) {
            bar.look = bar.look.max(it.look());
        }
    }
}
