//! A run is created, or found.

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::{
    domain::{
        self, Code, Epoch, EventKind, Hash, Problem, RunDetail, RunId, RunStatus, Usage,
        protocol::CreateRun, strip::Strip,
    },
    store::{
        Error,
        rows::{Announcements, RunRow},
        snapshots::{self, Held},
        tx::Tx,
        writer::Command,
    },
};

pub struct Create {
    pub id: RunId,
    pub body: CreateRun,
}

/// The run, and whether it is new.
#[derive(serde::Serialize, serde::Deserialize)]
pub struct Created {
    pub run: RunDetail,
    pub new: bool,
}

#[async_trait]
impl Command for Create {
    type Answer = Created;

    async fn apply(&self, tx: &mut Tx) -> Result<Created, Error> {
        let body = &self.body;
        let state = body.state.clone().unwrap_or_else(|| json!({}));
        let origin = Hash::of(&json!([body.agent, body.input, state]));
        if let Some(run) = tx.find_run(&self.id).await? {
            if run.origin != origin {
                let detail = format!("run {} exists with another agent, input or state", self.id);
                return Err(Problem::new(Code::RunConflict, detail).into());
            }
            let run = run.detail(tx.conn()).await?;
            return Ok(Created { run, new: false });
        }
        if domain::json::canonical(&state).len() > tx.state_max {
            return Err(Problem::too_large("state", tx.state_max).into());
        }
        let run = self.insert(tx, origin, state).await?;
        Ok(Created {
            run: run.detail(tx.conn()).await?,
            new: true,
        })
    }
}

impl Create {
    async fn insert(&self, tx: &mut Tx, origin: Hash, state: Value) -> Result<RunRow, Error> {
        let body = &self.body;
        let (now, ord) = (tx.now, tx.next_event());
        let mut run = RunRow {
            id: self.id.clone(),
            ord,
            agent: body.agent.clone(),
            title: body.title.clone(),
            status: RunStatus::Pending,
            version: 1,
            code_version: body.version.clone(),
            model: body.model.clone(),
            labels: body.labels.clone(),
            links: body.links.clone(),
            parent: body.parent.clone(),
            forked_at: None,
            origin,
            on_crash: body.on_crash,
            max_recoveries: body.max_recoveries,
            recoveries: 0,
            runnable_at: None,
            worker: None,
            epoch: Epoch(0),
            ttl_ms: 0,
            expires_at: None,
            heartbeat_at: None,
            signal: None,
            snapshot: 0,
            hash: Hash::default(),
            steps: 0,
            committed: 0,
            announced: body.plan.len() as i64,
            at: None,
            error_kind: None,
            effects_unknown: false,
            acknowledged: false,
            looking: None,
            busy_us: 0,
            strip: Strip::default(),
            usage: Usage::default(),
            created_at: now,
            updated_at: now,
            started_at: None,
            finished_at: None,
            damaged: false,
        };
        run.insert(tx.conn(), &body.input, body.state_schema.as_ref())
            .await?;
        let (held, row) = Held::initial(&run.id, now, state)?;
        tx.later(&run.id, &snapshots::INSERT, row);
        run.hash = held.hash;
        tx.hold(&run.id, held);
        Announcements::insert(tx.conn(), &run.id, &body.plan).await?;
        tracing::info!(run = %run.id, agent = run.agent, "run created");
        let data = json!({
            "agent": run.agent, "title": run.title, "status": run.status, "input": Hash::of(&body.input),
            "snapshot": 0, "hash": run.hash,
        });
        tx.emit(&run.id, None, EventKind::RunCreated, data);
        tx.mention(ord, run.id.as_str());
        tx.mention(ord, run.id.short());
        tx.mention(ord, run.title.as_deref().unwrap_or_default());
        tx.save(&run);
        Ok(run)
    }
}
