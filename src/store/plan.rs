//! The facts that a resume plan is made from. Plain commits are counted, not read: the cost follows what is notable.

mod checked;
mod effects;

use super::{
    Error, Store,
    decisions::Edits,
    engine::{Connection, params},
    rows::{
        Announcements, AttemptRow, RunRow, StepRow, notable_steps, reference::RefRow, step_columns,
    },
    table::Declared as _,
    undone::not_undone,
};
use crate::domain::{
    Problem, RunId, StepStatus, Time,
    nouns::worker::ASKS_MS,
    rules::{
        decision::{Decision, DecisionKind, EditMark},
        plan::{
            Checked, Facts, LeftBehind, Plan, PlanQuery, RefFacts, Saved, StepFacts, Taker, plan,
        },
    },
    views::diff_sheet::DiffQuery,
    wire::protocol::Choice,
};
use checked::checked;
pub(super) use effects::{beyond, effects_from, effects_not_shared};

/// Steps that are lines of their own at most, and those whose attempts are read.
const NOTABLE_MAX: i64 = 10_000;
const DETAILED_MAX: usize = 100;
const EDITS_MAX: i64 = 200;
/// Edits whose changes are counted.
const COUNTED_MAX: usize = 10;
const REFS_MAX: i64 = 256;

pub(super) const NOTABLE: &str = concat!(
    "SELECT ",
    step_columns!(),
    " FROM steps WHERE run = $1 AND ",
    notable_steps!(),
    " AND (status <> 'committed' OR given = 1 OR decision IS NOT NULL) ORDER BY seq LIMIT $2"
);
const REFS: &str = "WHERE run = $1 ORDER BY uri LIMIT $2";

/// All that is read for a plan.
#[derive(Clone)]
pub(super) struct Read {
    steps: Vec<StepFacts>,
    announced: Vec<crate::domain::nouns::run::Announced>,
    edits: Vec<EditMark>,
    refs: Vec<RefFacts>,
    taker: Taker,
    integrity: Checked,
    pub now: Time,
}

impl Store {
    /// What will happen when a worker takes the run: as it is, or after choices, a rewind or a fork.
    pub async fn plan(&self, run: &RunId, query: &PlanQuery) -> Result<Plan, Problem> {
        let read = async {
            let (mut conn, run) = self.find(run).await?;
            let now = conn.now().await?;
            let read = Read::of(&mut *conn, &run, now, true).await?;
            let plan = ahead(&mut *conn, &run, read, query).await?;
            let not_undone = not_undone(&mut *conn, &run, now).await?;
            Ok(Plan { not_undone, ..plan })
        };
        let mut plan = read.await.map_err(Error::problem)?;
        self.count_changes(&mut plan).await;
        Ok(plan)
    }

    /// How much each edit in the plan changed; one that cannot be compared is left uncounted.
    async fn count_changes(&self, plan: &mut Plan) {
        let edits = plan.steps.iter_mut().rev().flat_map(|it| &mut it.edits);
        for edit in edits.take(COUNTED_MAX) {
            let query = DiffQuery {
                to: Some(edit.snapshot),
                ..DiffQuery::default()
            };
            let compared = self.compare(&plan.run, &query).await.ok();
            edit.changes = compared.map(|it| it.changes().len() as i64);
        }
    }
}

impl Store {
    /// The plan with every recorded step as a line of its own, for programs.
    pub async fn plan_in_full(&self, run: &RunId) -> Result<Plan, Problem> {
        let mut plan = self.plan(run, &PlanQuery::default()).await?;
        let read = async {
            let mut conn = self.engine.read().await?;
            let now = conn.now().await?;
            let (mut lines, mut damaged) = (Vec::new(), Vec::new());
            for span in std::mem::take(&mut plan.replays) {
                for row in StepRow::between(&mut *conn, run, span.from, span.to).await? {
                    match row.damaged {
                        true => damaged.push(row.seq),
                        false => lines.push(facts(run, &row).replayed(now)),
                    }
                }
            }
            plan.mark_damaged(damaged);
            lines.append(&mut plan.steps);
            // Announced ones have no number and stay last, in their order.
            lines.sort_by_key(|step| step.seq.unwrap_or(i64::MAX));
            plan.steps = lines;
            Ok(plan)
        };
        read.await.map_err(Error::problem)
    }
}

async fn ahead(
    conn: &mut dyn Connection,
    run: &RunRow,
    mut read: Read,
    query: &PlanQuery,
) -> Result<Plan, Error> {
    let base = read.plan(run, None, Saved::default());
    let until = query.fork.or(query.rewind);
    if until.is_none() && query.choices.is_empty() {
        return Ok(base);
    }
    for choice in &query.choices {
        read.choose(&run.id, choice);
    }
    let Some(until) = until else {
        return Ok(Plan {
            hash: base.hash,
            ..read.plan(run, None, Saved::default())
        });
    };
    let (busy_us, cost_usd) = beyond(conn, run, until).await?;
    let beyond = Saved {
        steps: 0,
        seconds: busy_us as f64 / 1e6,
        cost_usd,
    };
    let left = match query.fork {
        Some(from) => effects_not_shared(conn, run, from, read.now).await?,
        None => effects_from(conn, run, until, read.now).await?,
    };
    let mut plan = Plan {
        hash: base.hash,
        left_behind: left,
        refused: None,
        ..read.plan(run, Some(until), beyond)
    };
    plan.mark_damaged([]);
    let beyond = base.integrity.damaged.iter().filter(|seq| **seq >= until);
    for seq in beyond {
        match query.fork {
            // A damaged step's effect is unknown, so the fork must name the step as left behind.
            Some(_) => plan.leave_behind(LeftBehind::damaged(*seq)),
            None => {
                let why = format!(
                    "step {seq} is damaged in the store and is not rewound past: fork instead"
                );
                plan.refused.get_or_insert(why);
            }
        }
    }
    Ok(plan)
}

impl Read {
    /// `whole` also reads what only a page shows, and lists damaged steps instead of refusing. No command acts on such a plan.
    pub async fn of(
        conn: &mut dyn Connection,
        run: &RunRow,
        now: Time,
        whole: bool,
    ) -> Result<Self, Error> {
        let edits = edits(conn, run).await?;
        let (steps, damaged) = steps(conn, run, &edits).await?;
        if let Some(seq) = damaged.first().filter(|_| !whole) {
            let place = format!("the row of step {seq} of run {}", run.id);
            return Err(Error::damaged(place));
        }
        let announced = match run.announced {
            0 => Vec::new(),
            _ => Announcements::of(conn, run).await?,
        };
        let integrity = match whole {
            true => checked(conn, run, &steps, damaged).await?,
            false => Checked::default(),
        };
        Ok(Self {
            steps,
            announced: announced
                .into_iter()
                .filter(|it| it.seq.is_none())
                .collect(),
            edits,
            refs: match whole {
                true => refs(conn, run).await?,
                false => Vec::new(),
            },
            taker: match whole {
                true => taker(conn, &run.agent, now).await?,
                false => Taker::default(),
            },
            integrity,
            now,
        })
    }

    pub fn choose(&mut self, run: &RunId, choice: &Choice) {
        let step = self.steps.iter_mut().find(|step| step.seq == choice.step);
        if let Some(step) = step {
            step.chosen(run, choice);
        }
    }

    /// Refuses to act on a plan where one of the newest steps is damaged. It hashes up to 8 MiB of results: nothing for
    /// the writer.
    pub async fn sound(&self, conn: &mut dyn Connection, run: &RunRow) -> Result<(), Error> {
        let found = checked(conn, run, &self.steps, Vec::new()).await?;
        match found.damaged.first() {
            Some(seq) => Err(Error::damaged(format!("step {seq} of run {}", run.id))),
            None => Ok(()),
        }
    }

    pub fn plan(&self, run: &RunRow, until: Option<i64>, beyond: Saved) -> Plan {
        plan(&Facts {
            run: &run.to_run(),
            busy_us: run.busy_us,
            steps: &self.steps,
            until,
            beyond,
            announced: &self.announced,
            edits: &self.edits,
            refs: self.refs.clone(),
            taker: self.taker.clone(),
            integrity: self.integrity.clone(),
            now: self.now,
        })
    }
}

/// Every step but plain commits, in order, and the numbers of damaged ones; where the state was edited, the step is a
/// line of its own.
async fn steps(
    conn: &mut dyn Connection,
    run: &RunRow,
    edits: &[EditMark],
) -> Result<(Vec<StepFacts>, Vec<i64>), Error> {
    let mut steps = StepRow::all(conn, NOTABLE, params![run.id.as_str(), NOTABLE_MAX]).await?;
    steps.extend(
        StepRow::open_listed(conn, &run.id)
            .await?
            .into_iter()
            .filter(|step| step.status == StepStatus::Running || step.damaged),
    );
    // The step where the run is comes along even if a damaged index does not list it.
    let here = run
        .at
        .as_ref()
        .filter(|at| at.status != StepStatus::Committed);
    let here = here.map(|at| at.seq);
    for seq in edits.iter().filter_map(|edit| edit.step).chain(here) {
        if !steps.iter().any(|step| step.seq == seq) {
            steps.extend(StepRow::between(conn, &run.id, seq, seq).await?);
        }
    }
    steps.sort_unstable_by_key(|step| step.seq);
    steps.dedup_by_key(|step| step.seq);
    let damaged = steps.iter().filter(|step| step.damaged);
    let damaged = damaged.map(|step| step.seq).collect();
    steps.retain(|step| !step.damaged);
    let mut found: Vec<_> = steps.iter().map(|step| facts(&run.id, step)).collect();
    let told = |step: &&mut StepFacts| step.status.is_told_by_attempt();
    for step in found.iter_mut().rev().filter(told).take(DETAILED_MAX) {
        let attempts = AttemptRow::of_step(conn, &run.id, step.seq).await?;
        step.evidence = attempts.iter().rev().find_map(|it| it.evidence.clone());
        if let Some(last) = attempts.into_iter().next_back() {
            step.worker = Some(last.worker);
            step.heartbeat_at = last.heartbeat_at;
            step.error = last.error;
        }
    }
    Ok((found, damaged))
}

pub(super) fn facts(run: &RunId, step: &StepRow) -> StepFacts {
    StepFacts {
        seq: step.seq,
        key: step.key.clone(),
        name: step.name.clone(),
        kind: step.kind,
        tool: step.tool.clone(),
        status: step.status,
        recovery: step.recovery,
        effect: step.effect.clone(),
        idempotency_key: step.provider_key(run),
        generation: step.generation,
        keyed_at: step.keyed_at.unwrap_or(step.begun_at),
        unknown: step.unknown,
        given: step.given,
        retry_at: step.retry_at,
        decision: step.decision,
        error: None,
        cost_usd: step.cost_usd,
        tries: step.tries(),
        begun_at: step.begun_at,
        worker: None,
        heartbeat_at: None,
        evidence: None,
    }
}

async fn edits(conn: &mut dyn Connection, run: &RunRow) -> Result<Vec<EditMark>, Error> {
    let made = Edits::Newest.of(conn, &run.id, 0, EDITS_MAX).await?;
    let by_hand = made.iter().filter(|it| it.kind != DecisionKind::Rewind);
    Ok(by_hand.rev().filter_map(Decision::edit).collect())
}

async fn refs(conn: &mut dyn Connection, run: &RunRow) -> Result<Vec<RefFacts>, Error> {
    let params = params![run.id.as_str(), REFS_MAX];
    let rows = RefRow::select(conn, REFS, params).await?;
    let facts = |row: RefRow| RefFacts {
        again: row.epoch == run.epoch && row.first < row.epoch,
        uri: row.uri,
        was: row.was,
        hash: row.hash,
        checked_at: row.checked_at,
        checked_by: row.checked_by,
    };
    Ok(rows.into_iter().map(facts).collect())
}

async fn taker(conn: &mut dyn Connection, agent: &str, now: Time) -> Result<Taker, Error> {
    let asks_since = now.plus_ms(-ASKS_MS);
    let count = "SELECT COUNT(DISTINCT CASE WHEN asked_at > $2 THEN worker END), MAX(asked_at) \
         FROM worker_agents WHERE agent IN ($1, '')";
    let last = "SELECT w.version, w.model FROM worker_agents a JOIN workers w ON w.name = a.worker \
         WHERE a.agent IN ($1, '') AND a.asked_at IS NOT NULL ORDER BY a.asked_at DESC LIMIT 1";
    let row = conn.fetch_one(count, params![agent, asks_since]).await?;
    let mut row = row.ok_or_else(|| Error::damaged("a count is missing"))?;
    let (workers, asked) = (row.int()?, row.opt_time()?);
    let (version, model) = match conn.fetch_one(last, params![agent]).await? {
        Some(mut row) => (row.opt_text()?, row.opt_text()?),
        None => (None, None),
    };
    Ok(Taker {
        workers,
        last: asked,
        version,
        model,
    })
}
