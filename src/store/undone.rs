//! What other rows than its own say of a run: what it goes on with, how its lease ended, and what a rewind or a fork did
//! not undo outside, until the run ends or someone acknowledges it.

use super::{
    Error, Store, decisions,
    engine::{Connection, params},
    plan::{Read, facts},
    rows::{RunRow, StepRow, lease::LeaseRow},
    sound,
    table::Declared as _,
};
use crate::domain::{
    Problem, RunId, RunStatus, Time,
    rules::{
        decision::{Decision, DecisionKind},
        lease::LeaseEnd,
        plan::{LeftBehind, Saved, left_behind},
    },
    views::sheet::{Aftermath, Ahead},
};

/// Rewinds that are looked at, and effects that are named.
const REWINDS_MAX: i64 = 50;
const NAMED_MAX: usize = 50;

const ACKNOWLEDGED: &str = "WHERE run = $1 AND kind = 'acknowledge' ORDER BY id DESC LIMIT 1";
const REWINDS: &str = "WHERE run = $1 AND kind = 'rewind' AND id > $2 ORDER BY id LIMIT $3";
const FORKED: &str = "WHERE run = $1 AND kind = 'fork' AND new_run = $2 LIMIT 1";
/// What last moved the run itself.
const MOVED: &str = "WHERE run = $1 AND kind NOT IN ('note', 'pin', 'claim', 'fork', 'acknowledge', 'edit') \
     ORDER BY id DESC LIMIT 1";

impl Store {
    /// What a run's page says beside the run itself: saved steps, how the lease ended, effects not undone.
    pub async fn aftermath(&self, run: &RunId) -> Result<Aftermath, Problem> {
        let read = async {
            let (mut conn, run) = self.find(run).await?;
            let now = conn.now().await?;
            let held = matches!(
                run.status,
                RunStatus::Crashed | RunStatus::Failed | RunStatus::Paused
            );
            let moved = match held {
                true => decisions::some(&mut *conn, MOVED, params![run.id.as_str()]).await?,
                false => Vec::new(),
            };
            let back = moved.iter().find(|it| it.kind == DecisionKind::Rewind);
            // With a damaged row the saved steps cannot be counted: none are claimed.
            let read = sound(Read::of(&mut *conn, &run, now, false).await)?;
            let plan = read.map(|read| read.plan(&run, None, Saved::default()));
            let queued = plan.as_ref().filter(|_| run.status == RunStatus::Ready);
            Ok(Aftermath {
                ahead: queued.map(Ahead::of),
                saved: plan.map(|plan| plan.saved),
                lease_ended: lease_ended(&mut *conn, &run).await?,
                rewound_to: back.and_then(|it| it.step),
                not_undone: not_undone(&mut *conn, &run, now).await?,
            })
        };
        read.await.map_err(Error::problem)
    }
}

/// The end of the newest lease, where nobody holds the run now.
async fn lease_ended(
    conn: &mut dyn Connection,
    run: &RunRow,
) -> Result<Option<(Time, LeaseEnd)>, Error> {
    let newest = "WHERE run = $1 ORDER BY epoch DESC LIMIT 1";
    let params = params![run.id.as_str()];
    let leases = LeaseRow::sound_ones(conn, newest, params).await?;
    let ended = leases.into_iter().next().and_then(|lease| {
        let by = lease.ended_by?.parse().ok()?;
        Some((lease.ended_at?, by))
    });
    Ok(ended)
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
