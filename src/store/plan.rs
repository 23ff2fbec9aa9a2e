//! The facts that a resume plan is made from. Plain commits are counted, not read: the cost follows what is notable.

use serde_json::Value;
use std::collections::BTreeSet;

use super::{
    Error, Store, decisions,
    engine::{Connection, Row, params, read_json},
    rows::{Announcements, AttemptRow, RunRow, StepRow, step_columns},
    tables,
    undone::not_undone,
};
use crate::domain::{
    Hash, Problem, RunId, StepStatus, Time,
    nouns::worker::ASKS_MS,
    rules::{
        decision::{Decision, DecisionKind, EditMark},
        plan::{
            Checked, Facts, LeftBehind, Plan, PlanQuery, RefFacts, Saved, StepFacts, Taker,
            left_behind, plan,
        },
    },
    views::diff_sheet::DiffQuery,
    wire::protocol::Choice,
};

/// Steps that are lines of their own at most, and those whose attempts are read.
const NOTABLE_MAX: i64 = 10_000;
const DETAILED_MAX: usize = 100;
const EDITS_MAX: i64 = 200;
/// Edits whose changes are counted.
const COUNTED_MAX: usize = 10;
const REFS_MAX: i64 = 256;
/// Replayed results that one look checks against their hashes.
const CHECKED_MAX: i64 = 500;
const CHECKED_BYTES: usize = 8 << 20;
const STRIDE: i64 = 50;

pub(super) const NOTABLE: &str = concat!(
    "SELECT ",
    step_columns!(),
    " FROM steps WHERE run = $1 AND (status IN ('failed', 'crashed', 'waiting', 'skipped', 'superseded') \
     OR attempts > 1 OR decision IS NOT NULL) \
     AND (status <> 'committed' OR given = 1 OR decision IS NOT NULL) ORDER BY seq LIMIT $2"
);
pub(super) const EFFECTS: &str = concat!(
    "SELECT ",
    step_columns!(),
    " FROM steps WHERE run = $1 AND seq >= $2 AND effect IS NOT NULL ORDER BY seq LIMIT $3"
);
const EDITS: &str = "WHERE run = $1 AND snapshot IS NOT NULL ORDER BY id DESC LIMIT $2";
const REFS: &str = "WHERE run = $1 ORDER BY uri LIMIT $2";
const RESULTS: &str = concat!(
    "SELECT result, result_hash, ",
    step_columns!(),
    " FROM steps WHERE run = $1 AND seq >= $2 AND seq <= $3"
);
const BEYOND: &str = "SELECT CAST(SUM(a.ended_at - a.begun_at) AS BIGINT), SUM(s.cost_usd) FROM attempts a \
     JOIN steps s ON s.run = a.run AND s.seq = a.seq WHERE a.run = $1 AND a.seq >= $2 AND a.outcome = 'committed' \
     AND s.status = 'committed' AND s.decision IS NULL";

/// All that is read for a plan.
pub(super) struct Read {
    steps: Vec<StepFacts>,
    announced: Vec<crate::domain::nouns::run::Announced>,
    edits: Vec<EditMark>,
    refs: Vec<RefFacts>,
    taker: Taker,
    integrity: Checked,
    now: Time,
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
            // What it did is not known: it is left behind by its number.
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

/// The effects from this step on that are not undone.
pub(super) async fn effects_from(
    conn: &mut dyn Connection,
    run: &RunRow,
    from: i64,
    now: Time,
) -> Result<Vec<LeftBehind>, Error> {
    let params = params![run.id.as_str(), from, NOTABLE_MAX];
    let rows = StepRow::all(conn, EFFECTS, params).await?;
    let (damaged, sound): (Vec<_>, Vec<_>) = rows.iter().partition(|step| step.damaged);
    let steps: Vec<_> = sound.iter().map(|step| facts(&run.id, step)).collect();
    let mut left = left_behind(&steps, now);
    left.extend(damaged.iter().map(|step| LeftBehind::damaged(step.seq)));
    left.sort_by_key(|it| it.seq);
    Ok(left)
}

/// What a fork from before this step does not share: later effects, and earlier ones that are open.
pub(super) async fn effects_not_shared(
    conn: &mut dyn Connection,
    run: &RunRow,
    from: i64,
    now: Time,
) -> Result<Vec<LeftBehind>, Error> {
    let open = StepRow::open_listed(conn, &run.id).await?;
    let before = open.into_iter().filter(|step| step.seq < from);
    let before = before.map(|step| Ok(facts(&run.id, &step.undamaged()?)));
    let before = before.collect::<Result<Vec<_>, Error>>()?;
    let mut left = left_behind(&before, now);
    left.extend(effects_from(conn, run, from, now).await?);
    Ok(left)
}

/// What committed steps from this one on took, in microseconds, and cost.
pub(super) async fn beyond(
    conn: &mut dyn Connection,
    run: &RunRow,
    from: i64,
) -> Result<(i64, Option<f64>), Error> {
    let row = conn
        .fetch_one(BEYOND, params![run.id.as_str(), from])
        .await?;
    let mut row = row.ok_or_else(|| Error::damaged("a sum is missing"))?;
    Ok((row.opt_int()?.unwrap_or(0), row.opt_real()?))
}

impl Read {
    /// `whole`: with what only a reader looks at, who is told which steps are damaged. Nobody acts on those.
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

    /// Refuses to act on a plan of steps that are damaged, as far as one look goes.
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
    // Where the run stands is among them, whatever an index says.
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
    let open = |step: &&mut StepFacts| {
        matches!(
            step.status,
            StepStatus::Crashed | StepStatus::Failed | StepStatus::Waiting | StepStatus::Running
        )
    };
    for step in found.iter_mut().rev().filter(open).take(DETAILED_MAX) {
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
    let made = decisions::some(conn, EDITS, params![run.id.as_str(), EDITS_MAX]).await?;
    let by_hand = made.iter().filter(|it| it.kind != DecisionKind::Rewind);
    Ok(by_hand.rev().filter_map(Decision::edit).collect())
}

async fn refs(conn: &mut dyn Connection, run: &RunRow) -> Result<Vec<RefFacts>, Error> {
    let params = params![run.id.as_str(), REFS_MAX];
    let rows = tables::REFS.select(conn, REFS, params).await?;
    let read = |mut row: Row| {
        let _run = row.text()?;
        let (uri, was, hash) = (row.text()?, row.text()?, row.text()?);
        let (first, epoch) = (row.int()?, row.int()?);
        Ok(RefFacts {
            uri,
            was,
            hash,
            checked_at: row.time()?,
            checked_by: row.text()?,
            again: epoch == run.epoch.0 && first < epoch,
        })
    };
    rows.into_iter().map(read).collect()
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

/// Checks the newest steps that will be replayed, as far as one look goes; with those that are known as damaged.
async fn checked(
    conn: &mut dyn Connection,
    run: &RunRow,
    steps: &[StepFacts],
    damaged: Vec<i64>,
) -> Result<Checked, Error> {
    let mut found = Checked {
        of: run.committed,
        damaged,
        ..Checked::default()
    };
    // Steps that the index of notable ones does not know of.
    let mut unknown = Vec::new();
    let (mut last, mut bytes) = (run.steps, 0);
    while last > (run.steps - CHECKED_MAX).max(0) && bytes < CHECKED_BYTES {
        let first = (last - STRIDE).max(0) + 1;
        let rows = conn
            .fetch(RESULTS, params![run.id.as_str(), first, last])
            .await?;
        let mut missing: BTreeSet<i64> = (first..=last).collect();
        last = first - 1;
        for mut row in rows {
            let result = row.opt_text().and_then(|text| Ok((text, row.opt_hash()?)));
            for step in StepRow::listed(vec![row])? {
                missing.remove(&step.seq);
                let known = |it: &StepFacts| it.seq == step.seq;
                if is_notable(&step) && !step.damaged && !steps.iter().any(known) {
                    unknown.push(step.seq);
                }
                if !step.damaged && step.status != StepStatus::Committed {
                    continue;
                }
                match &result {
                    Ok((text, hash)) if !step.damaged && matches(text.as_deref(), *hash) => {
                        found.good += 1;
                    }
                    _ => found.damaged.push(step.seq),
                }
                bytes += result
                    .as_ref()
                    .map_or(0, |(text, _)| text.as_ref().map_or(0, String::len));
            }
        }
        found.damaged.extend(missing);
    }
    // Unless there were more than are read, or something happened in between.
    if !unknown.is_empty() && (steps.len() as i64) < NOTABLE_MAX {
        let now = RunRow::load(conn, &run.id).await?;
        let still = |now: &RunRow| (now.version, now.updated_at) == (run.version, run.updated_at);
        if now.as_ref().is_some_and(still) {
            found.damaged.extend(unknown);
        }
    }
    found.damaged.sort_unstable();
    found.damaged.dedup();
    Ok(found)
}

/// What [`NOTABLE`] finds.
fn is_notable(step: &StepRow) -> bool {
    match step.status {
        StepStatus::Committed => step.given || step.decision.is_some(),
        status => !matches!(status, StepStatus::Pending | StepStatus::Running),
    }
}

/// A stored result is what its hash says.
fn matches(result: Option<&str>, hash: Option<Hash>) -> bool {
    match result.map(read_json::<Value>) {
        None => hash.is_none(),
        Some(Ok(value)) => hash == Some(Hash::of(&value)),
        Some(Err(_)) => false,
    }
}
