//! What a timeline shows around its bars: times without a lease, phases, decisions, child runs.

use crate::{
    domain::{
        Kind, RunId, RunStatus, StepStatus, Time,
        timeline::{Axis, Child, Flag, Gap, Phase, Stretch},
    },
    store::{
        Error,
        engine::{Connection, params},
        rows::RunRow,
    },
};

const LEASES_MAX: i64 = 500;
const PHASES_MAX: i64 = 500;
const FLAGS_MAX: i64 = 100;
const CHILDREN_MAX: i64 = 50;

/// The times between leases.
pub(super) async fn gaps(
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
pub(in crate::store) async fn phases(
    conn: &mut dyn Connection,
    run: &RunRow,
) -> Result<Vec<Phase>, Error> {
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

pub(super) async fn flags(conn: &mut dyn Connection, run: &RunId) -> Result<Vec<Flag>, Error> {
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

pub(super) async fn children(
    conn: &mut dyn Connection,
    run: &RunId,
    end: Time,
) -> Result<Vec<Child>, Error> {
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
