//! An agent saves a checkpoint between steps: a new state, and perhaps the name that it gives to it.

use async_trait::async_trait;
use serde_json::json;
use std::sync::OnceLock;

use super::{
    HEAVY, holds,
    new_state::{self, Ahead, NewState},
    once::Repeatable,
    renew, tagged,
};
use crate::{
    aside::{LONG, aside},
    domain::{
        EventKind, Hash, Problem, RunId,
        wire::protocol::{SaveAnswer, SaveState},
    },
    store::{Error, Store, rows::tag::TagRow, tx::Tx, writer::Command},
};

pub struct Save {
    run: RunId,
    body: SaveState,
    ready: OnceLock<Ready>,
    ahead: Option<Ahead>,
}

/// What a checkpoint brings, as it is compared and written.
struct Ready {
    state: NewState,
    /// A repeat with the same tag must say the same.
    fingerprint: Hash,
}

impl Save {
    pub fn new(run: RunId, body: SaveState) -> Self {
        Self {
            run,
            body,
            ready: OnceLock::new(),
            ahead: None,
        }
    }

    fn ready(&self) -> &Ready {
        self.ready.get_or_init(|| {
            let (state, patch) = (self.body.state.as_ref(), self.body.patch.as_deref());
            let state = NewState::of(state, patch);
            let tag = self.body.tag.as_ref();
            let said = tag.map(|tag| tagged::fingerprint(&state, tag));
            Ready {
                state,
                fingerprint: said.unwrap_or_default(),
            }
        })
    }

    fn brings(&self, bytes: usize) -> bool {
        let (state, patch) = (self.body.state.as_ref(), self.body.patch.as_deref());
        new_state::is_large(state, patch, bytes)
    }

    /// The first answer, if the same request was answered before.
    async fn known(&self, tx: &mut Tx) -> Result<Option<SaveAnswer>, Error> {
        let Some(tag) = &self.body.tag else {
            return Ok(None);
        };
        let Some(known) = TagRow::named(tx.conn(), &self.run, tag).await? else {
            return Ok(None);
        };
        match known.body == self.ready().fingerprint {
            true => Ok(Some(SaveAnswer {
                snapshot: known.snapshot,
                hash: known.hash,
                signal: None,
            })),
            false => Err(tagged::taken(&known).into()),
        }
    }
}

impl Repeatable for Save {}

#[async_trait]
impl Command for Save {
    type Answer = SaveAnswer;

    async fn prepare(&mut self, store: &Store) -> Result<(), Error> {
        let ready = match self.brings(LONG) {
            true => aside(|| self.ready()).await,
            false => return self.ready().state.warm(store, &self.run).await,
        };
        self.ahead = ready.state.made(store, &self.run).await?;
        Ok(())
    }

    fn heavy(&self) -> bool {
        self.brings(HEAVY)
    }

    async fn apply(&self, tx: &mut Tx) -> Result<SaveAnswer, Error> {
        let mut run = tx.run(&self.run).await?;
        if let Some(first) = self.known(tx).await? {
            return Ok(SaveAnswer {
                signal: run.signal,
                ..first
            });
        }
        if !holds(&run, self.body.epoch) {
            return Err(Problem::lease_lost().into());
        }
        new_state::on_current(&run, self.body.base)?;
        let ready = self.ready();
        ready
            .state
            .append(tx, &mut run, None, self.ahead.as_ref())
            .await?;
        let mut data = json!({"snapshot": run.snapshot, "hash": run.hash});
        let tag = self.body.tag.as_ref();
        tagged::name(tx, &run, (tag, None, ready.fingerprint), &mut data);
        tx.emit(&run.id, None, EventKind::SnapshotSaved, data);
        tracing::info!(run = %run.id, snapshot = run.snapshot, "checkpoint saved between steps");
        renew(tx, &mut run);
        tx.save(&run);
        Ok(SaveAnswer {
            snapshot: run.snapshot,
            hash: run.hash,
            signal: run.signal,
        })
    }
}
