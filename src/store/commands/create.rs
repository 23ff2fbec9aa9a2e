//! A run is created, or found.

use async_trait::async_trait;
use serde_json::json;
use std::sync::{Arc, OnceLock};

use super::{
    HEAVY,
    once::Repeatable,
    packed::{Frames, PackedContent},
};
use crate::{
    aside::{LONG, aside},
    domain::{
        Code, EventKind, Hash, Problem, RunId, RunStatus,
        tree::{StateMax, Tree},
        wire::{json::is_long, protocol::CreateRun},
    },
    store::{
        Error, Store,
        content::Content,
        rows::{Announcements, Detail, NewRun, RunContent, RunRow},
        snapshots::{self, NewestState, Packed},
        tx::Tx,
        writer::Command,
    },
};

pub struct Create {
    id: RunId,
    body: CreateRun,
    ready: OnceLock<Ready>,
    /// The initial state and its row's body, if they were made before the transaction.
    first: Option<(NewestState, Packed)>,
    packed: Option<PackedContent>,
}

/// What a new run brings, as it is compared and written.
struct Ready {
    origin: Hash,
    input: Content,
    state_schema: Option<Content>,
    state: Tree,
    /// What a run that was just made holds, without reading it back.
    content: RunContent,
}

impl Ready {
    fn of(body: &CreateRun) -> Self {
        let state = Tree::from(body.state.clone().unwrap_or_else(|| json!({})));
        let input = Content::of(&body.input);
        Self {
            origin: Hash::of_list([Hash::of(&json!(body.agent)), input.hash, state.hash()]),
            input,
            state_schema: body.state_schema.as_ref().map(Content::of),
            state,
            content: RunContent {
                input: Arc::new(body.input.clone()),
                state_schema: body.state_schema.clone().map(Arc::new),
                result: None,
                error: None,
            },
        }
    }
}

/// The run, and whether it is new.
#[derive(serde::Serialize, serde::Deserialize)]
pub struct Created {
    pub run: Detail,
    pub new: bool,
}

/// All of it but the run.
#[derive(serde::Serialize)]
struct Beside {
    new: bool,
}

#[async_trait]
impl Repeatable for Create {
    async fn pack_ahead(&mut self, _: &Store) -> Result<(), Error> {
        self.packed = match self.brings(LONG) {
            true => Some(PackedContent::of(self.ready().content.clone()).await?),
            false => None,
        };
        Ok(())
    }

    fn pack(&self, answer: &Created) -> Result<Option<Vec<u8>>, Error> {
        let mut frames = Frames::begin(&Beside { new: answer.new })?;
        frames.add_run(&answer.run, self.packed.as_ref())?;
        frames.add(b"}");
        frames.finish().map(Some)
    }
}

#[async_trait]
impl Command for Create {
    type Answer = Created;

    async fn prepare(&mut self, store: &Store) -> Result<(), Error> {
        if self.brings(LONG) {
            aside(|| self.ready()).await;
            // A state that is too large is refused in `apply`, like every other reason to refuse.
            self.first = aside(|| self.first(store.state_max).ok()).await;
        }
        match self.body.id {
            // It may be there, with a large result by now.
            Some(_) => store.open_content(&self.id).await,
            None => Ok(()),
        }
    }

    fn heavy(&self) -> bool {
        self.brings(HEAVY)
    }

    async fn apply(&self, tx: &mut Tx) -> Result<Created, Error> {
        let origin = self.ready().origin;
        if let Some(run) = tx.find_run(&self.id).await? {
            if run.origin != origin {
                let detail = format!("run {} exists with another agent, input or state", self.id);
                return Err(Problem::new(Code::RunConflict, detail).into());
            }
            let run = tx.detail(&run).await?;
            return Ok(Created { run, new: false });
        }
        let first = match &self.first {
            Some(first) => first.clone(),
            None => self.first(tx.state_max)?,
        };
        let run = self.insert(tx, origin, first).await?;
        Ok(Created {
            run: run
                .detail_of(tx.conn(), self.ready().content.clone())
                .await?,
            new: true,
        })
    }
}

impl Create {
    pub fn new(id: RunId, body: CreateRun) -> Self {
        Self {
            id,
            body,
            ready: OnceLock::new(),
            first: None,
            packed: None,
        }
    }

    fn ready(&self) -> &Ready {
        self.ready.get_or_init(|| Ready::of(&self.body))
    }

    fn brings(&self, bytes: usize) -> bool {
        let (state, schema) = (self.body.state.as_ref(), self.body.state_schema.as_ref());
        let given = [Some(&self.body.input), state, schema];
        given.into_iter().flatten().any(|it| is_long(it, bytes))
    }

    fn first(&self, max: StateMax) -> Result<(NewestState, Packed), Error> {
        let state = &self.ready().state;
        snapshots::fits(state, max)?;
        NewestState::initial(state.clone())
    }

    async fn insert(
        &self,
        tx: &mut Tx,
        origin: Hash,
        (held, packed): (NewestState, Packed),
    ) -> Result<RunRow, Error> {
        let body = &self.body;
        let (now, ord) = (tx.now, tx.next_event());
        let mut run = RunRow {
            agent: body.agent.clone(),
            title: body.title.clone(),
            code_version: body.version.clone(),
            model: body.model.clone(),
            labels: body.labels.clone(),
            links: body.links.clone(),
            origin,
            on_crash: body.on_crash,
            max_recoveries: body.max_recoveries,
            announced: body.plan.len() as i64,
            ..RunRow::blank(NewRun {
                id: self.id.clone(),
                ord,
                status: RunStatus::Pending,
                version: 1,
                parent: body.parent.clone(),
                forked_at: None,
                snapshot: 0,
                hash: Hash::default(),
                steps: 0,
                created_at: now,
                updated_at: now,
            })
        };
        let ready = self.ready();
        run.insert(tx.conn(), &ready.input, ready.state_schema.as_ref())
            .await?;
        let row = held.row(&run.id, None, now, packed);
        tx.later(&run.id, &snapshots::INSERT, row);
        run.hash = held.hash;
        tx.hold(&run.id, held);
        Announcements::insert(tx.conn(), &run.id, &body.plan).await?;
        tracing::info!(run = %run.id, agent = run.agent, "run created");
        let data = json!({
            "agent": run.agent, "title": run.title, "status": run.status, "input": ready.input.hash,
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
