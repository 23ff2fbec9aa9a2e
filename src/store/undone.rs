//! What a run's page says that does not stand in the run's own row: what it goes on with, how its lease ended, and what a rewind or a fork did
//! not undo outside, until the run ends or someone acknowledges it.

use std::sync::LazyLock;

use super::{
    Error, Store, decisions,
    engine::{Connection, params},
    listed_words::listed,
    plan::{Read, facts},
    rows::{RunRow, StepRow, lease::LeaseRow},
    sound,
    table::Declared as _,
};
use crate::domain::{
    Code, Problem, RunId, RunStatus, StepStatus, Time,
    rules::{
        decision::{Decision, DecisionKind},
        lease::LeaseEnd,
        plan::{LeftBehind, NAMED_MAX, Saved, left_behind},
    },
    views::sheet::{Aftermath, Ahead},
};

/// Rewinds that are looked at.
const REWINDS_MAX: i64 = 50;

const ACKNOWLEDGED: &str = "WHERE run = $1 AND kind = 'acknowledge' ORDER BY id DESC LIMIT 1";
const REWINDS: &str = "WHERE run = $1 AND kind = 'rewind' AND id > $2 ORDER BY id LIMIT $3";
const CANCELLED: &str = "WHERE run = $1 AND kind = 'cancel' ORDER BY id DESC LIMIT 1";
const FORKED: &str = "WHERE run = $1 AND kind = 'fork' AND new_run = $2 LIMIT 1";
/// What last moved the run itself.
static MOVED: LazyLock<String> = LazyLock::new(|| {
    let others = |it: DecisionKind| !it.moves_run() || it == DecisionKind::Edit;
    let others = listed(DecisionKind::ALL, others);
    format!("WHERE run = $1 AND kind NOT IN ({others}) ORDER BY id DESC LIMIT 1")
});

impl Store {
    /// What a run's page says beside the run itself: saved steps, how the lease ended, effects not undone. A damaged row is
    /// shown where it stands; the rest of the page does without all of this.
    pub async fn aftermath(&self, run: &RunId) -> Result<Aftermath, Problem> {
        let read = async {
            let (mut conn, run) = self.find(run).await?;
            let now = conn.now().await?;
            let stands = !run.status.over() && run.status != RunStatus::Running;
            let moved = match stands {
                true => {
                    decisions::some(&mut *conn, MOVED.as_str(), params![run.id.as_str()]).await?
                }
                false => Vec::new(),
            };
            let cancelled = match run.status {
                RunStatus::Cancelled => {
                    decisions::some(&mut *conn, CANCELLED, params![run.id.as_str()]).await?
                }
                _ => Vec::new(),
            };
            let cancelled = cancelled.into_iter().next();
            let lease = newest_lease(&mut *conn, &run).await?;
            // A worker that took the run since has moved it on.
            let taken = |at: Time| lease.as_ref().is_some_and(|it| it.granted_at > at);
            let back = moved.iter().find(|it| it.kind == DecisionKind::Rewind);
            let back = back.filter(|it| !taken(it.at));
            // With a damaged row the saved steps cannot be counted: none are claimed.
            let read = sound(Read::of(&mut *conn, &run, now, false).await)?;
            let plan = read.map(|read| read.plan(&run, None, Saved::default()));
            let queued = plan.as_ref().filter(|_| run.status == RunStatus::Ready);
            Ok(Aftermath {
                ahead: queued.map(Ahead::of),
                saved: plan.map(|plan| plan.saved),
                lease_ended: lease.as_ref().and_then(ended),
                cancelled: cancelled.map(|it| (it.author, it.at)),
                rewound_to: back.and_then(|it| it.step),
                not_undone: not_undone(&mut *conn, &run, now).await?,
                unknown: unknown(&mut *conn, &run, now).await?,
            })
        };
        match read.await.map_err(Error::problem) {
            Err(problem) if problem.code == Code::Corrupt => Ok(Aftermath::default()),
            known => known,
        }
    }

    /// The effects of these runs of which nobody knows whether they happened, each with its run: at most as many as are named.
    /// A damaged run has none that could be named.
    pub async fn unknown_effects(&self, runs: &[RunId]) -> Result<Vec<LeftBehind>, Problem> {
        let read = async {
            let mut named = Vec::new();
            for id in runs {
                if named.len() >= NAMED_MAX {
                    break;
                }
                let Some((mut conn, run)) = sound(self.find(id).await)? else {
                    continue;
                };
                let now = conn.now().await?;
                let of_run = unknown(&mut *conn, &run, now).await?;
                named.extend(of_run.into_iter().map(|it| LeftBehind {
                    run: Some(id.clone()),
                    ..it
                }));
            }
            named.truncate(NAMED_MAX);
            Ok(named)
        };
        read.await.map_err(Error::problem)
    }
}

/// The effects of open steps of which nobody knows whether they happened.
pub(super) async fn unknown(
    conn: &mut dyn Connection,
    run: &RunRow,
    now: Time,
) -> Result<Vec<LeftBehind>, Error> {
    if !run.effects_unknown {
        return Ok(Vec::new());
    }
    let open = StepRow::open_listed(conn, &run.id).await?.into_iter();
    let crashed = open.filter(|it| it.damaged || it.status == StepStatus::Crashed && it.unknown);
    let named = crashed.take(NAMED_MAX).flat_map(|step| match step.damaged {
        true => vec![LeftBehind::damaged(step.seq)],
        false => left_behind(&[facts(&run.id, &step)], now),
    });
    Ok(named.collect())
}

async fn newest_lease(conn: &mut dyn Connection, run: &RunRow) -> Result<Option<LeaseRow>, Error> {
    let newest = "WHERE run = $1 ORDER BY epoch DESC LIMIT 1";
    let params = params![run.id.as_str()];
    let leases = LeaseRow::sound_ones(conn, newest, params).await?;
    Ok(leases.into_iter().next())
}

/// The end of a lease, where nobody holds the run now.
fn ended(lease: &LeaseRow) -> Option<(Time, LeaseEnd)> {
    let by = lease.ended_by.as_ref()?.parse().ok()?;
    Some((lease.ended_at?, by))
}

/// The effects that rewinds and forks left behind, as they stand now.
pub(super) async fn not_undone(
    conn: &mut dyn Connection,
    run: &RunRow,
    now: Time,
) -> Result<Vec<LeftBehind>, Error> {
    if run.status.over() {
        return Ok(Vec::new());
    }
    let seen = decisions::some(conn, ACKNOWLEDGED, params![run.id.as_str()]).await?;
    let seen = seen.first().map_or(0, |it| it.id);
    let params = params![run.id.as_str(), seen, REWINDS_MAX];
    let rewinds = decisions::some(conn, REWINDS, params).await?;
    let mut left = named(conn, &run.id, &rewinds, now).await?;
    if let (Some(origin), Some(_), 0) = (&run.parent, run.forked_at, seen) {
        let params = params![origin.run.as_str(), run.id.as_str()];
        let fork = decisions::some(conn, FORKED, params).await?;
        let theirs = named(conn, &origin.run, &fork, now).await?;
        left.extend(theirs.into_iter().map(|it| LeftBehind {
            run: Some(origin.run.clone()),
            ..it
        }));
    }
    Ok(left)
}

/// The steps that these decisions named, as far as they had an effect that happened or may have.
async fn named(
    conn: &mut dyn Connection,
    run: &RunId,
    back: &[Decision],
    now: Time,
) -> Result<Vec<LeftBehind>, Error> {
    let mut seqs: Vec<i64> = back.iter().flat_map(|it| it.again.clone()).collect();
    seqs.sort_unstable();
    seqs.dedup();
    let mut left = Vec::new();
    for seq in seqs.into_iter().take(NAMED_MAX) {
        for step in StepRow::between(conn, run, seq, seq).await? {
            match step.damaged {
                true => left.push(LeftBehind::damaged(seq)),
                false => {
                    let mut known = facts(run, &step);
                    known.status = step.was();
                    left.extend(left_behind(&[known], now));
                }
            }
        }
    }
    Ok(left)
}
