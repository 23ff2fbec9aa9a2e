//! A worker takes the oldest run that it may.

use async_trait::async_trait;

use super::{
    granted::{Granted, PackedAhead},
    lease::grant,
    once::Repeatable,
};
use crate::{
    domain::{
        RunId, Time,
        wire::protocol::{ClaimRun, LeaseRun},
    },
    store::{
        Error, Store,
        engine::{Connection, params},
        rows::{RunParts, RunRow},
        tx::Tx,
        writer::Command,
    },
};

pub struct Claim {
    body: ClaimRun,
    /// The run that was the oldest runnable one before the transaction, which most likely it still is.
    likely: Option<RunId>,
    packed: PackedAhead,
}

#[async_trait]
impl Repeatable for Claim {
    async fn pack_ahead(&mut self, store: &Store) -> Result<(), Error> {
        self.packed = match &self.likely {
            Some(run) => PackedAhead::of(store, run, |content| content).await?,
            None => PackedAhead::default(),
        };
        Ok(())
    }

    /// A claim that found no run is not kept: the next one may find one.
    fn pack(&self, answer: &Option<Granted>) -> Result<Option<Vec<u8>>, Error> {
        let packed = |it: &Granted| it.packed(&self.packed);
        answer.as_ref().map(packed).transpose()
    }
}

#[async_trait]
impl Command for Claim {
    type Answer = Option<Granted>;

    async fn prepare(&mut self, store: &Store) -> Result<(), Error> {
        self.likely = store.next_runnable(self.body.agents.as_deref()).await?;
        let Some(run) = &self.likely else {
            return Ok(());
        };
        store.open_content(run).await?;
        store.warm_up(run).await
    }

    fn heavy(&self) -> bool {
        self.packed.is_heavy()
    }

    async fn apply(&self, tx: &mut Tx) -> Result<Option<Granted>, Error> {
        tx.flush_runs().await?;
        let (now, agents) = (tx.now, self.body.agents.as_deref());
        let mut after = 0;
        while let Some((ord, id)) = oldest(tx.conn(), agents, now, after).await? {
            match sound(tx, &id).await {
                Ok((run, parts)) => {
                    let granted = grant(tx, (run, parts), &self.lease(), None).await?;
                    return Ok(Some(granted));
                }
                // A damaged run is passed by: the worker gets the next one.
                Err(error) if error.is_damage() => {
                    tracing::warn!(run = %id, %error, "a damaged run is not handed out");
                    after = ord;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }
}

impl Claim {
    pub fn new(body: ClaimRun) -> Self {
        Self {
            body,
            likely: None,
            packed: PackedAhead::default(),
        }
    }

    fn lease(&self) -> LeaseRun {
        LeaseRun {
            worker: self.body.worker.clone(),
            ttl_ms: self.body.ttl_ms,
            version: self.body.version.clone(),
            model: self.body.model.clone(),
            state_schema: None,
            takeover: false,
            reopen: false,
        }
    }
}

/// The run, and all that a worker is handed with it.
async fn sound(tx: &mut Tx, id: &RunId) -> Result<(RunRow, RunParts), Error> {
    let run = tx.run(id).await?;
    let held = tx.state(&run).await?;
    tx.hold(id, held);
    let parts = tx.parts(&run).await?;
    Ok((run, parts))
}

/// The oldest runnable run behind this place in the list, and its own place; of any agent or of these.
pub async fn oldest(
    conn: &mut dyn Connection,
    agents: Option<&[String]>,
    now: Time,
    after: i64,
) -> Result<Option<(i64, RunId)>, Error> {
    let any = "SELECT ord, id FROM runs WHERE status IN ('pending', 'ready') AND ord > $2 \
         AND (runnable_at IS NULL OR runnable_at <= $1) ORDER BY ord LIMIT 1";
    let of_agent = "SELECT ord, id FROM runs WHERE agent = $3 AND status IN ('pending', 'ready') AND ord > $2 \
         AND (runnable_at IS NULL OR runnable_at <= $1) ORDER BY ord LIMIT 1";
    let mut found: Option<(i64, RunId)> = None;
    let mut consider = |row: Option<crate::store::engine::Row>| -> Result<(), Error> {
        if let Some(mut row) = row {
            let candidate = (row.int()?, row.word()?);
            found = match found.take() {
                Some(older) if older.0 < candidate.0 => Some(older),
                _ => Some(candidate),
            };
        }
        Ok(())
    };
    match agents {
        None | Some([]) => consider(conn.fetch_one(any, params![now, after]).await?)?,
        Some(agents) => {
            for agent in agents {
                consider(
                    conn.fetch_one(of_agent, params![now, after, agent.as_str()])
                        .await?,
                )?;
            }
        }
    }
    Ok(found)
}
