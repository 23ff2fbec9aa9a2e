//! A run's timeline, read so that the cost follows the bars that are drawn and not the steps: bars are found by
//! looking up the edges of their cells in an index, and only notable steps are looked at one by one.

mod around;
mod bars;
mod recent;

pub(super) use around::phases;
pub use recent::Recent;

use self::{
    around::{Children, children, flags, gaps},
    bars::{between_folds, by_time, even_of_fork, single, worsen},
};
use super::{
    Error, Store,
    engine::{Connection, params},
    rows::{RunRow, StepRow, notable_steps, step_columns},
};
use crate::domain::{
    Kind, Problem, RunId, RunStatus, Time,
    views::timeline::{
        self, Axis, CELLS_MAX, CELLS_MIN, Mark, Notable, Stretch, Timeline, TimelineQuery,
    },
};

/// Notable steps that are looked at in one window.
const NOTABLE_MAX: i64 = 5_000;

impl Store {
    pub async fn timeline(&self, run: &RunId, query: &TimelineQuery) -> Result<Timeline, Problem> {
        let read = async {
            let (mut conn, run) = self.find(run).await?;
            // Only a running run's picture is shared: any other run's must show the newest decision.
            let moves = run.status == RunStatus::Running;
            if let Some(recent) = self.recent.find(&run.id, query).filter(|_| moves) {
                return Ok(recent);
            }
            let now = conn.now().await?;
            let timeline = draw(&mut *conn, &run, query, now).await?;
            if moves {
                self.recent.keep(&run.id, query, &timeline);
            }
            Ok(timeline)
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
    // In time a fork begins with itself, so nothing of what it shares is in the picture.
    let own = run.parent.as_ref().map(|origin| origin.seq).filter(|own| {
        let steps = query.axis == Axis::Steps && run.forked_at.is_some();
        steps && window.from < *own && *own < window.to
    });
    let range = match query.axis {
        Axis::Steps => (window.from, (window.to - 1).min(run.steps)),
        Axis::Time => steps_between(conn, id, window).await?,
    };
    let mut notables = notables(conn, id, range).await?;
    let cut = notables.len() as i64 > NOTABLE_MAX;
    notables.truncate(NOTABLE_MAX as usize);
    let exact = range.1 - range.0 < cells;
    let mut bars = match (exact, query.axis) {
        (true, axis) => single(conn, id, range, end, axis).await?,
        (false, Axis::Steps) => even_of_fork(range, cells, own),
        (false, Axis::Time) => by_time(conn, id, window, cells, end).await?,
    };
    let gaps = gaps(conn, run, end, window, query.axis).await?;
    let flags = flags(conn, id).await?;
    let (folds, idle) = match query.axis {
        Axis::Time => {
            let held = run.status.needs_you() || run.status == RunStatus::Paused;
            let waits = timeline::waits(&notables, &gaps, &flags, end, held);
            timeline::folds(window, &bars, &waits, query.fold)
        }
        Axis::Steps => (Vec::new(), 0),
    };
    if !exact && !folds.is_empty() {
        bars = between_folds(conn, id, window, &folds, cells, end).await?;
    }
    if !exact {
        worsen(&mut bars, &notables);
    }
    let (lanes, crowded) = match query.axis {
        Axis::Time if exact => timeline::assign(&mut bars),
        _ => (1, 0),
    };
    let superseded = notables.iter().filter(|_| exact);
    let Children { read, more } = children(conn, id, end).await?;
    Ok(Timeline {
        axis: query.axis,
        whole,
        window,
        own,
        bars,
        lanes,
        crowded,
        folds,
        idle,
        superseded: superseded.filter_map(Notable::looked).collect(),
        marks: Mark::of(&notables),
        cut,
        gaps,
        phases: phases(conn, run).await?,
        flags,
        children: read,
        children_more: more,
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
    let sql = concat!(
        "SELECT ",
        step_columns!(),
        " FROM steps WHERE run = $1 AND seq >= $2 AND seq <= $3 AND ",
        notable_steps!(),
        " ORDER BY seq DESC LIMIT $4"
    );
    let params = params![run.as_str(), first, last, NOTABLE_MAX + 1];
    let steps = StepRow::all(conn, sql, params).await?;
    Ok(steps.iter().map(notable).collect())
}

fn notable(step: &StepRow) -> Notable {
    Notable {
        seq: step.seq,
        status: step.status,
        was: step.was(),
        gate: step.kind == Kind::Gate,
        tries: step.tries(),
        decision: step.decision,
        begun_at: step.begun_at,
        ended_at: step.ended_at,
        damaged: step.damaged,
    }
}
