//! What a timeline shows around its bars: times without a lease, phases, decisions, child runs.

use crate::{
    domain::{
        Kind, RunId, RunStatus, StepStatus, Time,
        rules::decision::Decision,
        views::{
            counts::COUNT_MAX,
            timeline::{Axis, Child, Flag, Gap, Phase, Stretch},
        },
    },
    store::{
        Error, decisions,
        engine::{Connection, params},
        rows::{RunRow, StepRow, announced::AnnouncedRow, lease::LeaseRow, run_columns, steps},
        table::Declared as _,
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
    let newest = "WHERE run = $1 ORDER BY epoch DESC LIMIT $2";
    let params = params![run.id.as_str(), LEASES_MAX];
    let leases = LeaseRow::sound_ones(conn, newest, params).await?;
    let mut gaps = Vec::new();
    // From the newest lease back: each gap reaches from a lease's end to what came after it.
    let mut until = end;
    let mut open = true;
    for lease in leases {
        if let Some(from) = lease.ended_at.filter(|from| *from < until) {
            gaps.push(Gap {
                from,
                to: until,
                open,
            });
        }
        until = lease.granted_at;
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
    let sql = steps!("kind = 'milestone' ORDER BY seq DESC LIMIT $2");
    let milestones = StepRow::all(conn, sql, params![run.id.as_str(), PHASES_MAX]).await?;
    let mut phases = Vec::new();
    let mut first = 1;
    let mut from = run.started_at.unwrap_or(run.created_at);
    for step in milestones.into_iter().rev() {
        if step.status == StepStatus::Superseded || step.damaged {
            continue;
        }
        phases.push(Phase {
            name: Some(step.name),
            first,
            last: step.seq,
            from,
            reached: step
                .ended_at
                .filter(|_| step.status == StepStatus::Committed),
        });
        first = step.seq + 1;
        from = step.ended_at.unwrap_or(step.begun_at);
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
    let next = "WHERE run = $1 AND kind = $2 AND seq IS NULL ORDER BY idx LIMIT 1";
    let params = params![run.as_str(), Kind::Milestone.as_str()];
    let rows = AnnouncedRow::sound_ones(conn, next, params).await?;
    Ok(rows.into_iter().next().map(|it| it.name))
}

pub(super) async fn flags(conn: &mut dyn Connection, run: &RunId) -> Result<Vec<Flag>, Error> {
    let newest = "WHERE run = $1 ORDER BY id DESC LIMIT $2";
    let made = decisions::shown(conn, newest, params![run.as_str(), FLAGS_MAX]).await?;
    let flag = |it: Decision| Flag {
        kind: it.kind,
        author: it.author,
        at: it.at,
        step: it.step,
    };
    Ok(made.into_iter().rev().map(flag).collect())
}

/// Child runs and forks, in the order they were made, and how many more there are, counted no further than anyone reads.
pub(super) struct Children {
    pub read: Vec<Child>,
    pub more: i64,
}

/// Those that run now, however old, and the newest.
pub(super) async fn children(
    conn: &mut dyn Connection,
    run: &RunId,
    end: Time,
) -> Result<Children, Error> {
    let running = concat!(
        "SELECT ",
        run_columns!(),
        " FROM runs WHERE parent_run = $1 AND status = 'running' ORDER BY ord DESC LIMIT $2"
    );
    let newest = concat!(
        "SELECT ",
        run_columns!(),
        " FROM runs WHERE parent_run = $1 ORDER BY ord DESC LIMIT $2"
    );
    let mut runs: Vec<RunRow> = Vec::new();
    for sql in [running, newest] {
        let rows = conn.fetch(sql, params![run.as_str(), CHILDREN_MAX]).await?;
        for row in RunRow::listed(rows)? {
            if runs.iter().all(|known| known.ord != row.ord) {
                runs.push(row);
            }
        }
    }
    let all = "SELECT COUNT(*) FROM (SELECT 1 FROM runs WHERE parent_run = $1 LIMIT $2) AS counted";
    let counted = match (runs.len() as i64) < CHILDREN_MAX {
        true => None,
        false => {
            conn.fetch_one(all, params![run.as_str(), COUNT_MAX])
                .await?
        }
    };
    let all = counted.map(|mut row| row.int()).transpose()?.unwrap_or(0);
    let more = (all - runs.len() as i64).max(0);
    runs.sort_by_key(|run| run.ord);
    let child = |run: RunRow| {
        let to = match run.status {
            RunStatus::Running => end,
            _ => run.finished_at.unwrap_or(run.updated_at),
        };
        Child {
            step: run.parent.map_or(0, |parent| parent.seq),
            title: run.title.unwrap_or(run.agent),
            status: run.status,
            fork: run.forked_at.is_some(),
            cost_usd: run.usage.cost_usd,
            from: run.created_at,
            to: to.max(run.created_at),
            id: run.id,
        }
    };
    // A damaged child says so in the list of runs; its times are none to draw.
    let sound = runs.into_iter().filter(|run| !run.damaged);
    Ok(Children {
        read: sound.map(child).collect(),
        more,
    })
}
