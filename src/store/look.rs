//! States that people look at: compared, walked through, searched, and followed back to who wrote a value.

mod blame;
mod looked;

use std::sync::Arc;

pub use looked::Looked;

use super::{
    Error, Store,
    decisions::Edits,
    engine::Connection,
    rows::{AttemptRow, StepRow, steps},
    snapshots::{self, StateAt},
    tags,
};
use crate::domain::{
    Problem, RunId,
    diff::{self, Change, Delta, rows},
    rules::decision::{Decision, DecisionKind, EditMark},
    tree::Tree,
    views::{
        diff_sheet::{DiffQuery, DiffSheet, Side},
        state_view::{self, Branch, BranchPage, Only, StateView},
        words,
    },
    wire::{
        patch::{Op, tokens},
        protocol::{Check, DiffAnswer},
    },
};

/// Larger values are not copied through a page.
const VALUE_MAX: usize = 1 << 20;

/// Changes by hand that are looked through for one step.
const EDITS_MAX: i64 = 200;

/// The state that a step's page shows.
struct Stand {
    snapshot: i64,
    /// The run's newest.
    newest: i64,
    /// The step itself changed the state.
    changed: bool,
    /// The edit that made this state, if an operator did.
    edit: Option<EditMark>,
}

/// Two states and how they differ.
pub struct Compared {
    pub from: (RunId, i64, Arc<StateAt>),
    pub to: (RunId, i64, Arc<StateAt>),
    delta: Arc<Delta>,
}

impl Compared {
    pub fn changes(&self) -> Vec<Change> {
        diff::changes(&self.from.2.tree, &self.to.2.tree, &self.delta)
    }

    pub fn answer(&self) -> DiffAnswer {
        let (run, _, from) = &self.from;
        let (other, _, to) = &self.to;
        DiffAnswer {
            from: from.snapshot,
            to: to.snapshot,
            other: (run != other).then(|| other.clone()),
            changes: self.changes(),
        }
    }

    /// The changes as RFC 6902 has them.
    pub fn patch(&self) -> Vec<Op> {
        diff::ops(&self.from.2.tree, &self.to.2.tree)
    }
}

impl Store {
    /// Compares two snapshots of a run, or one of it and one of another.
    pub async fn compare(&self, run: &RunId, query: &DiffQuery) -> Result<Compared, Problem> {
        self.compared(run, query).await.map_err(Error::problem)
    }

    async fn compared(&self, run: &RunId, query: &DiffQuery) -> Result<Compared, Error> {
        query.check()?;
        let (mut conn, owner) = self.find(run).await?;
        let other = query.other.as_ref().filter(|other| *other != run);
        let newest = match other {
            None => owner.snapshot,
            Some(other) => {
                drop(conn);
                let (back, found) = self.find(other).await?;
                conn = back;
                found.snapshot
            }
        };
        let to = query.to.unwrap_or(newest);
        let before = match other {
            None => (to - 1).max(0),
            Some(_) => owner.snapshot,
        };
        let from = query.from.unwrap_or(before);
        let of = other.unwrap_or(run);
        within("from", run, from, owner.snapshot)?;
        within("to", of, to, newest)?;
        let a = self.look(&mut *conn, run, from).await?;
        let b = self.look(&mut *conn, of, to).await?;
        drop(conn);
        let key = (run.clone(), from, of.clone(), to);
        let delta = match self.looked.delta(&key) {
            Some(known) => known,
            None => {
                let (x, y) = (a.tree.clone(), b.tree.clone());
                // A large comparison must not hold up what else this server does.
                let found = tokio::task::spawn_blocking(move || diff::compare(&x, &y));
                let found = Arc::new(found.await.map_err(Error::damaged)?);
                self.looked.keep_delta(key, found.clone());
                found
            }
        };
        Ok(Compared {
            from: (run.clone(), owner.snapshot, a),
            to: (of.clone(), newest, b),
            delta,
        })
    }

    /// A page of what differs, from row `after` on; with `find`, only what holds this text.
    pub async fn diff_sheet(
        &self,
        run: &RunId,
        query: &DiffQuery,
        after: i64,
        find: Option<&str>,
    ) -> Result<DiffSheet, Problem> {
        let compared = self.compare(run, query).await?;
        let (old, new) = (&compared.from.2.tree, &compared.to.2.tree);
        Ok(DiffSheet {
            totals: rows::totals(old, new, &compared.delta),
            page: rows::rows(old, new, &compared.delta, after, find),
            from: self.side(&compared.from).await?,
            to: self.side(&compared.to).await?,
            own: true,
            edit: None,
        })
    }

    /// The change that a step made, a person's edit while the run was there, or the last change before it.
    pub async fn diff_of_step(&self, run: &RunId, seq: i64) -> Result<DiffSheet, Problem> {
        let found = async {
            let there = self.stand(run, seq).await?;
            Ok(match there.edit {
                // The step's own change is shown unless an edit came after it.
                Some(edit) if !there.changed || edit.snapshot == there.newest => {
                    (edit.snapshot, Some(edit))
                }
                edit => (self.last_change(run, seq).await?, edit),
            })
        };
        let (n, edit) = found.await.map_err(Error::problem)?;
        let query = DiffQuery {
            to: Some(n),
            ..DiffQuery::default()
        };
        let sheet = self.diff_sheet(run, &query, 0, None).await?;
        let own = sheet.to.seq == Some(seq);
        Ok(DiffSheet { own, edit, ..sheet })
    }

    /// The state that counts at a step: what it committed or began from, or what a person made of it while the run was
    /// there.
    async fn stand(&self, run: &RunId, seq: i64) -> Result<Stand, Error> {
        let (mut conn, owner) = self.find(run).await?;
        if owner.steps == 0 && seq == 0 {
            // Nothing has begun: what counts is what the run starts from.
            return Ok(Stand {
                snapshot: owner.snapshot,
                newest: owner.snapshot,
                changed: false,
                edit: None,
            });
        }
        let step = StepRow::load(&mut *conn, run, seq).await?;
        let step = step.ok_or_else(|| Problem::not_found("step"))?;
        let own = match step.snapshot {
            Some(own) => own,
            None if step.attempts == 0 => 0,
            None => {
                let last = AttemptRow::load(&mut *conn, run, seq, step.attempts).await?;
                // Without the last attempt its base is not known, and an older state would pass for it.
                let gone =
                    || Error::damaged(format!("the last attempt at step {seq} of run {run}"));
                last.ok_or_else(gone)?.base
            }
        };
        let made = Edits::Oldest.of(&mut *conn, run, own, EDITS_MAX).await?;
        let here = |it: &&Decision| {
            it.kind != DecisionKind::Rewind
                && it.edited_at() == Some(seq)
                && it.snapshot > Some(own)
        };
        let before = |it: &&Decision| it.snapshot == Some(own);
        let edit = made.iter().rfind(here);
        let edit = edit.or(made.iter().find(before)).and_then(Decision::edit);
        Ok(Stand {
            snapshot: edit.as_ref().map_or(own, |edit| edit.snapshot),
            newest: owner.snapshot,
            changed: step.state_change.is_some(),
            edit,
        })
    }

    async fn side(
        &self,
        (run, newest, state): &(RunId, i64, Arc<StateAt>),
    ) -> Result<Side, Problem> {
        let named = async {
            let mut conn = self.engine.read().await?;
            step_name(&mut *conn, run, state.seq).await
        };
        Ok(Side {
            run: run.clone(),
            snapshot: state.snapshot,
            newest: *newest,
            seq: state.seq,
            step: named.await.map_err(Error::problem)?,
            at: state.created_at,
            bytes: state.tree.size() as i64,
        })
    }

    /// The newest snapshot, up to the step `seq`, by which a step changed the state.
    async fn last_change(&self, run: &RunId, seq: i64) -> Result<i64, Error> {
        let changed = |step: &StepRow| step.snapshot.filter(|_| step.state_change.is_some());
        let far = steps!(
            "seq <= $2 AND state_change IS NOT NULL AND snapshot IS NOT NULL ORDER BY seq DESC LIMIT 1"
        );
        self.newest_snapshot(run, seq, changed, far).await
    }

    async fn newest_snapshot(
        &self,
        run: &RunId,
        seq: i64,
        made: impl Fn(&StepRow) -> Option<i64>,
        far: &'static str,
    ) -> Result<i64, Error> {
        let (mut conn, owner) = self.find(run).await?;
        let from = seq.min(owner.steps);
        let makes = |step: &StepRow| made(step).is_some();
        let step = StepRow::newest(&mut *conn, run, from, makes, far).await?;
        Ok(step.as_ref().and_then(made).unwrap_or(0))
    }

    /// The state after the step `seq`, or the one that it began from, with its first branches.
    pub async fn state_after(&self, run: &RunId, seq: i64) -> Result<StateView, Problem> {
        let there = self.stand(run, seq).await.map_err(Error::problem)?;
        let n = there.snapshot;
        let state = self.state(run, n).await?;
        let tags = async {
            let mut conn = self.engine.read().await?;
            tags::names(&mut *conn, run, n).await
        };
        Ok(StateView {
            tags: tags.await.map_err(Error::problem)?,
            edit: there.edit,
            snapshot: n,
            seq: state.seq,
            created_at: state.created_at,
            hash: state.hash,
            root: Branch::of(None, String::new(), &state.tree),
            page: state_view::below(&state.tree, "", &Only::All, 0),
        })
    }

    /// What stands directly below a place in a state.
    pub async fn branches(
        &self,
        run: &RunId,
        n: i64,
        path: &str,
        items: Option<(i64, i64)>,
        after: i64,
    ) -> Result<BranchPage, Problem> {
        let state = self.state(run, n).await?;
        let only = match items {
            None => Only::All,
            Some((start, len)) => Only::Items {
                start: usize::try_from(start).unwrap_or(0),
                len: usize::try_from(len).unwrap_or(0),
            },
        };
        Ok(state_view::below(
            at(&state.tree, path)?,
            path,
            &only,
            after,
        ))
    }

    /// What is the same below a place in both states.
    pub async fn unchanged(
        &self,
        run: &RunId,
        query: &DiffQuery,
        path: &str,
        old_path: &str,
        after: i64,
    ) -> Result<BranchPage, Problem> {
        let compared = self.compare(run, query).await?;
        let old = at(&compared.from.2.tree, old_path)?;
        let new = at(&compared.to.2.tree, path)?;
        Ok(state_view::below(new, path, &Only::SameAs(old), after))
    }

    /// Values of a state that hold this text, or whose key does.
    pub async fn find_in_state(
        &self,
        run: &RunId,
        n: i64,
        text: &str,
        after: i64,
    ) -> Result<BranchPage, Problem> {
        let state = self.state(run, n).await?;
        Ok(state_view::find(&state.tree, text, after))
    }

    /// One value of a state as JSON, if it is one that can be copied by hand.
    pub async fn value_at(&self, run: &RunId, n: i64, path: &str) -> Result<String, Problem> {
        let state = self.state(run, n).await?;
        let found = at(&state.tree, path)?;
        match found.size() > VALUE_MAX {
            true => Err(Problem::too_large("value", VALUE_MAX)),
            false => Ok(serde_json::to_string_pretty(found).unwrap_or_default()),
        }
    }

    async fn state(&self, run: &RunId, n: i64) -> Result<Arc<StateAt>, Problem> {
        let read = async {
            let (mut conn, owner) = self.find(run).await?;
            within("snapshot", run, n, owner.snapshot)?;
            self.look(&mut *conn, run, n).await
        };
        read.await.map_err(Error::problem)
    }

    async fn look(
        &self,
        conn: &mut dyn Connection,
        run: &RunId,
        n: i64,
    ) -> Result<Arc<StateAt>, Error> {
        if let Some(known) = self.looked.state(run, n) {
            return Ok(known);
        }
        let state = Arc::new(snapshots::state(conn, run, n).await?);
        self.looked.keep_state(run.clone(), state.clone());
        Ok(state)
    }
}

fn within(name: &str, run: &RunId, n: i64, newest: i64) -> Result<(), Problem> {
    match (0..=newest).contains(&n) {
        true => Ok(()),
        false => Err(Problem::not_found("snapshot")
            .with("path", name)
            .with("run", run)
            .with("newest", newest)),
    }
}

fn at<'a>(tree: &'a Tree, path: &str) -> Result<&'a Tree, Problem> {
    let keys = tokens(path).map_err(|why| Problem::invalid("path", why))?;
    tree.get(&keys).ok_or_else(|| Problem::not_found("value"))
}

async fn step_name(
    conn: &mut dyn Connection,
    run: &RunId,
    seq: Option<i64>,
) -> Result<Option<String>, Error> {
    let Some(seq) = seq else { return Ok(None) };
    let step = StepRow::between(conn, run, seq, seq).await?.pop();
    Ok(step.map(|step| match step.damaged {
        true => words::DAMAGED.to_owned(),
        false => step.name,
    }))
}
