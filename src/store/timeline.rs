//! A run's timeline, read so that the cost follows the bars that are drawn and not the steps: bars are found by
//! looking up the edges of their cells in an index, and only notable steps are looked at one by one.

use std::collections::HashMap;

use super::{
    Error, Store,
    engine::{Connection, Row, params},
    rows::RunRow,
};
use crate::domain::{
    Kind, Outcome, Problem, RunId, RunStatus, StepStatus, Time,
    timeline::{
        self, Axis, Bar, CELLS_MAX, CELLS_MIN, Child, Flag, Gap, Look, Mark, Notable, Phase,
        Stretch, Timeline, TimelineQuery,
    },
};

/// Notable steps that are looked at in one window.
const NOTABLE_MAX: i64 = 5_000;
const LEASES_MAX: i64 = 500;
const PHASES_MAX: i64 = 500;
const FLAGS_MAX: i64 = 100;
const CHILDREN_MAX: i64 = 50;
/// Idle times are left out by themselves once they are this share of the whole.
const MOSTLY_IDLE: f64 = 0.5;

impl Store {
    pub async fn timeline(&self, run: &RunId, query: &TimelineQuery) -> Result<Timeline, Problem> {
        let read = async {
            let (mut conn, run) = self.find(run).await?;
            let now = conn.now().await?;
            draw(&mut *conn, &run, query, now).await
        };
        read.await.map_err(Error::problem)
    }
}

async fn draw(
    conn: &mut dyn Connection,
    run: &RunRow,
    query: &TimelineQuery,
    now: Time,
) -> Result<Timeline, Error> {
    let cells = query.cells.clamp(CELLS_MIN, CELLS_MAX);
    let ended = matches!(
        run.status,
        RunStatus::Done | RunStatus::Cancelled | RunStatus::Failed
    );
    let end = match ended {
        true => run.finished_at.unwrap_or(run.updated_at),
        false => now,
    };
    let whole = match query.axis {
        Axis::Time => Stretch::new(run.started_at.unwrap_or(run.created_at).0, end.0),
        Axis::Steps => Stretch::new(1, run.steps + 1),
    };
    let window = query.window.map_or(whole, |it| it.within(whole));
    let id = &run.id;
    let range = match query.axis {
        Axis::Steps => (window.from, window.to - 1),
        Axis::Time => steps_between(conn, id, window).await?,
    };
    let mut notables = notables(conn, id, range).await?;
    let cut = notables.len() as i64 > NOTABLE_MAX;
    notables.truncate(NOTABLE_MAX as usize);
    let exact = range.1 - range.0 < cells;
    let mut bars = match (exact, query.axis) {
        (true, axis) => single(conn, id, range, end, axis).await?,
        (false, Axis::Steps) => even(range, cells),
        (false, Axis::Time) => by_time(conn, id, window, cells, end).await?,
    };
    let mut folds = match query.axis {
        Axis::Time => timeline::folds(window, &bars),
        Axis::Steps => Vec::new(),
    };
    let idle: i64 = folds.iter().map(|fold| fold.length()).sum();
    let fold = query
        .fold
        .unwrap_or(idle as f64 > MOSTLY_IDLE * window.length() as f64);
    if !fold {
        folds.clear();
    } else if !exact && !folds.is_empty() {
        bars = between_folds(conn, id, window, &folds, cells, end).await?;
    }
    if !exact {
        worsen(&mut bars, &notables);
    }
    let (lanes, crowded) = match query.axis {
        Axis::Time if exact => timeline::assign(&mut bars),
        _ => (1, 0),
    };
    Ok(Timeline {
        axis: query.axis,
        whole,
        window,
        bars,
        lanes,
        crowded,
        folds,
        idle,
        marks: Mark::of(&notables),
        cut,
        gaps: gaps(conn, run, end, window, query.axis).await?,
        phases: phases(conn, run).await?,
        flags: flags(conn, id).await?,
        children: children(conn, id, end).await?,
        now: (!ended).then_some(now),
        announced: run.announced,
    })
}

/// The steps that begin within `window`, and the one before them: it may reach into it.
async fn steps_between(
    conn: &mut dyn Connection,
    run: &RunId,
    window: Stretch,
) -> Result<(i64, i64), Error> {
    let before = "SELECT seq FROM steps WHERE run = $1 AND begun_at <= $2 ORDER BY begun_at DESC, seq DESC LIMIT 1";
    let mut seq_before = async |at: i64| -> Result<i64, Error> {
        let row = conn.fetch_one(before, params![run.as_str(), at]).await?;
        Ok(row.map(|mut row| row.int()).transpose()?.unwrap_or(0))
    };
    let first = seq_before(window.from).await?.max(1);
    let last = seq_before(window.to).await?;
    Ok((first, last))
}

async fn notables(
    conn: &mut dyn Connection,
    run: &RunId,
    (first, last): (i64, i64),
) -> Result<Vec<Notable>, Error> {
    let sql = "SELECT seq, status, attempts, decision, begun_at, ended_at FROM steps \
         WHERE run = $1 AND seq >= $2 AND seq <= $3 \
         AND (status IN ('failed', 'crashed', 'waiting', 'skipped', 'superseded') OR attempts > 1 OR decision IS NOT NULL) \
         ORDER BY seq DESC LIMIT $4";
    let rows = conn
        .fetch(sql, params![run.as_str(), first, last, NOTABLE_MAX + 1])
        .await?;
    rows.into_iter().map(|mut row| notable(&mut row)).collect()
}

fn notable(row: &mut Row) -> Result<Notable, Error> {
    Ok(Notable {
        seq: row.int()?,
        status: row.word()?,
        tries: row.int()?,
        decision: row.opt_word()?,
        begun_at: row.time()?,
        ended_at: row.opt_time()?,
    })
}

/// A bar for each step, or in time for each of its attempts.
async fn single(
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
async fn by_time(
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
async fn between_folds(
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
fn worsen(bars: &mut [Bar], notables: &[Notable]) {
    for it in notables {
        let place = bars.partition_point(|bar| bar.last < it.seq);
        if let Some(bar) = bars.get_mut(place).filter(|bar| bar.first <= it.seq) {
            bar.look = bar.look.max(it.look());
        }
    }
}

/// The times between leases.
async fn gaps(
    conn: &mut dyn Connection,
    run: &RunRow,
    end: Time,
    window: Stretch,
    axis: Axis,
) -> Result<Vec<Gap>, Error> {
    if axis == Axis::Steps {
        return Ok(Vec::new());
    }
    let sql = "SELECT granted_at, ended_at FROM leases WHERE run = $1 ORDER BY epoch DESC LIMIT $2";
    let rows = conn
        .fetch(sql, params![run.id.as_str(), LEASES_MAX])
        .await?;
    let mut gaps = Vec::new();
    // From the newest lease back: each gap reaches from a lease's end to what came after it.
    let mut until = end;
    let mut open = true;
    for mut row in rows {
        let (granted_at, ended_at) = (row.time()?, row.opt_time()?);
        if let Some(from) = ended_at.filter(|from| *from < until) {
            gaps.push(Gap {
                from,
                to: until,
                open,
            });
        }
        until = granted_at;
        open = false;
    }
    gaps.retain(|gap| gap.from.0 < window.to && gap.to.0 > window.from);
    gaps.reverse();
    Ok(gaps)
}

/// What the run's milestones close, and what is open after the last of them.
pub(super) async fn phases(conn: &mut dyn Connection, run: &RunRow) -> Result<Vec<Phase>, Error> {
    let sql = "SELECT seq, name, begun_at, ended_at, status FROM steps \
         WHERE run = $1 AND kind = 'milestone' ORDER BY seq DESC LIMIT $2";
    let rows = conn
        .fetch(sql, params![run.id.as_str(), PHASES_MAX])
        .await?;
    let mut phases = Vec::new();
    let mut first = 1;
    let mut from = run.started_at.unwrap_or(run.created_at);
    for mut row in rows.into_iter().rev() {
        let (seq, name) = (row.int()?, row.text()?);
        let (begun_at, ended_at): (Time, Option<Time>) = (row.time()?, row.opt_time()?);
        let status: StepStatus = row.word()?;
        if status == StepStatus::Superseded {
            continue;
        }
        phases.push(Phase {
            name: Some(name),
            first,
            last: seq,
            from,
            reached: ended_at.filter(|_| status == StepStatus::Committed),
        });
        first = seq + 1;
        from = ended_at.unwrap_or(begun_at);
    }
    if !phases.is_empty() && first <= run.steps {
        let name = announced_milestone(conn, &run.id).await?;
        phases.push(Phase {
            name,
            first,
            last: run.steps,
            from,
            reached: None,
        });
    }
    Ok(phases)
}

/// The milestone that is announced next.
async fn announced_milestone(
    conn: &mut dyn Connection,
    run: &RunId,
) -> Result<Option<String>, Error> {
    let sql = "SELECT name FROM announced WHERE run = $1 AND kind = $2 AND seq IS NULL ORDER BY idx LIMIT 1";
    let row = conn
        .fetch_one(sql, params![run.as_str(), Kind::Milestone.as_str()])
        .await?;
    row.map(|mut row| row.text()).transpose()
}

async fn flags(conn: &mut dyn Connection, run: &RunId) -> Result<Vec<Flag>, Error> {
    let sql =
        "SELECT kind, author, at, step FROM decisions WHERE run = $1 ORDER BY id DESC LIMIT $2";
    let rows = conn.fetch(sql, params![run.as_str(), FLAGS_MAX]).await?;
    rows.into_iter()
        .rev()
        .map(|mut row| {
            Ok(Flag {
                kind: row.word()?,
                author: row.text()?,
                at: row.time()?,
                step: row.opt_int()?,
            })
        })
        .collect()
}

async fn children(conn: &mut dyn Connection, run: &RunId, end: Time) -> Result<Vec<Child>, Error> {
    let sql = "SELECT id, title, agent, status, parent_seq, created_at, finished_at, updated_at FROM runs \
         WHERE parent_run = $1 ORDER BY ord LIMIT $2";
    let rows = conn.fetch(sql, params![run.as_str(), CHILDREN_MAX]).await?;
    rows.into_iter()
        .map(|mut row| {
            let (id, title, agent) = (row.word()?, row.opt_text()?, row.text()?);
            let status: RunStatus = row.word()?;
            let step = row.opt_int()?.unwrap_or(0);
            let (from, finished) = (row.time()?, row.opt_time()?);
            let still = row.time()?;
            let to = match status {
                RunStatus::Running => end,
                _ => finished.unwrap_or(still),
            };
            Ok(Child {
                id,
                title: title.unwrap_or(agent),
                status,
                step,
                from,
                to: to.max(from),
            })
        })
        .collect()
}
