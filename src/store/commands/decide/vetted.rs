//! What of a decision is looked at before there is a transaction: schemas, hashes and new states, which may take
//! seconds. The transaction then only asks whether what was looked at is still what is current.

use serde_json::{Value, json};
use std::collections::HashMap;

use super::{Decision, fork::Looked, gate};
use crate::{
    aside::{LONG, aside, aside_with},
    domain::{
        Code, DecisionKind, Hash, Problem, StepStatus, diff,
        rules::{decision::Gist, typed_state},
        tree::Tree,
        wire::{json::is_long, patch::Op, protocol::Decide},
    },
    store::{
        Error, Store,
        content::Content,
        engine::params,
        plan::Read,
        rows::{AttemptRow, RunRow, StepRow, sealed},
        seal,
        snapshots::{self, Change, NewestState, Packed},
        sound,
        tx::newest_event,
    },
};

#[derive(Default)]
pub struct Vetted {
    /// The body as it is kept, without whole states (their snapshots have them), and the hash of the body as it was sent.
    pub kept: String,
    pub body: Hash,
    /// The results that were chosen for steps, as they are written.
    results: HashMap<i64, Content>,
    /// What a gate made of the answer; its question never changes.
    answer: Option<(i64, Result<Content, Problem>)>,
    pub edit: Option<NewStates>,
    /// What a resume is based on.
    pub facts: Option<Facts>,
    /// What a rewind goes back to.
    pub back: Option<Result<Back, Problem>>,
    /// What a fork shares.
    pub fork: Option<Result<Looked, Problem>>,
}

/// The facts of the plan, and the results that will be replayed, held against their hashes. They hold until the run's next event.
pub struct Facts {
    /// The newest event of the run by then.
    pub event: i64,
    pub read: Result<Read, Problem>,
}

/// The state of an earlier snapshot as the run's next one.
pub struct Back {
    pub to: i64,
    /// The hash of the state before.
    pub base: Hash,
    pub made: (NewestState, Packed),
}

/// States that were made from the one that was current, and held against the run's schema.
pub struct NewStates {
    /// The hash of the state before.
    pub base: Hash,
    /// The schema as it is stored.
    pub schema: Option<String>,
    pub made: Result<Vec<(NewestState, Packed)>, Problem>,
    /// What an edit that brought a whole state changed.
    pub change: Option<Gist>,
}

impl Decision {
    pub(super) async fn vet(&mut self, store: &Store) -> Result<(), Error> {
        let mut vetted = match self.brings(LONG) {
            true => aside(|| self.written()).await,
            false => self.written(),
        };
        vetted.answer = self.answered(store).await?;
        vetted.edit = self.new_states(store).await?;
        match self.body.kind {
            DecisionKind::Resume => vetted.facts = self.facts(store).await?,
            DecisionKind::Rewind => vetted.back = self.back(store).await?,
            DecisionKind::Fork => vetted.fork = self.looked(store).await?,
            _ => {}
        }
        self.vetted = vetted;
        Ok(())
    }

    /// Whether any part of it has so many bytes.
    pub(super) fn brings(&self, bytes: usize) -> bool {
        let body = &self.body;
        let one = |value: &Option<Value>| value.as_ref().is_some_and(|it| is_long(it, bytes));
        let ops = |patch: &Option<Vec<Op>>| {
            let ops = patch.as_deref().unwrap_or_default();
            ops.len() * 64 > bytes
                || ops
                    .iter()
                    .filter_map(Op::value)
                    .any(|it| is_long(it, bytes))
        };
        let choices = &body.choices;
        one(&body.result)
            || one(&body.state)
            || ops(&body.patch)
            || choices.len() * 64 > bytes
            || choices
                .iter()
                .any(|it| one(&it.result) || one(&it.state) || ops(&it.patch))
    }

    fn written(&self) -> Vetted {
        let body = &self.body;
        let chosen = body.choices.iter().map(|it| (it.step, it.result.as_ref()));
        let own = body.step.map(|step| (step, body.result.as_ref()));
        let null = Value::Null;
        let results = chosen.chain(own);
        Vetted {
            kept: sealed(&lean(body)),
            body: Hash::of(&json!(body)),
            results: results
                .map(|(step, result)| (step, Content::of(result.unwrap_or(&null))))
                .collect(),
            ..Vetted::default()
        }
    }

    /// The result that was chosen for a step.
    pub(super) fn result(&self, step: i64) -> Content {
        let known = self.vetted.results.get(&step);
        known.cloned().unwrap_or_else(|| Content::of(&Value::Null))
    }

    /// What the gate made of the answer.
    pub(super) fn answer(&self, step: i64) -> Result<Content, Error> {
        match &self.vetted.answer {
            Some((of, answer)) if *of == step => Ok(answer.clone()?),
            _ => Err(Error::Outdated),
        }
    }

    async fn answered(
        &self,
        store: &Store,
    ) -> Result<Option<(i64, Result<Content, Problem>)>, Error> {
        use DecisionKind::{Answer, Approve, Reject};
        let (kind, Some(seq)) = (self.body.kind, self.body.step) else {
            return Ok(None);
        };
        if !matches!(kind, Approve | Reject | Answer) {
            return Ok(None);
        }
        let mut conn = store.engine.read().await?;
        let step = sound(StepRow::load(&mut *conn, &self.run, seq).await)?.flatten();
        let Some(step) = step.filter(|it| it.status == StepStatus::Waiting) else {
            return Ok(None);
        };
        let gate = match step.content(&mut *conn, &self.run).await {
            Ok(content) => content.gate,
            Err(error) if error.is_damage() => return Ok(Some((seq, Err(error.problem())))),
            Err(error) => return Err(error),
        };
        // The check may take its time; nobody else should wait for this connection meanwhile.
        drop(conn);
        let Some(gate) = gate else {
            let why = "the step waits, but asks no question";
            let problem = Problem::new(Code::DecisionRefused, why).with("why", why);
            return Ok(Some((seq, Err(problem))));
        };
        let answer = gate::answer(&store.schemas, kind, gate, self.body.result.as_ref()).await;
        let answer = match answer {
            Ok(result) => Ok(aside(|| Content::of(&result)).await),
            Err(problem) => Err(problem),
        };
        Ok(Some((seq, answer)))
    }

    async fn facts(&self, store: &Store) -> Result<Option<Facts>, Error> {
        let mut conn = store.engine.read().await?;
        let event = newest_event(&mut *conn, &self.run).await?;
        let Some(run) = sound(RunRow::load(&mut *conn, &self.run).await)?.flatten() else {
            return Ok(None);
        };
        let read = aside_with(async {
            let now = conn.now().await?;
            let read = Read::of(&mut *conn, &run, now, false).await?;
            read.sound(&mut *conn, &run).await?;
            Ok(read)
        });
        let read = refusal(read.await)?;
        Ok(Some(Facts { event, read }))
    }

    /// The state that a rewind goes back to, whatever the schema says now.
    async fn back(&self, store: &Store) -> Result<Option<Result<Back, Problem>>, Error> {
        let Some(mut held) = store.at_hand(&self.run).await? else {
            return Ok(None);
        };
        let mut conn = store.engine.read().await?;
        let seq = self.body.step.unwrap_or_default();
        let first = sound(AttemptRow::load(&mut *conn, &self.run, seq, 1).await)?.flatten();
        let Some(to) = first.map(|it| it.base) else {
            return Ok(None);
        };
        let base = held.hash;
        let made = aside_with(async {
            let state = snapshots::read(&mut *conn, &self.run, to).await?.state;
            let packed = held.advance(Change::Whole(Tree::from(state)), store.state_max)?;
            Ok((held, packed))
        });
        let made = refusal(made.await)?;
        Ok(Some(made.map(|made| Back { to, base, made })))
    }

    /// The changes of state that it asks for, in order.
    pub(super) fn changes(&self) -> Vec<Change> {
        let body = &self.body;
        let asked: Vec<_> = match body.kind {
            DecisionKind::Resume => {
                let choices = body.choices.iter();
                choices.map(|it| (&it.state, &it.patch)).collect()
            }
            _ => vec![(&body.state, &body.patch)],
        };
        let change = asked.into_iter().filter_map(|asked| match asked {
            (Some(state), _) => Some(Change::Whole(state.clone().into())),
            (None, Some(patch)) => Some(Change::Patch(patch.clone())),
            (None, None) => None,
        });
        change.collect()
    }

    async fn new_states(&self, store: &Store) -> Result<Option<NewStates>, Error> {
        let changes = aside(|| self.changes()).await;
        if changes.is_empty() {
            return Ok(None);
        }
        let Some(held) = store.at_hand(&self.run).await? else {
            return Ok(None);
        };
        let mut conn = store.engine.read().await?;
        let sql = "SELECT state_schema FROM runs WHERE id = $1";
        let row = conn.fetch_one(sql, params![self.run.as_str()]).await?;
        drop(conn);
        let stored = row.map(|mut row| row.opt_text()).transpose()?.flatten();
        let schema = stored.as_deref().map(seal::open::<Value>).transpose();
        let Some(schema) = sound(schema)? else {
            return Ok(None);
        };
        let (base, before) = (held.hash, held.tree.clone());
        let made = match made(store, held, changes, schema).await {
            Ok(made) => Ok(made),
            Err(Error::Refused(problem)) if problem.code != Code::Busy => Err(problem),
            Err(error) => return Err(error),
        };
        let whole = self.body.kind == DecisionKind::Edit && self.body.state.is_some();
        let after = made.as_ref().ok().and_then(|made| made.last());
        let change = match after.filter(|_| whole) {
            Some((held, _)) => Some(aside(|| Gist::of(&diff::ops(&before, &held.tree))).await),
            None => None,
        };
        Ok(Some(NewStates {
            base,
            schema: stored,
            made,
            change,
        }))
    }
}

/// A refusal or damage is kept for the transaction, which looks first whether something else refuses the decision.
pub(super) fn refusal<T>(read: Result<T, Error>) -> Result<Result<T, Problem>, Error> {
    match read {
        Ok(read) => Ok(Ok(read)),
        Err(Error::Refused(problem)) => Ok(Err(problem)),
        Err(error) if error.is_damage() => Ok(Err(error.problem())),
        Err(error) => Err(error),
    }
}

/// The states that these changes make one after the other; each must fit the schema, and none names a new type.
async fn made(
    store: &Store,
    mut held: NewestState,
    changes: Vec<Change>,
    schema: Option<Value>,
) -> Result<Vec<(NewestState, Packed)>, Error> {
    let mut made = Vec::with_capacity(changes.len());
    for change in changes {
        let before = held.tree.clone();
        let packed = aside(|| held.advance(change, store.state_max)).await?;
        if let Some(place) = aside(|| typed_state::named_anew(&before, &held.tree)).await {
            let why = "names a type anew ($type, $ext or $opaque): a worker would make an object of it, so only a program may";
            return Err(Problem::invalid(format!("state{place}"), why).into());
        }
        if let Some(schema) = &schema {
            let state = aside(|| held.tree.to_value()).await;
            store.schemas.check("state", schema.clone(), state).await?;
        }
        made.push((held.clone(), packed));
    }
    Ok(made)
}

/// The body without whole states: their snapshots have them.
fn lean(body: &Decide) -> Decide {
    let mut lean = body.clone();
    lean.state = None;
    lean.choices
        .iter_mut()
        .for_each(|choice| choice.state = None);
    lean
}
