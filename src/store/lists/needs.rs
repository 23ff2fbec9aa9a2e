//! What waits for a person: causes that stopped several runs, counted, and the single runs beside them.

use std::collections::HashSet;

use super::super::{
    Error, Store, ended_leases,
    engine::{Connection, Param, params},
    rows::{AttemptRow, RunRow, StepRow, run_columns, step::gate},
    sound,
};
use crate::domain::{
    AgentError, Outcome, Problem, Run, RunId, RunStatus, StepStatus, Time,
    rules::needs::{About, Alike, Cause, EndedBy, GROUP_MIN, Matter, NeedsYou, Urgency},
    views::counts::COUNT_MAX,
};

/// Causes that are looked at, and those that are shown.
const CAUSES_READ: usize = 200;
const CAUSES_SHOWN: usize = 20;
/// Runs read to find the single ones.
const BUDGET: usize = 2_000;
const STRIDE: i64 = 200;

pub const NEXT_CAUSE: &str = "SELECT cause FROM runs WHERE cause > $1 ORDER BY cause LIMIT 1";
pub const SIZE: &str = "SELECT COUNT(*), COUNT(c.cost_usd), SUM(c.cost_usd), MAX(c.updated_at) FROM \
     (SELECT cost_usd, updated_at FROM runs WHERE cause = $1 LIMIT $2) AS c";
pub const ONE: &str = concat!(
    "SELECT ",
    run_columns!(),
    " FROM runs WHERE cause = $1 LIMIT 1"
);
/// Effects unknown first, then oldest; the run itself settles a tie.
pub const IN_NEED: &str = concat!(
    "SELECT ",
    run_columns!(),
    " FROM runs WHERE needs = $1 AND updated_at >= $2 ORDER BY needs, updated_at LIMIT $3"
);

/// Whatever came to need a person last.
pub const NEWEST_IN_NEED: &str = concat!(
    "SELECT ",
    run_columns!(),
    " FROM runs WHERE needs = $1 ORDER BY updated_at DESC LIMIT $2"
);

const STEP_ERROR: &str = "SELECT error FROM steps WHERE run = $1 AND seq = $2";
const RUN_ERROR: &str = "SELECT error FROM runs WHERE id = $1";
/// Letters of an error that a card shows.
const ERROR_MAX: usize = 200;

impl Store {
    /// The runs that came to need a person last, each by itself: at most `rows_max` of those with effects unknown, and as many
    /// others.
    pub async fn newest_in_need(&self, rows_max: i64) -> Result<Vec<Run>, Problem> {
        let read = async {
            let mut conn = self.engine.read().await?;
            let mut runs = Vec::new();
            for needs in [0, 1] {
                let rows = conn.fetch(NEWEST_IN_NEED, params![needs, rows_max]).await?;
                runs.extend(RunRow::listed(rows)?.iter().map(RunRow::to_run));
            }
            Ok(runs)
        };
        read.await.map_err(Error::problem)
    }

    /// How many runs stopped for one cause, counted no further than anyone reads.
    pub async fn size(&self, alike: &Alike) -> Result<i64, Problem> {
        let read = async {
            let mut conn = self.engine.read().await?;
            let size = conn.fetch_one(SIZE, params![alike.id(), COUNT_MAX]).await?;
            Ok(size.map(|mut row| row.int()).transpose()?.unwrap_or(0))
        };
        read.await.map_err(Error::problem)
    }

    /// These causes as they are now, for lines that are shown already: of one that is over no run is left.
    pub async fn some_causes(&self, alikes: Vec<Alike>) -> Result<Vec<Cause>, Problem> {
        let read = async {
            let mut conn = self.engine.read().await?;
            let mut causes = Vec::new();
            for alike in alikes.into_iter().take(CAUSES_SHOWN) {
                let together = Together::of(&mut *conn, &alike.id()).await?;
                causes.push(together.stopped(alike));
            }
            say_how(&mut *conn, &mut causes).await?;
            Ok(causes)
        };
        read.await.map_err(Error::problem)
    }

    /// At most `rows_max` single runs, effects unknown first, then oldest; runs alike are one cause.
    pub async fn needs_you(&self, rows_max: usize) -> Result<NeedsYou, Problem> {
        let read = async {
            let mut conn = self.engine.read().await?;
            let causes = causes(&mut *conn).await?;
            let grouped = causes.iter().map(|cause| cause.alike.id()).collect();
            let mut singles = singles(&mut *conn, &grouped, rows_max + 1).await?;
            let more = singles.len() > rows_max;
            singles.truncate(rows_max);
            let mut known = Vec::new();
            for run in &singles {
                let about = about(&mut *conn, run).await?;
                known.extend(about.map(|it| (run.id.clone(), it)));
            }
            Ok(NeedsYou {
                about: known,
                runs: singles.iter().map(RunRow::to_run).collect(),
                causes,
                more,
            })
        };
        read.await.map_err(Error::problem)
    }
}

/// What a run needs a person for. Of a damaged step nothing is said here: its own page does.
async fn about(conn: &mut dyn Connection, run: &RunRow) -> Result<Option<About>, Error> {
    let Some(seq) = run.to_run().at.map(|at| at.seq) else {
        return Ok(None);
    };
    match matter(conn, run, seq).await {
        Err(error) if error.is_damage() => Ok(None),
        read => Ok(read?.map(|what| About { seq, what })),
    }
}

async fn matter(
    conn: &mut dyn Connection,
    run: &RunRow,
    seq: i64,
) -> Result<Option<Matter>, Error> {
    let Some(step) = StepRow::load(conn, &run.id, seq).await? else {
        return Ok(None);
    };
    Ok(match (step.status, step.effect) {
        (StepStatus::Waiting, _) => {
            let gate = gate::load(conn, &run.id, seq).await?;
            gate.map(|gate| Matter::Question {
                plain: gate.is_plain(),
                title: gate.title,
            })
        }
        (status, Some(effect)) if run.effects_unknown => {
            let ended = step.ended_at.filter(|_| status == StepStatus::Crashed);
            let by = match ended {
                Some(_) => ended_by(conn, &run.id, seq, step.attempts).await?,
                None => EndedBy::Unknown,
            };
            let may = effect.description.unwrap_or(effect.target);
            Some(Matter::Effect { may, ended, by })
        }
        (status, _) if run.status == RunStatus::Failed => {
            let own = match status {
                StepStatus::Failed => {
                    sound(error(conn, STEP_ERROR, params![run.id.as_str(), seq]).await)?.flatten()
                }
                _ => None,
            };
            let error = match own {
                Some(own) => Some(own),
                None => sound(error(conn, RUN_ERROR, params![run.id.as_str()]).await)?.flatten(),
            };
            Some(Matter::Failure {
                tries: step.attempts,
                error: error.map(|it| it.message.chars().take(ERROR_MAX).collect()),
            })
        }
        _ => None,
    })
}

/// What a step or a run failed with.
async fn error(
    conn: &mut dyn Connection,
    sql: &'static str,
    params: Vec<Param>,
) -> Result<Option<AgentError>, Error> {
    let row = conn.fetch_one(sql, params).await?;
    Ok(row.map(|mut row| row.opt_sealed()).transpose()?.flatten())
}

/// What ended this attempt: the agent's own word, or the end of its lease.
async fn ended_by(
    conn: &mut dyn Connection,
    run: &RunId,
    seq: i64,
    attempt: i64,
) -> Result<EndedBy, Error> {
    // A damaged attempt must not hide that an effect is unknown.
    let attempt = sound(AttemptRow::load(conn, run, seq, attempt).await)?.flatten();
    let Some(attempt) = attempt else {
        return Ok(EndedBy::Unknown);
    };
    if attempt.outcome == Outcome::Failed {
        return Ok(EndedBy::Agent);
    }
    let lease = ended_leases::ended_by(conn, run, attempt.epoch).await?;
    Ok(lease.map_or(EndedBy::Unknown, EndedBy::Lease))
}

/// What is told of all runs of one cause together.
struct Together {
    runs: i64,
    newest: Time,
    cost_usd: Option<f64>,
}

impl Together {
    async fn of(conn: &mut dyn Connection, cause: &str) -> Result<Self, Error> {
        let size = conn.fetch_one(SIZE, params![cause, COUNT_MAX]).await?;
        let Some(mut size) = size else {
            return Ok(Self {
                runs: 0,
                newest: Time::default(),
                cost_usd: None,
            });
        };
        let (runs, priced, cost_usd) = (size.int()?, size.int()?, size.opt_real()?);
        Ok(Self {
            runs,
            newest: size.opt_time()?.unwrap_or_default(),
            cost_usd: cost_usd.filter(|_| priced == runs && runs < COUNT_MAX),
        })
    }

    fn stopped(self, alike: Alike) -> Cause {
        Cause {
            alike,
            runs: self.runs,
            newest: self.newest,
            cost_usd: self.cost_usd,
            lease_end: None,
        }
    }
}

/// Says how the leases of runs that crashed ended.
async fn say_how(conn: &mut dyn Connection, causes: &mut [Cause]) -> Result<(), Error> {
    for cause in causes {
        if cause.alike.status == RunStatus::Crashed && cause.alike.error.is_none() {
            let id = cause.alike.id();
            cause.lease_end = ended_leases::of_cause(conn, &id, cause.runs).await?;
        }
    }
    Ok(())
}

/// Causes of several runs: effects unknown first, then the largest.
async fn causes(conn: &mut dyn Connection) -> Result<Vec<Cause>, Error> {
    let mut causes = Vec::new();
    let mut last = String::new();
    for _ in 0..CAUSES_READ {
        let row = conn.fetch_one(NEXT_CAUSE, params![last.as_str()]).await?;
        let Some(mut row) = row else { break };
        // A damaged cause gives no next key to go on from: runs of later causes are shown one by one.
        let Ok(cause) = row.text() else { break };
        last = cause;
        let together = Together::of(conn, &last).await?;
        if together.runs < GROUP_MIN {
            continue;
        }
        let one = RunRow::listed(conn.fetch(ONE, params![last.as_str()]).await?)?;
        if let Some(alike) = one.first().and_then(|run| Alike::of(&run.to_run())) {
            causes.push(together.stopped(alike));
        }
    }
    causes.sort_by_key(|cause| (Urgency::of_cause(cause), -cause.runs));
    causes.truncate(CAUSES_SHOWN);
    say_how(conn, &mut causes).await?;
    Ok(causes)
}

/// Runs of no group, in the order they shall be seen.
async fn singles(
    conn: &mut dyn Connection,
    grouped: &HashSet<String>,
    wanted: usize,
) -> Result<Vec<RunRow>, Error> {
    let (mut singles, mut seen, mut read) = (Vec::new(), HashSet::new(), 0);
    for needs in [0, 1] {
        let mut from = i64::MIN;
        loop {
            let rows = conn.fetch(IN_NEED, params![needs, from, STRIDE]).await?;
            let end = (rows.len() as i64) < STRIDE;
            read += rows.len();
            let before = from;
            for run in RunRow::listed(rows)? {
                // A damaged run's time may be any: `max` keeps the walk from going back and not ending.
                from = from.max(run.updated_at.0);
                let cause = Alike::of(&run.to_run()).map(|alike| alike.id());
                let new = seen.insert(run.ord);
                if new && !cause.is_some_and(|cause| grouped.contains(&cause)) {
                    singles.push(run);
                }
                if singles.len() == wanted {
                    return Ok(singles);
                }
            }
            // More runs than one read share this time: those not read are counted as "more".
            if end || from == before {
                break;
            }
            if read >= BUDGET {
                return Ok(singles);
            }
        }
    }
    Ok(singles)
}
