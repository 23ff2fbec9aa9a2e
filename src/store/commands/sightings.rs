//! What servers saw of workers: who asks, who was given a run, whose write was refused. Kept apart from the runs:
//! nobody's commit waits for it.

use async_trait::async_trait;

use crate::{
    domain::{
        Code, Epoch, RunId, Time,
        nouns::worker::{ASKS_MS, REMEMBERED_DAYS},
    },
    store::{Error, engine::params, tx::Tx, writer::Command},
};

/// What was seen, and how long before it is written down.
#[derive(Debug, Clone)]
pub struct Sighting {
    pub what: Seen,
    pub ms_ago: i64,
}

#[derive(Debug, Clone)]
pub enum Seen {
    /// It asked for work and got none.
    Asked { who: Who, agents: Vec<String> },
    /// It was given a run of this agent.
    Given { who: Who, agent: String },
    /// What the holder of this epoch wrote was refused.
    Refused {
        run: RunId,
        epoch: Epoch,
        what: String,
        code: Code,
        detail: String,
    },
}

/// A worker as it introduces itself.
#[derive(Debug, Clone)]
pub struct Who {
    pub worker: String,
    pub version: Option<String>,
    pub model: Option<String>,
}

/// Writes all sightings in one command.
pub struct RecordSightings {
    pub sightings: Vec<Sighting>,
    /// Also look who holds leases now.
    pub census: bool,
}

#[async_trait]
impl Command for RecordSightings {
    type Answer = ();

    async fn apply(&self, tx: &mut Tx) -> Result<(), Error> {
        for sighting in &self.sightings {
            let at = tx.now.plus_ms(-sighting.ms_ago);
            match &sighting.what {
                Seen::Asked { who, agents } => asked(tx, who, agents, at).await?,
                Seen::Given { who, agent } => given(tx, who, agent, at).await?,
                Seen::Refused { .. } => refused(tx, &sighting.what, at).await?,
            }
        }
        if self.census {
            census(tx).await?;
        }
        Ok(())
    }
}

async fn asked(tx: &mut Tx, who: &Who, agents: &[String], at: Time) -> Result<(), Error> {
    let sql = "INSERT INTO workers (name, version, model, heard_at, asked_at, idle_since) \
         VALUES ($1, $2, $3, $4, $4, $4) ON CONFLICT (name) DO UPDATE SET \
         version = COALESCE(excluded.version, workers.version), \
         model = COALESCE(excluded.model, workers.model), \
         heard_at = CASE WHEN excluded.heard_at > workers.heard_at THEN excluded.heard_at \
             ELSE workers.heard_at END, \
         asked_at = excluded.asked_at, \
         idle_since = CASE WHEN workers.idle_since IS NULL OR workers.asked_at IS NULL \
             OR workers.asked_at < $5 THEN excluded.asked_at ELSE workers.idle_since END";
    let unbroken = at.plus_ms(-ASKS_MS);
    let params = params![
        who.worker.as_str(),
        who.version.as_deref(),
        who.model.as_deref(),
        at,
        unbroken,
    ];
    tx.conn().execute(sql, params).await?;
    let any = [String::new()];
    let agents = if agents.is_empty() { &any } else { agents };
    let sql = "INSERT INTO worker_agents (agent, worker, asked_at) VALUES ($1, $2, $3) \
         ON CONFLICT (agent, worker) DO UPDATE SET asked_at = excluded.asked_at";
    for agent in agents {
        let params = params![agent.as_str(), who.worker.as_str(), at];
        tx.conn().execute(sql, params).await?;
    }
    Ok(())
}

async fn given(tx: &mut Tx, who: &Who, agent: &str, at: Time) -> Result<(), Error> {
    let sql = "INSERT INTO workers (name, version, model, heard_at) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (name) DO UPDATE SET \
         version = COALESCE(excluded.version, workers.version), \
         model = COALESCE(excluded.model, workers.model), \
         heard_at = CASE WHEN excluded.heard_at > workers.heard_at THEN excluded.heard_at \
             ELSE workers.heard_at END, \
         idle_since = NULL";
    let params = params![
        who.worker.as_str(),
        who.version.as_deref(),
        who.model.as_deref(),
        at,
    ];
    tx.conn().execute(sql, params).await?;
    let sql = "INSERT INTO worker_agents (agent, worker, held_at) VALUES ($1, $2, $3) \
         ON CONFLICT (agent, worker) DO UPDATE SET held_at = excluded.held_at";
    let params = params![agent, who.worker.as_str(), at];
    tx.conn().execute(sql, params).await?;
    Ok(())
}

async fn refused(tx: &mut Tx, seen: &Seen, at: Time) -> Result<(), Error> {
    let Seen::Refused {
        run,
        epoch,
        what,
        code,
        detail,
    } = seen
    else {
        return Ok(());
    };
    // An epoch that was never given belongs to nobody.
    let sql = "INSERT INTO workers (name, version, model, heard_at, refused_at, refused_what, refused_run, \
         refused_code, refused_detail) SELECT worker, version, model, $3, $3, $4, $1, $5, $6 FROM leases \
         WHERE run = $1 AND epoch = $2 ON CONFLICT (name) DO UPDATE SET \
         heard_at = CASE WHEN excluded.heard_at > workers.heard_at THEN excluded.heard_at \
             ELSE workers.heard_at END, \
         refused_at = excluded.refused_at, refused_what = excluded.refused_what, \
         refused_run = excluded.refused_run, refused_code = excluded.refused_code, \
         refused_detail = excluded.refused_detail";
    let params = params![
        run.as_str(),
        epoch.0,
        at,
        what.as_str(),
        code.as_str(),
        detail.as_str(),
    ];
    tx.conn().execute(sql, params).await?;
    Ok(())
}

/// Workers are heard of through their leases, whichever server they talk to; silent ones are forgotten.
async fn census(tx: &mut Tx) -> Result<(), Error> {
    tx.flush_runs().await?;
    let sql = "INSERT INTO workers (name, version, model, heard_at) \
         SELECT worker, MAX(code_version), MAX(model), MAX(heartbeat_at) FROM runs \
         WHERE expires_at IS NOT NULL AND worker IS NOT NULL AND heartbeat_at IS NOT NULL \
         GROUP BY worker ON CONFLICT (name) DO UPDATE SET heard_at = excluded.heard_at \
         WHERE excluded.heard_at > workers.heard_at";
    tx.conn().execute(sql, params![]).await?;
    let silent = tx.now.plus_ms(-REMEMBERED_DAYS * 86_400_000);
    let sql = "DELETE FROM workers WHERE heard_at < $1";
    tx.conn().execute(sql, params![silent]).await?;
    Ok(())
}
