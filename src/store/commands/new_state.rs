//! A new state that an agent sends, whole or as a patch: checked against its base, made before the transaction where that
//! takes long, and appended as the run's next snapshot.

use serde_json::{Value, json};

use crate::{
    aside::aside,
    domain::{
        Code, Problem, RunId,
        tree::{Tree, hash::Hash},
        wire::{json::is_long, patch::Op},
    },
    store::{
        Error, Store,
        rows::RunRow,
        snapshots::{self, Change, NewestState, Packed},
        tx::Tx,
    },
};

/// What a request says of the new state, as it is compared and applied.
#[derive(Default)]
pub struct NewState {
    whole: Option<Tree>,
    patch: Option<Vec<Op>>,
}

/// The new state, made before the transaction from the one that was current then. It counts if that is still current.
pub struct Ahead {
    base: Hash,
    made: Result<(NewestState, Packed), Problem>,
}

/// Whether a state or a patch has so many bytes.
pub fn is_large(state: Option<&Value>, patch: Option<&[Op]>, bytes: usize) -> bool {
    let ops = patch.unwrap_or_default();
    // Many small operations are as much work as a large one.
    let patch = ops.len() * 64 > bytes
        || ops
            .iter()
            .filter_map(Op::value)
            .any(|it| is_long(it, bytes));
    patch || state.is_some_and(|it| is_long(it, bytes))
}

/// Refuses a state that was made from another snapshot than the current one.
pub fn on_current(run: &RunRow, base: Option<i64>) -> Result<(), Problem> {
    let Some(base) = base.filter(|base| *base != run.snapshot) else {
        return Ok(());
    };
    let detail = format!(
        "the state was made from snapshot {base}, but {} is current; fold it in again or send a patch",
        run.snapshot
    );
    Err(Problem::new(Code::StateConflict, detail)
        .with("base", base)
        .with("snapshot", run.snapshot))
}

impl NewState {
    pub fn of(state: Option<&Value>, patch: Option<&[Op]>) -> Self {
        Self {
            whole: state.cloned().map(Tree::from),
            patch: patch.map(<[Op]>::to_vec),
        }
    }

    /// By what a repeat of the request is known.
    pub fn fingerprint(&self) -> Value {
        match (&self.whole, &self.patch) {
            (Some(state), _) => json!({"state": state.hash()}),
            (None, Some(patch)) => json!({"patch": patch}),
            (None, None) => Value::Null,
        }
    }

    fn change(&self) -> Option<Change> {
        match (&self.whole, &self.patch) {
            (Some(state), _) => Some(Change::Whole(state.clone())),
            (None, Some(patch)) => Some(Change::Patch(patch.clone())),
            (None, None) => None,
        }
    }

    /// Has the run's state at hand for the transaction.
    pub async fn warm(&self, store: &Store, run: &RunId) -> Result<(), Error> {
        match self.whole.is_some() || self.patch.is_some() {
            true => store.warm_up(run).await,
            false => Ok(()),
        }
    }

    /// Makes the next state before the transaction, aside from the threads that answer.
    pub async fn made(&self, store: &Store, run: &RunId) -> Result<Option<Ahead>, Error> {
        let change = aside(|| self.change()).await;
        let (Some(change), Some(mut held)) = (change, store.at_hand(run).await?) else {
            return Ok(None);
        };
        let base = held.hash;
        let made = aside(|| held.advance(change, store.state_max)).await;
        let made = match made {
            Ok(packed) => Ok((held, packed)),
            Err(Error::Refused(problem)) => Err(problem),
            Err(error) => return Err(error),
        };
        Ok(Some(Ahead { base, made }))
    }

    /// Appends the new snapshot, if there is one; answers by how many bytes the state grew.
    pub async fn append(
        &self,
        tx: &mut Tx,
        run: &mut RunRow,
        seq: Option<i64>,
        ahead: Option<&Ahead>,
    ) -> Result<Option<i64>, Error> {
        let Some(change) = self.change() else {
            return Ok(None);
        };
        let before = tx.state(run).await?;
        let size = before.tree.size() as i64;
        tx.hold(&run.id, before);
        let (held, packed) = advanced(tx, run, change, ahead).await?;
        let row = held.row(&run.id, seq, tx.now, packed);
        tx.later(&run.id, &snapshots::INSERT, row);
        (run.snapshot, run.hash) = (held.snapshot, held.hash);
        let grown = held.tree.size() as i64 - size;
        tx.hold(&run.id, held);
        Ok(Some(grown))
    }
}

/// The next state and its row's body, as they were made before, or made now.
async fn advanced(
    tx: &mut Tx,
    run: &RunRow,
    change: Change,
    ahead: Option<&Ahead>,
) -> Result<(NewestState, Packed), Error> {
    if let Some(ahead) = ahead.filter(|it| it.base == run.hash) {
        return Ok(ahead.made.clone()?);
    }
    let mut held = tx.state(run).await?;
    match held.advance(change, tx.state_max) {
        Ok(packed) => Ok((held, packed)),
        Err(error) => {
            // A refused patch leaves the state as it was: it stays at hand.
            tx.hold(&run.id, held);
            Err(error)
        }
    }
}
