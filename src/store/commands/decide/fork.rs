//! Fork: a new run that shares everything before a step with this one, and goes its own way from there.
//!
//! All of the run is read before there is a transaction ([`Looked`]); the transaction asks what has changed since.

mod beside;
mod copies;

use serde_json::{Value, json};

use super::{
    Decision,
    rewind::{base, counts, named},
    vetted::refusal,
};
use crate::{
    aside::aside_with,
    domain::{
        Code, EventKind, Hash, Problem, RunId, RunStatus, StepStatus, nouns::run::Parent,
        rules::plan::LeftBehind, views::terms::is_of_text, wire::protocol::Decide,
    },
    store::{
        Error, Store,
        content::Content,
        engine::{Connection, params},
        plan::effects_not_shared,
        rows::{NewRun, RunRow, StepRow, term::TermRow},
        seal, snapshots, sound,
        table::Declared as _,
        tx::{Tx, newest_event},
    },
};
use beside::Beside;
use copies::Copies;

/// What was found out before the transaction.
pub struct Looked {
    id: RunId,
    from: i64,
    snapshot: i64,
    hash: Hash,
    /// The newest event of the run by then: up to it the effects that are left behind were named.
    event: i64,
    /// Damaged steps that are left behind. Each may have had an effect, so each must be named.
    damaged: Vec<LeftBehind>,
    content: Shared,
    copies: Copies,
}

/// What the run was given, as it is stored in the origin, and as the fork stores it.
struct Shared {
    stored: (Option<String>, Option<String>),
    input: Content,
    schema: Option<Content>,
}

/// A fork that was checked in full.
pub struct Fork {
    pub id: RunId,
    /// The first step that is not shared.
    from: i64,
    snapshot: i64,
    hash: Hash,
}

/// Steps read at once.
const STRIDE: i64 = 1_000;
const SEEN: &str = "SELECT seq, status, attempts FROM steps WHERE run = $1 ORDER BY seq";
const CONTENT: &str = "SELECT input, state_schema FROM runs WHERE id = $1";

/// Damaged steps from this one on, as effects that may have happened.
async fn damaged_from(
    conn: &mut dyn Connection,
    run: &RunRow,
    from: i64,
) -> Result<Vec<LeftBehind>, Error> {
    let mut damaged = Vec::new();
    let mut first = from;
    while first <= run.steps {
        let last = run.steps.min(first + STRIDE - 1);
        let steps = StepRow::between(conn, &run.id, first, last).await?;
        damaged.extend(steps.iter().filter(|it| it.damaged).map(|it| it.seq));
        first = last + 1;
    }
    Ok(damaged.into_iter().map(LeftBehind::damaged).collect())
}

impl Shared {
    async fn of(conn: &mut dyn Connection, run: &RunRow) -> Result<Self, Error> {
        let stored = Self::stored(conn, run).await?;
        let place = |what| move |_| Error::damaged(format!("the {what} of run {}", run.id));
        let (input, schema) = &stored;
        let input = input.as_deref().unwrap_or_default();
        let input: Value = seal::open(input).map_err(place("input"))?;
        let schema = schema.as_deref().map(seal::open::<Value>).transpose();
        let schema = schema.map_err(place("state_schema"))?;
        Ok(Self {
            input: Content::of(&input),
            schema: schema.as_ref().map(Content::of),
            stored,
        })
    }

    async fn stored(
        conn: &mut dyn Connection,
        run: &RunRow,
    ) -> Result<(Option<String>, Option<String>), Error> {
        let row = conn.fetch_one(CONTENT, params![run.id.as_str()]).await?;
        let mut row = row.ok_or_else(|| Error::damaged("a run vanished"))?;
        Ok((row.opt_text()?, row.opt_text()?))
    }
}

impl Looked {
    /// Reads all rows that the fork shares. Each copy gets a seal of its own, so damage that is not found here stays hidden.
    async fn at(conn: &mut dyn Connection, run: &RunRow, body: &Decide) -> Result<Self, Error> {
        let event = newest_event(conn, &run.id).await?;
        let end = run.steps + 1;
        let from = body.step.unwrap_or(end);
        let snapshot = match from == end {
            true => run.snapshot,
            false => {
                counts(conn, run, from).await?;
                base(conn, run, from).await?
            }
        };
        let now = conn.now().await?;
        let mut left = effects_not_shared(conn, run, from, now).await?;
        let mut damaged = damaged_from(conn, run, from).await?;
        damaged.retain(|it| left.iter().all(|known| known.seq != it.seq));
        left.extend(damaged.iter().cloned());
        named(left, &body.again)?;
        let id = match &body.new_run_id {
            Some(id) => id.clone(),
            None => uuid::Uuid::now_v7()
                .to_string()
                .try_into()
                .map_err(|why| Problem::invalid("new_run_id", why))?,
        };
        let copies = Copies::prepared(conn, run, &id, from).await?;
        let shared = snapshots::read(conn, &run.id, snapshot).await?;
        Ok(Self {
            from,
            snapshot,
            hash: shared.hash,
            event,
            damaged,
            content: Shared::of(conn, run).await?,
            copies,
            id,
        })
    }
}

impl Decision {
    /// What the fork shares, read and checked; or why there is none. `None` where the run itself cannot be read: the
    /// transaction says why.
    pub(super) async fn looked(
        &self,
        store: &Store,
    ) -> Result<Option<Result<Looked, Problem>>, Error> {
        let mut conn = store.engine.read().await?;
        let Some(run) = sound(RunRow::load(&mut *conn, &self.run).await)?.flatten() else {
            return Ok(None);
        };
        let looked = aside_with(Looked::at(&mut *conn, &run, &self.body)).await;
        refusal(looked).map(Some)
    }

    /// What was looked at, or why there is no fork.
    pub(super) fn forked_from(&self) -> Result<&Looked, Error> {
        match &self.vetted.fork {
            Some(Ok(looked)) => Ok(looked),
            Some(Err(problem)) => Err(problem.clone().into()),
            None => Err(Error::Outdated),
        }
    }
}

impl Fork {
    pub async fn checked(
        tx: &mut Tx,
        run: &RunRow,
        body: &Decide,
        looked: &Looked,
    ) -> Result<Self, Error> {
        let end = run.steps + 1;
        let from = body.step.unwrap_or(end);
        let (snapshot, hash) = match () {
            () if from == end => (run.snapshot, run.hash),
            () if from == looked.from && from <= run.steps => (looked.snapshot, looked.hash),
            () => return Err(Error::Outdated),
        };
        if tx.newest_event(&run.id).await? != looked.event {
            let now = tx.now;
            let mut left = effects_not_shared(tx.conn(), run, from, now).await?;
            left.extend(looked.damaged.iter().cloned());
            named(left, &body.again)?;
        }
        let id = looked.id.clone();
        if tx.find_run(&id).await?.is_some() {
            let detail = format!("run {id} exists already: choose another id");
            return Err(Problem::new(Code::RunConflict, detail).into());
        }
        Ok(Self {
            id,
            from,
            snapshot,
            hash,
        })
    }

    pub async fn carry_out(
        self,
        tx: &mut Tx,
        origin: &RunRow,
        looked: &Looked,
    ) -> Result<RunRow, Error> {
        let mut run = self.row(tx, origin);
        let ord = run.ord;
        let conn = tx.conn();
        // A lease may have brought another schema meanwhile.
        let changed = match Shared::stored(conn, origin).await? == looked.content.stored {
            true => None,
            false => Some(Shared::of(conn, origin).await?),
        };
        let content = changed.as_ref().unwrap_or(&looked.content);
        run.insert(conn, &content.input, content.schema.as_ref())
            .await?;
        let id = run.id.clone();
        let same = looked
            .copies
            .insert(conn, origin, (&id, ord), self.from)
            .await?;
        let beside = Beside {
            origin: &origin.id,
            from: self.from,
            snapshot: self.snapshot,
        };
        beside.all(conn, &mut run).await?;
        match same {
            true => {
                run.strip = looked.copies.strip.clone();
                run.committed = looked.copies.committed;
            }
            false => {
                for mut row in conn.fetch(SEEN, params![id.as_str()]).await? {
                    let (seq, status, tries) = (row.int()?, row.word::<StepStatus>()?, row.int()?);
                    run.strip.set(seq, status, tries);
                    run.committed += i64::from(status == StepStatus::Committed);
                }
            }
        }
        if let Some(last) = StepRow::last_before(conn, &id, self.from).await? {
            run.is_at(&last);
        }
        let data = json!({
            "agent": run.agent, "title": run.title, "status": run.status, "input": content.input.hash,
            "snapshot": run.snapshot, "hash": run.hash, "forked_from": origin.id, "seq": self.from,
        });
        tx.emit(&run.id, None, EventKind::RunCreated, data);
        let known = TermRow::select(tx.conn(), "WHERE ord = $1", params![origin.ord]).await?;
        // Who worked on the origin did not work on the fork.
        for TermRow { term, .. } in known.into_iter().filter(|it| is_of_text(&it.term)) {
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
