//! Fork: a new run that shares everything before a step with this one, and goes its own way from there.

use serde_json::{Value, json};

use super::{
    copy::Copy,
    rewind::{base, counts, named},
};
use crate::{
    domain::{
        Code, EventKind, Hash, Problem, RunId, RunStatus, nouns::run::Parent,
        rules::plan::LeftBehind, wire::protocol::Decide,
    },
    store::{
        Error,
        content::Content,
        engine::params,
        plan::effects_not_shared,
        rows::{NewRun, RunRow, StepRow, term::TermRow},
        snapshots,
        table::Declared as _,
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

/// Steps read at once.
const STRIDE: i64 = 1_000;

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
        let copy = Copy {
            origin: &origin.id,
            from: self.from,
        };
        copy.all(tx.conn(), &mut run).await?;
        if let Some(last) = StepRow::last_before(tx.conn(), &run.id, self.from).await? {
            run.is_at(&last);
        }
        let data = json!({
            "agent": run.agent, "title": run.title, "status": run.status, "input": self.input.hash,
            "snapshot": run.snapshot, "hash": run.hash, "forked_from": origin.id, "seq": self.from,
        });
        tx.emit(&run.id, None, EventKind::RunCreated, data);
        let known = TermRow::select(tx.conn(), "WHERE ord = $1", params![origin.ord]).await?;
        for TermRow { term, .. } in known {
            tx.mention(ord, &term);
        }
        tx.mention(ord, run.id.as_str());
        tx.mention(ord, run.id.short());
        tracing::info!(run = %run.id, origin = %origin.id, step = self.from, "run forked");
        tx.save(&run);
        Ok(run)
    }

    fn row(&self, tx: &Tx, origin: &RunRow) -> RunRow {
        origin.forked(NewRun {
            id: self.id.clone(),
            ord: tx.next_event(),
            status: RunStatus::Ready,
            version: 1,
            parent: Some(Parent {
                run: origin.id.clone(),
                seq: self.from,
            }),
            forked_at: Some(self.snapshot),
            snapshot: self.snapshot,
            hash: self.hash,
            steps: self.from - 1,
            created_at: tx.now,
            updated_at: tx.now,
        })
    }
}
