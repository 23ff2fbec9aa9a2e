//! A worker takes the oldest run that it may.

use async_trait::async_trait;

use super::lease::grant;
use crate::{
    domain::{
        RunId, Time,
        protocol::{ClaimRun, LeaseAnswer, LeaseRun},
    },
    store::{
        Error,
        engine::{Connection, params},
        tx::Tx,
        writer::Command,
    },
};

pub struct Claim {
    pub body: ClaimRun,
}

#[async_trait]
impl Command for Claim {
    type Answer = Option<LeaseAnswer>;

    async fn apply(&self, tx: &mut Tx) -> Result<Option<LeaseAnswer>, Error> {
        tx.flush_runs().await?;
        let now = tx.now;
        let Some(id) = oldest(tx.conn(), self.body.agents.as_deref(), now).await? else {
            return Ok(None);
        };
        let run = tx.run(&id).await?;
        let body = LeaseRun {
            worker: self.body.worker.clone(),
            ttl_ms: self.body.ttl_ms,
            version: self.body.version.clone(),
            model: self.body.model.clone(),
            state_schema: None,
            takeover: false,
        };
        grant(tx, run, &body).await.map(Some)
    }
}

/// The oldest runnable run, of any agent or of these.
pub async fn oldest(
    conn: &mut dyn Connection,
    agents: Option<&[String]>,
    now: Time,
) -> Result<Option<RunId>, Error> {
    let any = "SELECT ord, id FROM runs WHERE status IN ('pending', 'ready') \
         AND (runnable_at IS NULL OR runnable_at <= $1) ORDER BY ord LIMIT 1";
    let of_agent = "SELECT ord, id FROM runs WHERE agent = $2 AND status IN ('pending', 'ready') \
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
        None | Some([]) => consider(conn.fetch_one(any, params![now]).await?)?,
        Some(agents) => {
            for agent in agents {
                consider(
                    conn.fetch_one(of_agent, params![now, agent.as_str()])
                        .await?,
                )?;
            }
        }
    }
    Ok(found.map(|(_, id)| id))
}
