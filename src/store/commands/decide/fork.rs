//! Fork: a new run that shares everything before a step with this one, and goes its own way from there.

use serde_json::{Value, json};

use super::rewind::{base, counts, named};
use crate::{
    domain::{
        Code, Epoch, EventKind, Hash, Problem, RunId, RunStatus, StepStatus, Usage,
        nouns::run::Parent, rules::plan::LeftBehind, views::strip::Strip, wire::protocol::Decide,
    },
    store::{
        Error,
        content::Content,
        engine::params,
        plan::effects_not_shared,
        rows::{RunRow, StepRow, announced, attempt, step},
        snapshots, tables,
        tx::Tx,
        verify::copied,
    },
};

pub struct Fork {
    pub id: RunId,
    /// The first step that is not shared.
    from: i64,
    snapshot: i64,
    hash: Hash,
    input: Content,
    schema: Option<Content>,
}

/// Settled steps come along as they are; what was open in the origin is not this run's, and only seen.
const STEPS: &str = "INSERT INTO steps (run, seq, key, name, kind, tool, input, input_hash, effect, recovery, max_attempts, \
     backoff_ms, gate, refs, links, status, attempts, failures, generation, told, epoch, unknown, given, decision, \
     snapshot, retry_at, result, result_hash, error, cost_usd, begun_at, ended_at, ord, state_change, keyed_at) \
     SELECT $2, seq, key, name, kind, tool, input, input_hash, effect, recovery, max_attempts, backoff_ms, gate, refs, \
     links, CASE WHEN status IN ('committed', 'skipped') OR (status = 'failed' AND retry_at IS NULL) THEN status \
     ELSE 'superseded' END, attempts, failures, generation, told, 0, unknown, given, decision, snapshot, NULL, result, \
     result_hash, error, cost_usd, begun_at, ended_at, $4, state_change, keyed_at FROM steps WHERE run = $1 AND seq < $3";
const ATTEMPTS: &str = "INSERT INTO attempts (run, seq, attempt, worker, epoch, base, begun_at, heartbeat_at, ended_at, \
     outcome, input, error, body, answer, input_tokens, output_tokens, cost_usd, log_lines, idempotency_key) \
     SELECT $2, seq, attempt, worker, 0, base, begun_at, heartbeat_at, ended_at, \
     CASE outcome WHEN 'running' THEN 'crashed' ELSE outcome END, input, error, body, answer, \
     input_tokens, output_tokens, cost_usd, 0, idempotency_key FROM attempts WHERE run = $1 AND seq < $3";
const ANNOUNCED: &str = "INSERT INTO announced (run, idx, key, name, kind, tool, effect, seq, skipped) \
     SELECT $2, idx, key, name, kind, tool, effect, CASE WHEN seq < $3 THEN seq END, skipped FROM announced WHERE run = $1";
const REFS: &str = "INSERT INTO refs (run, uri, was, hash, first, epoch, checked_at, checked_by) \
     SELECT $2, uri, was, hash, 0, 0, checked_at, checked_by FROM refs WHERE run = $1";
const TERMS: &str = "SELECT term FROM terms WHERE ord = $1";
/// Steps read at once.
const STRIDE: i64 = 1_000;
const SEEN: &str = "SELECT seq, status, attempts FROM steps WHERE run = $1 ORDER BY seq";

/// Damaged steps from this one on: whether they had effects is not known.
async fn damaged_from(
    tx: &mut Tx,
    run: &RunRow,
    from: i64,
    known: &[LeftBehind],
) -> Result<Vec<LeftBehind>, Error> {
    let mut damaged = Vec::new();
    let mut first = from;
    while first <= run.steps {
        let last = run.steps.min(first + STRIDE - 1);
        let steps = StepRow::between(tx.conn(), &run.id, first, last).await?;
        damaged.extend(steps.iter().filter(|it| it.damaged).map(|it| it.seq));
        first = last + 1;
    }
    damaged.retain(|seq| known.iter().all(|it| it.seq != *seq));
    Ok(damaged.into_iter().map(LeftBehind::damaged).collect())
}

impl Fork {
    pub async fn checked(tx: &mut Tx, run: &RunRow, body: &Decide) -> Result<Self, Error> {
        let end = run.steps + 1;
        let from = body.step.unwrap_or(end);
        let snapshot = match from == end {
            true => run.snapshot,
            false => {
                counts(tx, run, from).await?;
                base(tx, run, from).await?
            }
        };
        let now = tx.now;
        let mut left = effects_not_shared(tx.conn(), run, from, now).await?;
        left.extend(damaged_from(tx, run, from, &left).await?);
        named(left, &body.again)?;
        let id = match &body.new_run_id {
            Some(id) => id.clone(),
            None => uuid::Uuid::now_v7()
                .to_string()
                .try_into()
                .map_err(|why| Problem::invalid("new_run_id", why))?,
        };
        if tx.find_run(&id).await?.is_some() {
            let detail = format!("run {id} exists already: choose another id");
            return Err(Problem::new(Code::RunConflict, detail).into());
        }
        // Read it once: nothing damaged is forked. The copies get seals of their own, which would hide it.
        copied::sound(tx.conn(), run, from).await?;
        let shared = snapshots::read(tx.conn(), &run.id, snapshot).await?;
        let sql = "SELECT input, state_schema FROM runs WHERE id = $1";
        let row = tx.conn().fetch_one(sql, params![run.id.as_str()]).await?;
        let mut row = row.ok_or_else(|| Error::damaged("a run vanished"))?;
        let place = |what| move |_| Error::damaged(format!("the {what} of run {}", run.id));
        Ok(Self {
            id,
            from,
            snapshot,
            hash: shared.hash,
            input: Content::of(&row.sealed().map_err(place("input"))?),
            schema: row
                .opt_sealed::<Value>()
                .map_err(place("state_schema"))?
                .as_ref()
                .map(Content::of),
        })
    }

    pub async fn carry_out(self, tx: &mut Tx, origin: &RunRow) -> Result<RunRow, Error> {
        let mut run = self.row(tx, origin);
        let ord = run.ord;
        run.insert(tx.conn(), &self.input, self.schema.as_ref())
            .await?;
        let (from, id) = (origin.id.as_str(), run.id.clone());
        let to = id.as_str();
        let conn = tx.conn();
        conn.execute(STEPS, params![from, to, self.from, ord])
            .await?;
        conn.execute(ATTEMPTS, params![from, to, self.from]).await?;
        conn.execute(ANNOUNCED, params![from, to, self.from])
            .await?;
        conn.execute(REFS, params![from, to]).await?;
        for table in [
            &step::TABLE,
            &attempt::TABLE,
            &announced::TABLE,
            &tables::REFS,
        ] {
            table.seal_run(conn, &id).await?;
        }
        for mut row in conn.fetch(SEEN, params![to]).await? {
            let (seq, status, tries) = (row.int()?, row.word::<StepStatus>()?, row.int()?);
            run.strip.set(seq, status, tries);
            run.committed += i64::from(status == StepStatus::Committed);
        }
        if let Some(last) = StepRow::last_before(conn, &id, self.from).await? {
            run.is_at(&last);
        }
        let open = "SELECT COUNT(*) FROM announced WHERE run = $1 AND seq IS NULL";
        let row = conn.fetch_one(open, params![to]).await?;
        run.announced = row.map(|mut row| row.int()).transpose()?.unwrap_or(0);
        let data = json!({
            "agent": run.agent, "title": run.title, "status": run.status, "input": self.input.hash,
            "snapshot": run.snapshot, "hash": run.hash, "forked_from": origin.id, "seq": self.from,
        });
        tx.emit(&run.id, None, EventKind::RunCreated, data);
        for mut row in tx.conn().fetch(TERMS, params![origin.ord]).await? {
            let term = row.text()?;
            tx.mention(ord, &term);
        }
        tx.mention(ord, run.id.as_str());
        tx.mention(ord, run.id.short());
        tracing::info!(run = %run.id, origin = %origin.id, step = self.from, "run forked");
        tx.save(&run);
        Ok(run)
    }

    fn row(&self, tx: &Tx, origin: &RunRow) -> RunRow {
        RunRow {
            id: self.id.clone(),
            ord: tx.next_event(),
            status: RunStatus::Ready,
            version: 1,
            parent: Some(Parent {
                run: origin.id.clone(),
                seq: self.from,
            }),
            forked_at: Some(self.snapshot),
            recoveries: 0,
            runnable_at: None,
            worker: None,
            epoch: Epoch(0),
            ttl_ms: 0,
            expires_at: None,
            heartbeat_at: None,
            signal: None,
            snapshot: self.snapshot,
            hash: self.hash,
            steps: self.from - 1,
            committed: 0,
            announced: 0,
            at: None,
            error_kind: None,
            effects_unknown: false,
            acknowledged: false,
            looking: None,
            busy_us: 0,
            strip: Strip::default(),
            usage: Usage::default(),
            created_at: tx.now,
            updated_at: tx.now,
            started_at: None,
            finished_at: None,
            ..origin.clone()
        }
    }
}
