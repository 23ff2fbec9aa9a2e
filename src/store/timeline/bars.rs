//! The bars of a timeline: a step each, an attempt each, or a cell for many.

use std::collections::HashMap;

use super::notable;
use crate::{
    domain::{
        Outcome, RunId, Time,
        views::timeline::{self, Axis, Bar, CELLS_MAX, Fold, Look, Notable, Stretch, shared_share},
    },
    store::{
        Error,
        engine::{Connection, params},
        fresh,
        rows::{AttemptRow, StepRow, steps},
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
    let steps = StepRow::between(conn, run, first, last).await?;
    let mut bars: Vec<Bar> = Vec::with_capacity(steps.len());
    let mut retried = false;
    for step in steps {
        retried |= step.attempts > 1 && !step.damaged;
        let before = bars.last().map_or(end, |bar| bar.to);
        // A damaged step's times are not drawn: its bar follows the step before.
        let (from, to) = match step.damaged {
            true => (before, before),
            false => (step.begun_at, step.ended_at.unwrap_or(end)),
        };
        bars.push(Bar {
            first: step.seq,
            last: step.seq,
            from,
            to,
            look: notable(&step).look(),
            lane: 0,
            name: Some(step.name).filter(|_| !step.damaged),
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
    let retried = "WHERE run = $1 AND seq IN (SELECT s.seq FROM steps s \
         WHERE s.run = $1 AND s.seq >= $2 AND s.seq <= $3 AND s.attempts > 1) \
         ORDER BY seq, attempt LIMIT $4";
    let params = params![run.as_str(), first, last, CELLS_MAX];
    let attempts = AttemptRow::sound_ones(conn, retried, params).await?;
    let own: HashMap<i64, Look> = bars.iter().map(|bar| (bar.first, bar.look)).collect();
    for attempt in attempts {
        let place = bars.iter().rposition(|bar| bar.first == attempt.seq);
        let Some(place) = place.filter(|at| bars[*at].look != Look::Damaged) else {
            continue;
        };
        let look = match attempt.outcome {
            Outcome::Failed => Look::Failed,
            Outcome::Crashed => Look::Crashed,
            _ => own.get(&attempt.seq).copied().unwrap_or(Look::Committed),
        };
        let (from, to) = (attempt.begun_at, attempt.ended_at.unwrap_or(end));
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

/// Cells of as many steps each; a fork's own steps have the cells that the scale leaves to them.
pub(super) fn even_of_fork((first, last): (i64, i64), cells: i64, own: Option<i64>) -> Vec<Bar> {
    let Some(own) = own.filter(|own| first < *own && *own <= last) else {
        return even((first, last), cells);
    };
    let share = shared_share(own - first, last + 1 - own);
    let shared = ((cells as f64 * share) as i64).clamp(1, cells - 1);
    let mut bars = even((first, own - 1), shared);
    bars.extend(even((own, last), cells - shared));
    bars
}

fn even((first, last): (i64, i64), cells: i64) -> Vec<Bar> {
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
    // For each edge: the first step that begins at or after it; then these and the steps before them.
    let sql = "WITH RECURSIVE edge(n) AS (SELECT CAST($4 AS BIGINT) UNION ALL SELECT n - 1 FROM edge WHERE n > 0), \
         cell AS (SELECT n, (SELECT s.seq FROM steps s WHERE s.run = $1 AND s.begun_at >= $2 + n * $3 \
                             ORDER BY s.begun_at, s.seq LIMIT 1) AS first FROM edge) \
         SELECT first FROM cell ORDER BY n";
    let rows = conn
        .fetch(sql, params![run.as_str(), window.from, every, cells])
        .await?;
    let mut firsts = Vec::with_capacity(rows.len());
    for mut row in rows {
        firsts.push(row.opt_int()?);
    }
    let newest = StepRow::all(
        conn,
        steps!("seq > 0 ORDER BY seq DESC LIMIT 1"),
        params![run.as_str()],
    )
    .await?
    .pop();
    let found = firsts.iter().flatten();
    let mut seqs: Vec<i64> = found.flat_map(|seq| [seq - 1, *seq]).collect();
    seqs.sort_unstable();
    seqs.dedup();
    let read = fresh::steps_among(conn, run, &seqs).await?;
    let edges: HashMap<i64, &StepRow> = read
        .iter()
        .chain(&newest)
        .map(|step| (step.seq, step))
        .collect();
    let mut bars: Vec<Bar> = Vec::new();
    for (n, pair) in (0..).zip(firsts.windows(2)) {
        let Some(first) = pair[0] else { break };
        let last = pair[1].map_or(newest.as_ref().map_or(0, |step| step.seq), |next| next - 1);
        if last < first {
            continue;
        }
        let sound = |seq| edges.get(&seq).filter(|step| !step.damaged);
        // A damaged row's time is not drawn: the bar begins at the edge of its cell.
        let edge = |n| Time(window.from + n * every);
        let (from, to, look) = match (sound(first), sound(last)) {
            (Some(begins), Some(ends)) => {
                let to = ends.ended_at.unwrap_or(end).max(begins.begun_at);
                (begins.begun_at, to, Look::of(ends.status, None))
            }
            _ => (edge(n), edge(n + 1), Look::Damaged),
        };
        bars.push(Bar {
            first,
            last,
            from,
            to,
            look: look.max(Look::Committed),
            lane: 0,
            name: None,
        });
    }
    Ok(bars)
}

/// The bars again, as fine as the room that the folds leave to them.
pub(super) async fn between_folds(
    conn: &mut dyn Connection,
    run: &RunId,
    window: Stretch,
    folds: &[Fold],
    cells: i64,
    end: Time,
) -> Result<Vec<Bar>, Error> {
    let folded: Vec<Stretch> = folds.iter().map(|fold| fold.on()).collect();
    let open = timeline::between(window, &folded);
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
